/** Projective geometry response: a point, likelier one of the answer's hyperplane. */

import { microsOf } from "../epsilon.js";
import { placeOf } from "../hashing.js";
import { item, pack } from "../layout.js";
import { answersOf, coinOf, fits, members, threshold, truthRatio, whole } from "../parameters.js";

const FIRST = 5n << 40n;

/**
 * Return the geometry over a prime: its points, and how one is drawn near another.
 *
 * Products stay below 2^53: entries are below 65,537 and there are at most 22 of them.
 */
export function geometry(data) {
  const q = whole(data.prime, 2, 65537);
  for (let d = 2; d * d <= q; d++) fits(q % d, "The prime of a geometry must be one.");
  const t = whole(data.dimension, 2, 22);
  const below = (digits) => (q ** digits - 1) / (q - 1);
  fits(q ** (t - 1) <= 2 ** 22 && below(t) <= 2 ** 22, "A geometry has at most 2^22 points.");
  const inside = threshold(data.keep);
  const [inner, outer] = [below(t - 1), q ** (t - 1)];
  const ratio = truthRatio(inside, [BigInt(outer), BigInt(inner)]);
  const coin = coinOf(inside);

  const digitsOf = (n, count) =>
    Array.from({ length: count }, (_, i) => Math.floor(n / q ** (count - 1 - i)) % q);
  const vectorOf = (n, size) => {
    let digits = 0;
    while (below(digits + 1) <= n) digits++;
    const zeros = new Array(size - digits - 1).fill(0);
    return [...zeros, 1, ...digitsOf(n - below(digits), digits)];
  };
  const inverse = (x) => {
    let [a, b, u, v] = [x % q, q, 1, 0];
    while (a) [a, b, u, v] = [b % a, a, v - Math.floor(b / a) * u, u];
    return ((v % q) + q) % q;
  };
  const numberOf = (vector) => {
    const first = vector.findIndex((entry) => entry);
    const scale = inverse(vector[first]);
    const rest = vector.slice(first + 1).reduce((sum, x) => sum * q + ((x * scale) % q), 0);
    return below(vector.length - first - 1) + rest;
  };
  const near = (own, fresh) => {
    const v = vectorOf(own, t);
    const last = v.findLastIndex((entry) => entry);
    const z = fresh.coin(coin) ? 0 : 1;
    const u = z ? digitsOf(fresh.below(outer), t - 1) : vectorOf(fresh.below(inner), t - 1);
    u.splice(last, 0, 0);
    // u_i solves <u, v> = z.
    const product = u.reduce((sum, entry, j) => sum + entry * v[j], 0) % q;
    u[last] = (inverse(v[last]) * ((z - product + q) % q)) % q;
    return numberOf(u);
  };
  const truth = { once: microsOf(ratio), forever: null, memoised: false };
  return { points: below(t), near, truth };
}

export function read(data, domain, absent) {
  members(data, "form", "answers", "prime", "dimension", "cohorts", "keep");
  const closed = data.form === "closed";
  fits(closed || data.form === "hashed", "pgr has no such form.");
  const { points, near, truth } = geometry(data);
  const answers = whole(data.answers, closed ? 2 : 0, closed ? Math.min(points, 65537) : 0);
  const cohorts = whole(data.cohorts, 1, closed ? 1 : 65536);
  fits((answersOf(domain, absent) ?? 0) === answers, "pgr has the answers of its domain.");
  const items = [...(closed ? [] : [item(cohorts, 2)]), item(points, 4)];
  return {
    ...truth,
    items,
    encode(answer, cohortDraws, _permanent, fresh) {
      if (closed) return pack(items, [near(answer.code, fresh)]);
      const cohort = cohortDraws.below(cohorts);
      const own = placeOf(answer.words, FIRST + BigInt(cohort), points);
      return pack(items, [cohort, near(own, fresh)]);
    },
  };
}
