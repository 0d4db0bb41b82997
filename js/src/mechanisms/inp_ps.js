/** InpPS: k-RR over the cells of the whole profile. */

import { pack, symbol } from "../layout.js";
import { fits } from "../parameters.js";
import { cellOf, shapeOf, sum } from "./profiles.js";
import { keepOrMove, kept } from "./symbols.js";

export function read(data, domain, absent) {
  const { widths } = shapeOf(data, domain, absent, "keep");
  fits(sum(widths) <= 20, "inp_ps has at most 1,048,576 cells.");
  const cells = 2 ** sum(widths);
  const truth = kept(data.keep, cells);
  const items = [symbol(cells)];
  const sizes = widths.map((width) => 2 ** width);
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      return pack(items, [keepOrMove(cellOf(answer.codes, sizes), cells, truth.keep, fresh)]);
    },
  };
}
