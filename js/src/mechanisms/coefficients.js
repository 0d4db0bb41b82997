/** Coefficients: one orthogonal function of 1 to k attributes, its order drawn by thresholds. */

import { pack, symbol } from "../layout.js";
import { coinOf, fits, ONE, threshold } from "../parameters.js";
import { Selection, shapeOf, sum } from "./profiles.js";
import { kept, signOf } from "./symbols.js";

const MOST_CONTRASTS = 64;

export function read(data, domain, absent) {
  const { levels, order, widths } = shapeOf(data, domain, absent, "keep", "basis", "orders");
  const walsh = data.basis === "walsh";
  fits(walsh || (data.basis === "contrasts" && Math.max(...levels) <= MOST_CONTRASTS),
    "coefficients has no such basis, or too many levels for it.");
  const functions = walsh ? widths.map((width) => 2 ** width - 1) : levels.map((r) => r - 1);
  const selection = new Selection(functions);
  const counts = selection.counts(order);
  const all = sum(counts);
  fits(all <= 2 ** 21, "coefficients has at most 2,097,152 coefficients.");
  fits(Array.isArray(data.orders) && data.orders.length === order - 1, "orders has k - 1 entries.");
  const orders = data.orders.map(threshold);
  fits(orders.every((t) => t > 0n && t < ONE), "Every order must be possible, none certain.");
  const truth = kept(data.keep, 2);
  const keep = threshold(data.keep);
  const coins = orders.map(coinOf);
  const items = [symbol(2 * all)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      let taken = 0;
      while (taken < order - 1 && !fresh.coin(coins[taken])) taken++;
      const j = fresh.below(counts[taken]);
      const chosen = selection.choice(taken + 1, j);
      const [value, scale] = valueOf(chosen, answer.codes, levels, walsh);
      // h = 2^63 +- floor((2 keep - 2^64) |v| / 2): rounded towards saying less.
      const size = value < 0n ? -value : value;
      const away = ((2n * keep - ONE) * size) / (2n * scale);
      const plus = ONE / 2n + (value > 0n ? away : -away);
      const sign = fresh.coin(coinOf(plus)) ? 0 : 1;
      return pack(items, [2 * (sum(counts.slice(0, taken)) + j) + sign]);
    },
  };
}

/** Return the value of a choice for a profile, as a fraction. */
function valueOf(chosen, codes, levels, walsh) {
  let [value, scale] = [1n, 1n];
  for (const [i, f] of chosen) {
    if (walsh) {
      value *= signOf(codes[i], f + 1) ? -1n : 1n;
    } else {
      const values = contrast(levels[i], f + 1);
      value *= values[codes[i]];
      scale *= values.reduce((most, v) => (v < 0n ? -v : v) > most ? (v < 0n ? -v : v) : most, 0n);
    }
  }
  return [value, scale];
}

const contrasts = new Map();

/** Return c(x) for x = 0..r-1: the contrast of a degree over r levels, in integers. */
function contrast(r, m) {
  const name = `${r} ${m}`;
  if (!contrasts.has(name)) {
    const one = (x) => Array.from({ length: m + 1 }, (_, j) => j).reduce((total, j) =>
      total + (j % 2 ? -1n : 1n) * choose(r - 1 - j, m - j) * choose(m + j, m) * choose(x, j), 0n);
    contrasts.set(name, Array.from({ length: r }, (_, x) => one(x)));
  }
  return contrasts.get(name);
}

/** Return the binomial coefficient, 0 where there is no such choice. */
function choose(n, k) {
  if (k < 0 || k > n) return 0n;
  let found = 1n;
  for (let i = 1; i <= k; i++) found = (found * BigInt(n - k + i)) / BigInt(i);
  return found;
}
