/** O-RR: k-RR of a symbol that the device's cohort makes of the answer. */

import { placeOf, rank } from "../hashing.js";
import { item, pack } from "../layout.js";
import { answersOf, fits, members, whole } from "../parameters.js";
import { keepOrMove, kept } from "./symbols.js";

const HASHED = 3n << 40n;
const PERMUTED = 4n << 40n;

export function read(data, domain, absent) {
  members(data, "form", "answers", "symbols", "cohorts", "keep");
  const hashed = data.form === "hashed";
  fits(hashed || data.form === "permuted", "orr has no such form.");
  const answers = whole(data.answers, hashed ? 0 : 2, hashed ? 0 : 65537);
  const k = whole(data.symbols, 2, hashed ? 65536 : Math.min(65536, answers));
  const cohorts = whole(data.cohorts, 1, 65536);
  fits((answersOf(domain, absent) ?? 0) === answers, "orr has the answers of its domain.");
  const truth = kept(data.keep, k);
  const items = [item(cohorts, 2), item(k, 2)];
  return {
    ...truth,
    items,
    encode(answer, cohortDraws, _permanent, fresh) {
      const cohort = cohortDraws.below(cohorts);
      const x = hashed
        ? placeOf(answer.words, HASHED + BigInt(cohort), k)
        : rank(answer.code, answers, PERMUTED + BigInt(cohort)) % k;
      return pack(items, [cohort, keepOrMove(x, k, truth.keep, fresh)]);
    },
  };
}
