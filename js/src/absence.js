/** Questions that are always sent: the absent answer of epochs in which nothing was recorded. */

import { ABSENT } from "./absent.js";
import * as ledger from "./ledger.js";
import { STALE_DAYS } from "./outbox.js";
import { make } from "./recorder.js";
import { Refused } from "./refused.js";

/**
 * Note today's epochs of questions that are always sent, and report the absent answer for those that
 * are over. Returns the new entries and the reasons to count, by question.
 */
export function look(state, waiting, terms) {
  const { survey, day } = terms;
  const [made, counted] = [[], []];
  for (const question of survey.known.filter((q) => q.absent)) {
    const place = ledger.placeOf(question);
    const epoch = Math.floor(day / question.epoch);
    const missed = (state.seen[place] ?? []).filter((seen) => seen < epoch);
    for (const over of missed) {
      const reason = closeEpoch(state, waiting + made.length, question, over, terms, made);
      if (reason !== null) counted.push([question.id, reason]);
    }
    const open = survey.asked.includes(question) && day <= ledger.lastDay(question);
    const answered = question.repeat === "once" && missed.length > 0;
    if (open && !answered && !ledger.isUsed(state, question, epoch)) {
      const seen = (state.seen[place] ??= []);
      if (!seen.includes(epoch)) seen.push(epoch);
    }
  }
  return { made, counted };
}

function closeEpoch(state, waiting, question, epoch, terms, made) {
  ledger.forgetSeenOnly(state, question, epoch);
  if (ledger.lastDayOf(question, epoch) + STALE_DAYS < terms.day) return "stale";
  try {
    made.push(make(state, waiting, question, question.answers(ABSENT), epoch, terms));
    return null;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return error.reason === "answered" ? null : error.reason;
  }
}
