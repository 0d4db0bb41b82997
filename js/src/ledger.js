/**
 * What a device has disclosed, and what it may still disclose (protocol, section 10).
 *
 * All functions read or change the device's state (`state.js`); whoever calls them does so within one
 * transaction of the storage.
 */

import { hex } from "./bytes.js";
import { isAsked, orderWord, paidMark, tagOf } from "./encode.js";
import { Refused } from "./refused.js";
import { totalOf } from "./state.js";

export const DEFAULT_CEILING = 16_000_000;
const DAY = 86_400_000;

/** Return the number of a UTC day. */
export const dayOf = (milliseconds) => Math.floor(milliseconds / DAY);

/** Return the last day on which a question is asked. */
export const lastDay = (question) => dayOf(Date.parse(`${question.expires}T00:00:00Z`));

/** Return the last day of an epoch. */
export const lastDayOf = (question, epoch) => (epoch + 1) * question.epoch - 1;

/** Return the name under which a question's version stands in the state. */
export const placeOf = ({ id, version }) => `${id} ${version}`;

/** Return the cost of a field: micros, and whether each new value pays or each report. */
export function costOf(question, { mechanism }) {
  if (question.repeat === "permanent") return { micros: mechanism.once, perValue: true };
  if (question.repeat === "once" || mechanism.forever === null) {
    return { micros: mechanism.once, perValue: false };
  }
  return { micros: mechanism.forever, perValue: true };
}

/** Return the cost of one unchanged value, which a question sets aside. */
export const firstCost = (question) =>
  question.fields.reduce((sum, field) => sum + costOf(question, field).micros, 0);

/** Tell whether a question has its report: in this epoch, or ever if it is asked once. */
export function isUsed(state, question, epoch) {
  const epochs = state.used[placeOf(question)] ?? [];
  return question.repeat === "once" ? epochs.length > 0 : epochs.includes(epoch);
}

/** Bind a version to its digest at first use; another digest is refused for ever. */
export function pin(state, question) {
  const digest = hex(question.digest);
  if ((state.pins[`${placeOf(question)} ${question.level}`] ??= digest) !== digest) {
    throw new Refused("changed", "The question changed without a new version.");
  }
}

/**
 * Let a device answer what the app bundles of a question, or one fetched version, never both.
 *
 * @param {{own: Set<string>, base: string}} terms the digests that the app bundles, and their hash
 */
export function checkVersions(state, question, { own, base }) {
  const no = () => new Refused("fetched", "Another version of this question was answered.");
  if (own.has(hex(question.digest))) {
    if (state.taken[question.id] === base) throw no();
    return;
  }
  const others = Object.keys(state.used).filter((place) => place.split(" ")[0] === question.id);
  if (others.some((place) => place !== placeOf(question))) throw no();
}

/** Return the charge of a report: micros, answers that pay, and the tags to remember. */
export function chargeOf(state, question, answers) {
  const charge = { micros: 0, answers: 0, tags: [] };
  question.fields.forEach((field, i) => {
    const { micros, perValue } = costOf(question, field);
    if (perValue) {
      const tag = hex(tagOf(state.secret, question, field, answers[i]));
      if (Object.hasOwn(state.tags, tag)) return;
      charge.tags.push(tag);
    }
    charge.micros += micros;
    charge.answers += 1;
  });
  return charge;
}

/** Return questions in the order that the device's secret draws. */
export function inOrder(secret, questions) {
  const placed = questions.map((question) => [orderWord(secret, question.id), question]);
  placed.sort(([a, q], [b, r]) => (a < b ? -1 : a > b ? 1 : q.id < r.id ? -1 : q.id > r.id ? 1 :
    q.version - r.version));
  return placed.map(([, question]) => question);
}

/**
 * Tell whether the ceiling allows a report of these micros to a question.
 *
 * Every question, in the device's own order, sets aside what one unchanged value of it costs, unless
 * that was paid; only what is left then pays for more. A report that costs nothing is always made.
 */
export function isAffordable(state, survey, question, micros, ceiling, day) {
  if (micros === 0) return true;
  const free = ceiling - totalOf(state);
  if (micros > free) return false;
  let [room, own] = [free, 0];
  for (const { question: other, mark, cost } of placesOf(state.secret, survey)) {
    if (!reserves(state, survey, other, day) || wasPaid(state, other, mark)) continue;
    const same = placeOf(other) === placeOf(question);
    if (cost > room) {
      if (same) return false;
      continue;
    }
    room -= cost;
    if (same) own = cost;
  }
  return micros <= room + own;
}

let known = { survey: null, secret: "", places: [] };

/** Return the questions that the device is asked, in its order; computed once for a survey. */
function placesOf(secret, survey) {
  if (known.survey !== survey || known.secret !== hex(secret)) {
    const asked = survey.known.filter((q) => isAsked(secret, q));
    const places = inOrder(secret, asked).map((question) =>
      ({ question, mark: hex(paidMark(secret, question)), cost: firstCost(question) }));
    known = { survey, secret: hex(secret), places };
  }
  return known.places;
}

function reserves(state, survey, question, day) {
  if (survey.asked.includes(question) && day <= lastDay(question)) return true;
  return question.absent && (state.seen[placeOf(question)] ?? []).length > 0;
}

function wasPaid(state, question, mark) {
  return Object.hasOwn(state.tags, mark) ||
    (question.repeat === "once" && isUsed(state, question, 0));
}

/** Enter a report: its epoch is used, its epsilon disclosed, its values paid for. */
export function enter(state, question, epoch, charge, { own, base }) {
  if (!own.has(hex(question.digest))) state.taken[question.id] = base;
  (state.used[placeOf(question)] ??= []).push(epoch);
  forgetSeen(state, question, epoch);
  for (const tag of charge.tags) state.tags[tag] = 1;
  if (question.repeat !== "once") state.tags[hex(paidMark(state.secret, question))] = 1;
  const line = (state.ledger[question.id] ??= { reports: 0, answers: 0, micros: 0 });
  line.reports += 1;
  line.answers += charge.answers;
  line.micros += charge.micros;
  if (charge.micros === 0) return;
  const days = `${epoch * question.epoch} ${lastDayOf(question, epoch)}`;
  state.charges[days] = (state.charges[days] ?? 0) + charge.micros;
}

/** Remove a seen epoch that has its report, or all of them if the question is asked once. */
function forgetSeen(state, question, epoch) {
  if (question.repeat === "once") delete state.seen[placeOf(question)];
  else forgetSeenOnly(state, question, epoch);
}

/** Remove one seen epoch. */
export function forgetSeenOnly(state, question, epoch) {
  const place = placeOf(question);
  const left = (state.seen[place] ?? []).filter((seen) => seen !== epoch);
  if (left.length) state.seen[place] = left;
  else delete state.seen[place];
}
