/** Hadamard response: the sign of one coefficient. */

import { item, pack } from "../layout.js";
import { answersOf, fits, members, whole } from "../parameters.js";
import { kept, signOf } from "./symbols.js";

export function read(data, domain, absent) {
  members(data, "answers", "keep");
  const answers = whole(data.answers, 2, 65537);
  const size = 2 ** (32 - Math.clz32(answers - 1)); // the next power of two
  const count = answersOf(domain, absent);
  fits(count === answers, "hadamard has as many answers as the domain.");
  const truth = kept(data.keep, 2);
  const items = [item(size, 4), item(2, 1)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const a = fresh.below(size);
      const sign = signOf(a, answer.code);
      return pack(items, [a, fresh.coin(truth.keep) ? sign : 1 - sign]);
    },
  };
}
