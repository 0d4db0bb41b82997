/**
 * Domains and answers: from a value to its place in the domain, in canonical bytes (section 4).
 *
 * An answer is {key, code, members, texts, codes, words, fitted}; whoever holds one must not show it.
 */

import { ABSENT } from "./absent.js";
import { join, little, utf8 } from "./bytes.js";
import { isWellFormed } from "./canonical.js";
import { codeKey, fingerprint } from "./hashing.js";
import { must } from "./refused.js";

export const MOST_BYTES = 4096;
export const MOST_CATEGORIES = 65536;
const DECIMAL = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?$/;

/** Refuse a domain unless a condition holds. */
export const kept = (condition, message) => must(condition, "domain", message);
/** Tell whether a value is a string. */
export const isText = (value) => typeof value === "string";
/** Tell whether each item of a list is larger than the one before. */
export const isRising = (list) => list.every((item, i) => i === 0 || list[i - 1] < item);
/** Return the code points of a text. */
export const points = (text) => Array.from(text, (letter) => letter.codePointAt(0));

/** Tell whether an object has exactly these members. */
export const hasExactly = (object, ...names) =>
  typeof object === "object" && object !== null && !Array.isArray(object) &&
  Object.keys(object).sort().join() === names.sort().join();

/** Return an answer; its words for the hash family are computed when they are wanted. */
export function answerOf(key, more = {}) {
  let words = null;
  return { key, code: -1, members: [], codes: [], ...more, get words() {
    return (words ??= fingerprint(key));
  } };
}

const coded = (code) => answerOf(codeKey(code), { code });

/** Return canonical bytes: a letter, then codes. */
export const keyOf = (letter, codes) =>
  join(Uint8Array.of(letter.charCodeAt(0)), ...codes.map((code) => little(code)));

/** The absent answer of strings and sets of strings. */
export const ABSENT_ANSWER = answerOf(Uint8Array.of(0x61));

const closedDomains = {
  boolean: (data) => hasExactly(data, "type") && closed(2, (value) => {
    must(typeof value === "boolean", "type", "The value must be true or false.");
    return Number(value);
  }),
  categories: (data) => {
    if (!hasExactly(data, "type", "values")) return null;
    const codeOf = codesOf(names(data.values, MOST_CATEGORIES));
    return closed(data.values.length, codeOf);
  },
  numbers: (data) => {
    if (!hasExactly(data, "type", "edges")) return null;
    const edges = edgesOf(data.edges);
    return closed(edges.length + 1, (value) => binOf(edges, value));
  },
};
const OTHERS = ["set", "strings", "profile"];

/** Return a closed domain: {kind, size, codeOf(value), answer(value)}; null if it is none. */
export function readClosed(data) {
  const kind = data?.type;
  const read = isText(kind) && Object.hasOwn(closedDomains, kind) && closedDomains[kind](data);
  return read ? { kind, ...read } : null;
}

/** Return the domain that survey.json describes: {kind, size, answer(value), ...}. */
export async function readDomain(data) {
  const kind = data?.type;
  const open = OTHERS.includes(kind);
  const read = open ? (await import(`./domains/${kind}.js`)).read(data) : readClosed(data);
  kept(read, "A domain must be one of the protocol's, with exactly its members.");
  return { kind, ...read };
}

function closed(size, codeOf) {
  return { size, codeOf, answer: (value) => coded(codeOf(value)) };
}

/** Return names of categories, refusing what survey.json may not hold. */
export function names(values, most) {
  kept(Array.isArray(values) && values.length >= 2 && values.length <= most,
    "Categories must be a list of 2 or more names.");
  for (const name of values) {
    kept(isText(name) && name !== "" && isWellFormed(name) && name.normalize("NFC") === name &&
      utf8(name).length <= MOST_BYTES, "Category names must be short strings in NFC.");
  }
  kept(new Set(values).size === values.length, "Category names must differ.");
  return values;
}

/** Return the function from a name to its code, which refuses other values. */
export function codesOf(values) {
  const codes = new Map(values.map((name, code) => [name, code]));
  return (value) => {
    must(isText(value), "type", "The value must be a string, the name of a category.");
    const short = value.length <= 2 * MOST_BYTES && points(value).length <= MOST_BYTES;
    const code = short ? codes.get(value.normalize("NFC")) : undefined;
    must(code !== undefined, "unknown_category", "The value is not one of the categories.");
    return code;
  };
}

function edgesOf(edges) {
  kept(Array.isArray(edges) && edges.length >= 1 && edges.length < MOST_CATEGORIES &&
    edges.every((edge) => isText(edge) && edge.length <= 32 && DECIMAL.test(edge)),
  "Edges must be a list of decimal numbers, as strings.");
  const numbers = edges.map(Number);
  kept(numbers.every(Number.isFinite) && isRising(numbers), "Edges must rise and be finite.");
  return numbers;
}

function binOf(edges, value) {
  must(typeof value === "number" || typeof value === "bigint", "type",
    "The value must be a number.");
  const number = Number(value);
  must(!Number.isNaN(number), "not_a_number", "The value must not be NaN.");
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return a value that is a mapping from some of these names. */
export function byName(value, allowed) {
  must(typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Set), "type", "The value must be an object with a value for each name.");
  must(Object.keys(value).every((name) => allowed.includes(name)), "unknown_field",
    "The value has a name that the question has not.");
  return value;
}

/** Return the answer of one field for a value; ABSENT is one only where the question has it. */
export function fieldAnswer(domain, value, absent) {
  if (value !== ABSENT) return domain.answer(value);
  must(absent, "type", "This question has no absent answer.");
  return answerOf(Uint8Array.of(0x61), { code: domain.size ?? -1 });
}
