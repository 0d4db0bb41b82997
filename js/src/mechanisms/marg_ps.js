/** MargPS: k-RR over the cells of one table. */

import { tableResponse } from "./cells.js";
import { shapeOf, tablesOf } from "./profiles.js";

export function read(data, domain, absent) {
  return tableResponse(data, tablesOf(shapeOf(data, domain, absent, "truth"), 2 ** 22));
}
