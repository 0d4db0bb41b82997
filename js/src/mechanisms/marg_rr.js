/** MargRR: a bit per cell of one table. */

import { bits, checkBits, drawBits, pack, symbol } from "../layout.js";
import { bitPerCell } from "./cells.js";
import { shapeOf, tablesOf } from "./profiles.js";

export function read(data, domain, absent) {
  const tables = tablesOf(shapeOf(data, domain, absent, "one", "zero"), 2 ** 22);
  const { coins, truth } = bitPerCell(data);
  const size = Math.ceil(tables.most / 8);
  const items = [symbol(tables.count), bits(tables.most)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const table = fresh.below(tables.count);
      const own = tables.cell(table, answer.codes);
      const coin = (i) => fresh.coin(coins[Number(i === own)]);
      return pack(items, [table, drawBits(tables.cells(table), coin, size)]);
    },
    check: ([table, packed]) => checkBits(packed, tables.cells(table)),
  };
}
