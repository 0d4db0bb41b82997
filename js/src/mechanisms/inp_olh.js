/** InpOLH: local hashing of the profile's key. */

import { symbol } from "../layout.js";
import { fits } from "../parameters.js";
import { localHash } from "./olh.js";
import { shapeOf } from "./profiles.js";

export function read(data, domain, absent) {
  const { levels } = shapeOf(data, domain, absent, "symbols", "seeds", "keep");
  fits(levels.reduce((a, b) => a * b, 1) <= 2 ** 20, "inp_olh has at most 2^20 profiles.");
  return localHash(data, (seeds, g) => [symbol(seeds), symbol(g)]);
}
