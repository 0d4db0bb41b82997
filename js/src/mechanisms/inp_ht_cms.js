/** InpHTCMS: the Hadamard count-mean sketch of the profile's key. */

import { pack, symbol } from "../layout.js";
import { fits } from "../parameters.js";
import { sketch } from "./hcms.js";
import { shapeOf } from "./profiles.js";

export function read(data, domain, absent) {
  const { levels } = shapeOf(data, domain, absent, "rows", "width", "keep");
  fits(levels.reduce((a, b) => a * b, 1) <= 2 ** 20, "inp_ht_cms has at most 2^20 profiles.");
  const { rows, width, truth, draw } = sketch(data, 2 ** 21);
  const items = [symbol(2 * rows * width)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const [row, a, sign] = draw(answer.words, fresh);
      return pack(items, [2 * (row * width + a) + sign]);
    },
  };
}
