/** k-ary randomised response of a symbol, which many mechanisms end with. */

import { microsOf } from "../epsilon.js";
import { coinOf, threshold, truthRatio } from "../parameters.js";

/** Return y: the symbol itself if the coin falls, else one of the `count - 1` others. */
export function keepOrMove(x, count, keep, draws) {
  if (draws.coin(keep)) return x;
  const y = draws.below(count - 1);
  return y >= x ? y + 1 : y;
}

/** Return the coin and the epsilons of keeping one of `count` symbols; no permanent response. */
export function kept(text, count) {
  const keep = threshold(text);
  const once = microsOf(truthRatio(keep, [BigInt(count - 1), 1n]));
  return { keep: coinOf(keep), once, forever: null, memoised: false };
}

/** Return the number of ones in a & b, modulo 2. */
export function signOf(a, b) {
  let x = a & b;
  for (let shift = 16; shift; shift >>= 1) x ^= x >>> shift;
  return x & 1;
}
