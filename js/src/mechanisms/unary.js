/** The two stages of bits that rappor and oue share, and their epsilon. */

import { coinOf, fits, ONE, threshold, unaryRatio, whole } from "../parameters.js";
import { microsOf } from "../epsilon.js";
import { drawBits } from "../layout.js";

export const STAGES = ["permanent_one", "permanent_zero", "report_one", "report_zero"];

/** Return the four thresholds, the epsilons and the encoder of two stages of bits. */
export function twoStages(data, exponents) {
  const [u, v, q, p] = STAGES.map((name) => threshold(data[name]));
  fits(u > v && q > p, "A report would say nothing about the answer.");
  // Both in units of 2^-128: q* = u q + (1 - u) p, p* = v q + (1 - v) p.
  const chain = (first) => first * q + (ONE - first) * p;
  const [one, zero, all] = [chain(u), chain(v), ONE * ONE];
  fits(zero > 0n && one < all, "A report would sometimes be certain.");
  const memoised = v > 0n && u < ONE;
  const [first, second] = [[coinOf(v), coinOf(u)], [coinOf(p), coinOf(q)]];
  return {
    memoised,
    once: microsOf(unaryRatio([one, all], zero, ...exponents)),
    forever: memoised ? microsOf(unaryRatio([u, ONE], v, ...exponents)) : null,
    /** Return the reported bits of an answer whose true bits are in a set. */
    report(width, set, permanent, fresh) {
      // Every permanent coin is drawn before the first fresh one.
      const kept = Uint8Array.from({ length: width }, (_, i) =>
        permanent.coin(first[Number(set.has(i))]));
      return drawBits(width, (i) => fresh.coin(second[kept[i]]));
    },
  };
}

/** Return the numbers of bits in which two sets of `members` of `width` can differ. */
export function setExponents(width, members) {
  const most = Math.min(members, width);
  return [most, Math.min(members, width - most)];
}

/** Return `members`, checked against the domain: 0 where an answer is one value. */
export function membersOf(data, domain) {
  if (!Object.hasOwn(data, "members")) return 0;
  const count = whole(data.members, 1, 16);
  fits(domain.kind === "set" && domain.most === count, "A bit per member needs such a set.");
  return count;
}
