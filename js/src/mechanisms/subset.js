/** Subset selection: d of the k answers. */

import { microsOf } from "../epsilon.js";
import { bits, pack } from "../layout.js";
import { answersOf, coinOf, fits, members, threshold, truthRatio, whole } from "../parameters.js";
import { must } from "../refused.js";

export function read(data, domain, absent) {
  members(data, "answers", "size", "keep");
  const k = whole(data.answers, 2, 65537);
  const d = whole(data.size, 1, k - 1);
  fits(answersOf(domain, absent) === k, "subset has as many categories as the domain's answers.");
  const include = threshold(data.keep);
  const once = microsOf(truthRatio(include, [BigInt(k - d), BigInt(d)]));
  const items = [bits(k)];
  const coin = coinOf(include);
  return {
    memoised: false,
    once,
    forever: null,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const x = answer.code;
      const included = fresh.coin(coin);
      // Floyd's algorithm: every set of r of the n others is equally likely.
      const chosen = new Set();
      const n = k - 1;
      for (let j = n - (d - included); j < n; j++) {
        const t = fresh.below(j + 1);
        chosen.add(chosen.has(t) ? j : t);
      }
      const packed = new Uint8Array(Math.ceil(k / 8));
      const set = (place) => (packed[place >> 3] |= 1 << (place & 7));
      for (const c of chosen) set(c < x ? c : c + 1);
      if (included) set(x);
      return pack(items, [packed]);
    },
    check([packed]) {
      let ones = 0;
      for (let byte of packed) for (; byte; byte &= byte - 1) ones++;
      must(ones === d, "record", "A record of subset has exactly its number of bits set.");
    },
  };
}
