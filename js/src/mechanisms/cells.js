/** Bits for the cells of a table, and k-RR over tables of different sizes. */

import { larger, microsOf } from "../epsilon.js";
import { pack, symbol } from "../layout.js";
import { coinOf, fits, ONE, threshold, truthRatio, unaryRatio } from "../parameters.js";
import { must } from "../refused.js";
import { keepOrMove } from "./symbols.js";

/** Return the coins and epsilons of a bit per cell: `one` for the own cell, `zero` elsewhere. */
export function bitPerCell(data) {
  const [one, zero] = [threshold(data.one), threshold(data.zero)];
  fits(one > zero, "A report would say nothing.");
  fits(zero > 0n && one < ONE, "A report would sometimes be certain.");
  const once = microsOf(unaryRatio([one, ONE], zero, 1, 1));
  const coins = [coinOf(zero), coinOf(one)];
  return { coins, truth: { once, forever: null, memoised: false } };
}

/**
 * Return the mechanism of k-RR over one of `tables`, whose threshold follows from its size.
 *
 * keep(m) = floor(2^64 truth / (truth + (m - 1)(2^64 - truth))), so that no ratio exceeds truth's.
 */
export function tableResponse(data, tables) {
  const truth = threshold(data.truth);
  truthRatio(truth, [1n, 1n]);
  const keepFor = (m) => (ONE * truth) / (truth + BigInt(m - 1) * (ONE - truth));
  const ratios = tables.sizes().map((m) => truthRatio(keepFor(m), [BigInt(m - 1), 1n]));
  const items = [symbol(tables.count * tables.most)];
  return {
    once: microsOf(ratios.reduce(larger)),
    forever: null,
    memoised: false,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const table = fresh.below(tables.count);
      const m = tables.cells(table);
      const cell = tables.cell(table, answer.codes);
      const y = keepOrMove(cell, m, coinOf(keepFor(m)), fresh);
      return pack(items, [table * tables.most + y]);
    },
    check([reported]) {
      const m = tables.cells(Math.floor(reported / tables.most));
      must(reported % tables.most < m, "record", "The cell must be one of the table's.");
    },
  };
}
