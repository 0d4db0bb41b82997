/** MargHT: the sign of one Hadamard coefficient of one table. */

import { pack, symbol } from "../layout.js";
import { must } from "../refused.js";
import { shapeOf, tablesOf } from "./profiles.js";
import { kept, signOf } from "./symbols.js";

export function read(data, domain, absent) {
  const tables = tablesOf(shapeOf(data, domain, absent, "keep"), 2 ** 22);
  const truth = kept(data.keep, 2);
  const items = [symbol(2 * tables.count * tables.most)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const table = fresh.below(tables.count);
      const a = 1 + fresh.below(tables.cells(table) - 1);
      const sign = signOf(a, tables.cell(table, answer.codes));
      const sent = fresh.coin(truth.keep) ? sign : 1 - sign;
      return pack(items, [2 * (table * tables.most + a) + sent]);
    },
    check([reported]) {
      const about = Math.floor(reported / 2);
      const [table, a] = [Math.floor(about / tables.most), about % tables.most];
      must(a > 0 && a < tables.cells(table), "record", "The coefficient must be the table's.");
    },
  };
}
