/** InpRR: a bit per cell of the whole profile. */

import { bits, drawBits, pack } from "../layout.js";
import { fits } from "../parameters.js";
import { bitPerCell } from "./cells.js";
import { cellOf, shapeOf, sum } from "./profiles.js";

export function read(data, domain, absent) {
  const { widths } = shapeOf(data, domain, absent, "one", "zero");
  fits(sum(widths) <= 16, "inp_rr has at most 65,536 cells.");
  const cells = 2 ** sum(widths);
  const { coins, truth } = bitPerCell(data);
  const items = [bits(cells, Math.max(1, cells / 8))];
  const sizes = widths.map((width) => 2 ** width);
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const own = cellOf(answer.codes, sizes);
      return pack(items, [drawBits(cells, (i) => fresh.coin(coins[Number(i === own)]))]);
    },
  };
}
