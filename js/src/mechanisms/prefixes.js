/** Prefix growth: people in groups report beginnings of their strings, or whole ones. */

import { fromBase64 } from "../bytes.js";
import { chained, placeOf } from "../hashing.js";
import { item, pack } from "../layout.js";
import { fits, members, whole } from "../parameters.js";
import { codeOf, firstDigits, readModel } from "./coding.js";
import { geometry } from "./pgr.js";

const FIRST = 6n << 40n;
const END = 0x110000;

export function read(data, domain) {
  members(data, "length", "lengths", "weights", "model", "prime", "dimension", "cohorts", "keep");
  const { lengths, weights } = data;
  const length = whole(data.length, 1, 256);
  fits(Array.isArray(lengths) && lengths.length >= 1 && lengths.length <= 254, "Levels are a list.");
  lengths.forEach((each, i) => whole(each, i ? lengths[i - 1] + 1 : 1, 4096));
  fits(Array.isArray(weights) && weights.length === lengths.length + 1, "Groups have weights.");
  weights.forEach((each) => whole(each, 1, 65536));
  fits(domain.length === length, "prefixes needs such strings.");
  const bytes = typeof data.model === "string" ? fromBase64(data.model) : null;
  fits(bytes !== null, "A model is base64url without padding.");
  const model = bytes.length ? readModel(bytes) : null;
  fits(model ? model.letters.join("") === domain.letters.join("") : lengths.at(-1) === length,
    "prefixes must have the letters and the length of its domain.");
  const { points, near, truth } = geometry(data);
  const cohorts = whole(data.cohorts, 1, 65536);
  const items = [item(weights.length, 1), item(cohorts, 2), item(points, 4)];
  const total = weights.reduce((a, b) => a + b, 0);

  const symbolsOf = (text, group) => {
    const letters = Array.from(text, (letter) => letter.codePointAt(0));
    if (group === lengths.length) return letters;
    if (!model) {
      const shown = letters.slice(0, lengths[group]);
      return letters.length < lengths[group] ? [...shown, END] : shown;
    }
    const edges = [0, ...lengths.slice(0, group + 1)];
    const digits = firstDigits(codeOf(model, text, length), edges.at(-1));
    return edges.slice(1).map((high, i) =>
      (digits >> BigInt(edges.at(-1) - high)) & ((1n << BigInt(high - edges[i])) - 1n));
  };
  return {
    ...truth,
    items,
    encode(answer, cohortDraws, _permanent, fresh) {
      let [drawn, group] = [cohortDraws.below(total), 0];
      while (drawn >= weights[group]) drawn -= weights[group++];
      const cohort = cohortDraws.below(cohorts);
      const words = answer.text === undefined ? answer.words : chained(symbolsOf(answer.text, group));
      const index = FIRST + BigInt(group) * 65536n + BigInt(cohort);
      return pack(items, [group, cohort, near(placeOf(words, index, points), fresh)]);
    },
  };
}
