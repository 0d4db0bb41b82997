/** Optimised local hashing: k-RR of a symbol that a random hash function makes of the answer. */

import { placeOf } from "../hashing.js";
import { item, pack } from "../layout.js";
import { members, whole } from "../parameters.js";
import { keepOrMove, kept } from "./symbols.js";

const FIRST = 1n << 40n;

/** Return the encoder of local hashing with given items of a record, for answers and profiles. */
export function localHash(data, itemsOf) {
  const g = whole(data.symbols, 2, 65536);
  const seeds = whole(data.seeds, 2, 2 ** 32);
  const truth = kept(data.keep, g);
  const items = itemsOf(seeds, g);
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const seed = fresh.below(seeds);
      const x = placeOf(answer.words, FIRST + BigInt(seed), g);
      return pack(items, [seed, keepOrMove(x, g, truth.keep, fresh)]);
    },
  };
}

export function read(data) {
  members(data, "symbols", "seeds", "keep");
  return localHash(data, (seeds, g) => [item(seeds, 4), item(g, 2)]);
}
