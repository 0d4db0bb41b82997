/**
 * Reports that wait to be sent: when each may leave, and which go together.
 *
 * An entry is {id, report, due, last, failures, stale}: the report's six members, the time in
 * milliseconds from which it may leave, the last day of its epoch, how often it was refused for now,
 * and the first day on which it looked too old. `due` is null while the report is held until its
 * epoch is over, so that neither sending nor its time says anything.
 */

import { Fresh } from "./draws.js";
import { coinOf, ONE } from "./parameters.js";

/** A report whose epoch ended longer ago is refused by collectors. */
export const STALE_DAYS = 30;
const MOST_BATCH = 100;
const MOST_BYTES = 40_000;
const draws = new Fresh();

/**
 * Return a whole second from `now` on, both in milliseconds: a geometric number of seconds later.
 *
 * Steps of s = max(1, mean / 60) seconds: a coin ends the wait before each with probability p, and the
 * last step is cut at a uniformly random second, so that s (1 - p)/p + (s - 1)/2 = mean for
 * p = 2 s / (2 mean + s + 1). That takes about 60 coins, whatever the mean. Two reports that were
 * recorded together share no fraction of a second.
 */
export function dueAfter(now, mean) {
  const seconds = Math.round(mean);
  const step = Math.max(1, Math.floor(seconds / 60));
  const coin = coinOf(ONE * 2n * BigInt(step) / BigInt(2 * seconds + step + 1));
  let steps = 0;
  while (!draws.coin(coin)) steps++;
  return 1000 * (Math.floor(now / 1000) + steps * step + draws.below(step));
}

/** Release what was held until its epoch was over; each draws its time only then. */
export function release(entries, day, now, mean) {
  const ready = entries.filter((entry) => entry.due === null && entry.last < day);
  for (const entry of ready) entry.due = dueAfter(now, mean);
  return ready;
}

/**
 * Return the entries that are too old, and those that look so for the first time.
 *
 * A clock that is wrong for a day must not destroy reports, so that a second day must agree.
 */
export function outdated(entries, day) {
  const old = entries.filter((entry) => entry.last + STALE_DAYS < day);
  return {
    over: old.filter((entry) => entry.stale !== null && entry.stale < day),
    marked: old.filter((entry) => entry.stale === null).map((entry) => {
      entry.stale = day;
      return entry;
    }),
  };
}

/** Return entries in groups of one question each, in random order, none too large. */
export function batches(entries) {
  const groups = new Map();
  for (const entry of shuffled(entries)) {
    const group = groups.get(entry.report.digest) ?? [[]];
    groups.set(entry.report.digest, group);
    const size = (list) => list.reduce((sum, { report }) => sum + 200 + report.record.length, 0);
    if (group.at(-1).length === MOST_BATCH || size([...group.at(-1), entry]) > MOST_BYTES) {
      group.push([]);
    }
    group.at(-1).push(entry);
  }
  return shuffled([...groups.values()].flat().filter((group) => group.length));
}

/** Return a list in random order, every order equally likely. */
export function shuffled(list) {
  const mixed = [...list];
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = draws.below(i + 1);
    [mixed[i], mixed[j]] = [mixed[j], mixed[i]];
  }
  return mixed;
}

/** Return a uniformly random waiting time below min(cap, base 2^failures), in milliseconds. */
export const backOff = (failures, base = 5_000, cap = 3_600_000) =>
  Math.floor(Math.min(cap, base * 2 ** Math.min(failures, 64)) * (draws.below(2 ** 32) / 2 ** 32));
