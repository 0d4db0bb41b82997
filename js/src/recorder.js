/**
 * From answers to a report in the outbox: all checks and marks of one transaction.
 *
 * `make` is given to `Storage.change`; it changes the state or throws, and does nothing else. A refused
 * answer spends nothing.
 */

import { Fresh } from "./draws.js";
import { encode, isAsked } from "./encode.js";
import * as ledger from "./ledger.js";
import { dueAfter } from "./outbox.js";
import { Refused } from "./refused.js";
import { reportOf } from "./report.js";

const MOST_WAITING = 1000;
const fresh = new Fresh();
const newId = () => globalThis.crypto.getRandomValues(new Uint8Array(16));

/**
 * Enter one report into the state, and return its entry for the outbox.
 *
 * @param {object} terms {survey, ceiling, budget, day, now, delay, told, own, base}: `told` are the
 *   device's segments, `budget` tells whether a window allows a report, `own` and `base` are the app's
 *   digests and their hash
 */
export function make(state, waiting, question, answers, epoch, terms) {
  const { survey, ceiling, day, now, delay } = terms;
  const no = (reason, message) => new Refused(reason, message);
  if (question.level && state.level && state.level !== question.level) {
    throw no("level", "The person has chosen another level meanwhile.");
  }
  ledger.pin(state, question);
  ledger.checkVersions(state, question, terms);
  if (ledger.isUsed(state, question, epoch) || isMissed(state, question, epoch)) {
    throw no("answered", "This question was answered already.");
  }
  if (waiting >= MOST_WAITING) throw no("outbox_full", "Too many reports wait to be sent.");
  if (!isAsked(state.secret, question)) throw no("not_asked", "This device is not asked.");
  const charge = ledger.chargeOf(state, question, answers);
  if (!ledger.isAffordable(state, survey, question, charge.micros, ceiling, day)) {
    throw no("ceiling", "The report would exceed the ceiling of epsilon.");
  }
  const last = ledger.lastDayOf(question, epoch);
  if (terms.budget && !terms.budget(state, [epoch * question.epoch, last], charge.micros)) {
    throw no("window", "The report would exceed the budget of epsilon per window of days.");
  }
  const record = encode(question, answers, state.secret, fresh);
  question.checkRecord(record);
  const report = reportOf(question, epoch, newId(), record, terms.told);
  ledger.enter(state, question, epoch, charge, terms);
  const due = question.absent ? null : dueAfter(now, delay);
  return { id: report.id, report, due, last, failures: 0, stale: null };
}

/** Tell whether an answer comes after the one epoch in which it was asked for. */
function isMissed(state, question, epoch) {
  if (question.repeat !== "once" || !question.absent) return false;
  return (state.seen[ledger.placeOf(question)] ?? []).some((seen) => seen < epoch);
}
