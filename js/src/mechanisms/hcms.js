/** Hadamard count-mean sketch: one sign of one row of a sketch. */

import { codeKey, fingerprint, placeOf } from "../hashing.js";
import { item, pack } from "../layout.js";
import { answersOf, fits, isPower, members, whole } from "../parameters.js";
import { kept, signOf } from "./symbols.js";

const FIRST = 2n << 40n;

/** Return the draws of a sketch: row, coefficient and sign for the words of an answer. */
export function sketch(data, mostCells) {
  const rows = whole(data.rows, 1, 65536);
  const width = whole(data.width, 2, 2 ** 20);
  fits(isPower(width) && rows * width <= mostCells, "A sketch's width is a power of two.");
  const truth = kept(data.keep, 2);
  const draw = (words, fresh) => {
    const row = fresh.below(rows);
    const a = fresh.below(width);
    const sign = signOf(a, placeOf(words, FIRST + BigInt(row), width));
    return [row, a, fresh.coin(truth.keep) ? sign : 1 - sign];
  };
  return { rows, width, truth, draw };
}

export function read(data, domain, absent) {
  members(data, "answers", "rows", "width", "keep");
  const answers = whole(data.answers, 0, 65537);
  fits(answers === (answersOf(domain, absent) ?? 0), "hcms has the answers of its domain.");
  const { rows, width, truth, draw } = sketch(data, 2 ** 24);
  const items = [item(rows, 2), item(width, 4), item(2, 1)];
  return {
    ...truth,
    items,
    encode(answer, _cohort, _permanent, fresh) {
      const words = answers ? fingerprint(codeKey(answer.code)) : answer.words;
      return pack(items, draw(words, fresh));
    },
  };
}
