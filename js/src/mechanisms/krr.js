/** k-ary randomised response, with an optional permanent stage. */

import { microsOf } from "../epsilon.js";
import { item, pack } from "../layout.js";
import { answersOf, coinOf, fits, members, ONE, threshold, whole } from "../parameters.js";
import { keepOrMove } from "./symbols.js";

export function read(data, domain, absent) {
  members(data, "answers", "permanent_keep", "report_keep");
  const k = whole(data.answers, 2, 65537);
  const [a, b] = [threshold(data.permanent_keep), threshold(data.report_keep)];
  const others = BigInt(k - 1);
  fits([a, b].every((t) => t * BigInt(k) > ONE), "krr would say nothing about the answer.");
  fits(a < ONE || b < ONE, "krr would report the true answer.");
  fits(answersOf(domain, absent) === k, "krr has as many categories as the domain has answers.");
  // keep = a b + (1 - a)(1 - b)/(k - 1) and move = (1 - keep)/(k - 1), times (k - 1) 2^128.
  const keep = a * b * others + (ONE - a) * (ONE - b);
  const memoised = a < ONE;
  const items = [item(k, 4)];
  const [first, second] = [coinOf(a), coinOf(b)];
  return {
    memoised,
    once: microsOf([keep * others, ONE * ONE * others - keep]),
    forever: memoised ? microsOf([a * others, ONE - a]) : null,
    items,
    encode(answer, _cohort, permanent, fresh) {
      const y = keepOrMove(answer.code, k, first, permanent);
      return pack(items, [keepOrMove(y, k, second, fresh)]);
    },
  };
}
