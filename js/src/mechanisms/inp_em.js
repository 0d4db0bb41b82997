/** InpEM: every bit of the profile through a coin of its own. */

import { microsOf, powerOf } from "../epsilon.js";
import { bits, drawBits, pack } from "../layout.js";
import { coinOf, fits, threshold, truthRatio } from "../parameters.js";
import { shapeOf, sum } from "./profiles.js";

export function read(data, domain, absent) {
  const { widths } = shapeOf(data, domain, absent, "keep");
  const all = sum(widths);
  fits(all <= 64, "inp_em has at most 64 bits.");
  const keep = threshold(data.keep);
  const once = microsOf(powerOf(truthRatio(keep, [1n, 1n]), all));
  const items = [bits(all)];
  const coin = coinOf(keep);
  return {
    once,
    forever: null,
    memoised: false,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const own = widths.flatMap((width, i) =>
        Array.from({ length: width }, (_, place) => (answer.codes[i] >> place) & 1));
      return pack(items, [drawBits(all, (i) => (fresh.coin(coin) ? own[i] : 1 - own[i]))]);
    },
  };
}
