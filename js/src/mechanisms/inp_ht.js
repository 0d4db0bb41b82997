/** InpHT: the sign of one Hadamard coefficient of at most k attributes. */

import { pack, symbol } from "../layout.js";
import { fits } from "../parameters.js";
import { Selection, shapeOf, sum } from "./profiles.js";
import { kept, signOf } from "./symbols.js";

export function read(data, domain, absent) {
  const { order, widths } = shapeOf(data, domain, absent, "keep");
  const selection = new Selection(widths.map((width) => 2 ** width - 1));
  const counts = selection.counts(order);
  const all = sum(counts);
  fits(all <= 2 ** 21, "inp_ht has at most 2,097,152 coefficients.");
  const truth = kept(data.keep, 2);
  const items = [symbol(2 * all)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const a = fresh.below(all);
      let [rest, taken] = [a, 0];
      while (rest >= counts[taken]) rest -= counts[taken++];
      const masks = selection.choice(taken + 1, rest);
      const sign = masks.reduce((s, [i, f]) => s ^ signOf(answer.codes[i], f + 1), 0);
      return pack(items, [2 * a + (fresh.coin(truth.keep) ? sign : 1 - sign)]);
    },
  };
}
