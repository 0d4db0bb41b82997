/** Sets: of named members, or of strings that nobody listed. */

import { answerOf, codesOf, hasExactly, keyOf, kept, MOST_CATEGORIES, names } from "../answers.js";
import { hex, join, little } from "../bytes.js";
import { must, Refused } from "../refused.js";
import { read as readStrings } from "./strings.js";

/** Return the domain that survey.json describes; null if it has other members. */
export const read = (data) =>
  hasExactly(data, "type", "values", "most") ? setOf(data) : stringSetOf(data);

function setOf({ values, most }) {
  const codeOf = codesOf(names(values, MOST_CATEGORIES - 1));
  kept(Number.isInteger(most) && most >= 1 && most <= values.length,
    "A domain's 'most' must be from 1 to the number of names.");
  const tooMany = new Refused("too_many", "The set has more members than the question allows.");
  const answer = (value) => {
    const list = listOf(value);
    if (list.length > MOST_CATEGORIES) throw tooMany;
    const members = [...new Set(list.map(codeOf))].sort((a, b) => a - b);
    if (members.length > most) throw tooMany;
    return answerOf(keyOf("m", members), { members });
  };
  return { size: values.length + 1, names: values.length, most, answer };
}

/** Return a domain of sets of strings: strings, and the number of places. */
function stringSetOf({ most, ...rest }) {
  const strings = readStrings(rest);
  if (!strings) return null;
  kept(Number.isInteger(most) && most >= 1 && most < MOST_CATEGORIES,
    "A domain's 'most' must be from 1 to 65,535.");
  const answer = (value) => {
    const list = listOf(value);
    must(list.length < MOST_CATEGORIES, "too_many", "The set has too many members.");
    // Members rise by the bytes of their keys, which hexadecimal digits do alike.
    const byKey = new Map(list.map((text) => strings.answer(text)).map((a) => [hex(a.key), a]));
    const texts = [...byKey.keys()].sort().map((key) => byKey.get(key));
    const parts = texts.flatMap(({ key }) => [little(key.length), key]);
    return answerOf(join(Uint8Array.of(0x74), ...parts), { texts });
  };
  return { ...strings, most, answer };
}

function listOf(value) {
  const list = value instanceof Set ? [...value] : value;
  must(Array.isArray(list), "type", "The value must be a list.");
  return list;
}
