/** The whole string and some of its n-grams, each by one-time RAPPOR. */

import { join, utf8 } from "../bytes.js";
import { microsOf, powerOf, times } from "../epsilon.js";
import { bloomBits, fingerprint } from "../hashing.js";
import { bits, drawBits, item, pack } from "../layout.js";
import { coinOf, fits, members, ONE, threshold, unaryRatio, whole } from "../parameters.js";
import { Selection } from "./profiles.js";

const STAGES = ["whole_one", "whole_zero", "gram_one", "gram_zero"];

export function read(data, domain) {
  members(data, "length", "n", "step", "grams", "bits", "hashes", "cohorts", ...STAGES);
  const length = whole(data.length, 1, 256);
  const n = whole(data.n, 1, 256);
  const step = whole(data.step, 1, n);
  const places = n >= length ? 1 : 1 + Math.ceil((length - n) / step);
  const grams = whole(data.grams, Math.min(2, places), places);
  const k = whole(data.bits, 2, 4096);
  const h = whole(data.hashes, 1, 16);
  const cohorts = whole(data.cohorts, 1, 65536);
  fits(domain.length === length && !domain.letters.includes("\0"),
    "ngrams needs strings over an alphabet, of its length.");
  const selection = new Selection(new Array(places).fill(1));
  const choices = selection.ways[0][grams];
  fits(choices <= 65536, "ngrams has at most 65,536 choices of places.");
  const [wholeOne, wholeZero, gramOne, gramZero] = STAGES.map((name) => threshold(data[name]));
  const ratioOf = (one, zero) => {
    fits(one > zero && zero > 0n && one < ONE, "ngrams must say something, never for certain.");
    return unaryRatio([one, ONE], zero, h, h);
  };
  const ratio = times(ratioOf(wholeOne, wholeZero), powerOf(ratioOf(gramOne, gramZero), grams));
  const coins = [[wholeZero, wholeOne], [gramZero, gramOne]].map((pair) => pair.map(coinOf));
  const items = [item(choices, 2), item(cohorts, 2), ...new Array(grams + 1).fill(bits(k))];

  const partsOf = (answer, choice) => {
    if (answer.text === undefined) return new Array(grams + 1).fill(answer.key);
    const letters = Array.from(answer.text);
    const gram = ([i]) => Array.from({ length: n }, (_, j) => letters[i * step + j] ?? "\0").join("");
    const chosen = selection.choice(grams, choice).map(gram);
    return [answer.key, ...chosen.map((text) => join(Uint8Array.of(0x73), utf8(text)))];
  };
  return {
    once: microsOf(ratio),
    forever: null,
    memoised: false,
    items,
    encode(answer, cohortDraws, _permanent, fresh) {
      const choice = cohortDraws.below(choices);
      const cohort = cohortDraws.below(cohorts);
      const parts = partsOf(answer, choice).map((key, part) => {
        const own = new Set(bloomBits(fingerprint(key), cohort, h, k));
        return drawBits(k, (i) => fresh.coin(coins[Math.min(part, 1)][Number(own.has(i))]));
      });
      return pack(items, [choice, cohort, ...parts]);
    },
  };
}
