/** Reading a mechanism's parameters: integers, thresholds, and the ratios that epsilon is made of. */

import { must } from "./refused.js";
import { larger, powerOf, times } from "./epsilon.js";

/** 2^64: the threshold of a coin that always falls. */
export const ONE = 1n << 64n;

/** Refuse parameters unless a condition holds. */
export const fits = (condition, message = "The parameters of a mechanism are out of range.") =>
  must(condition, "parameters", message);

/** Return an integer in a range. */
export function whole(value, least, most) {
  fits(Number.isInteger(value) && value >= least && value <= most);
  return value;
}

/** Return the BigInt of a threshold, written as a decimal string. */
export function threshold(text) {
  fits(typeof text === "string" && /^(0|[1-9]\d{0,19})$/.test(text) && BigInt(text) <= ONE,
    "A threshold must be a decimal string of at most 2^64.");
  return BigInt(text);
}

/** Return a threshold as draws compare it. */
export const coinOf = (t) => ({ high: Number(t >> 32n), low: Number(t & 0xffffffffn) });

/** Refuse parameters that have not exactly these members. */
export function members(data, ...names) {
  fits(Object.keys(data).sort().join() === names.sort().join(),
    "A mechanism has other parameters.");
}

/** Tell whether an integer is a power of two. */
export const isPower = (n) => (n & (n - 1)) === 0;

/** Return the number of a domain's answers, an absent one included; null where they are open. */
export const answersOf = (domain, absent) => domain.size && domain.size + Number(absent);

/**
 * Return the ratio keep/(1 - keep) times odds, odds = [o, d], refusing what says nothing or all.
 *
 * With `odds` = others/own, a report that keeps the truth with `keep` is [keep odds]/[1 - keep]
 * times as likely under one answer as under another.
 */
export function truthRatio(keep, odds) {
  const ratio = times([keep, ONE - keep], odds);
  fits(keep < ONE && ratio[0] > ratio[1], "A mechanism must say something, and not the truth.");
  return ratio;
}

/** Return the largest ratio of reports whose bits differ in `most` and `least` places. */
export function unaryRatio([one, whole], zero, most, least) {
  const up = [one, zero];
  const down = [whole - zero, whole - one];
  return larger(
    times(powerOf(up, most), powerOf(down, least)),
    times(powerOf(up, least), powerOf(down, most)),
  );
}
