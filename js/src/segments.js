/** Segments: declared labels of a device that travel in clear beside the record (section 3). */

import { hasExactly } from "./answers.js";
import { must } from "./refused.js";

const OTHER = "(other)";
const MOST = 3;
const MOST_COMBINATIONS = 64;
const WHOLE = 1_000_000;
const NAME = /^[a-z][a-z0-9_]{0,31}$/;
const VALUE = /^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,63}$/;

const isText = (value, pattern) => typeof value === "string" && pattern.test(value);
const isList = (value, most) => Array.isArray(value) && value.length >= 1 && value.length <= most;
const differ = (list) => new Set(list).size === list.length;
const kept = (condition, message) => must(condition, "segments", message);

/** Read the segments that a survey declares. */
export function readSegments(list) {
  kept(isList(list, Infinity), "The segments of a survey are a list of at least one.");
  for (const segment of list) checkSegment(segment);
  kept(list.every(({ name }, i) => i === 0 || list[i - 1].name < name),
    "The segments of a survey are sorted by name, each name once.");
  return list;
}

function checkSegment(segment) {
  const shares = Object.hasOwn(Object(segment), "shares") ? ["shares"] : [];
  kept(hasExactly(segment, "name", "values", ...shares) && isText(segment.name, NAME),
    "A segment has a name, values and perhaps shares.");
  const { values } = segment;
  kept(isList(values, MOST_COMBINATIONS - 1) && values.every((value) => isText(value, VALUE)) &&
    differ(values), "A segment's values are 1 to 63 different names.");
  if (shares.length === 0) return;
  const listed = Array.isArray(segment.shares) ? segment.shares : [];
  kept(listed.length === values.length && listed.every((n) => Number.isInteger(n) && n >= 0) &&
    listed.reduce((a, b) => a + b, 0) <= WHOLE, "A segment's shares are at most all people.");
}

/** Return the segments that a question names, out of those that its survey declares. */
export function chosenSegments(names, declared) {
  kept(isList(names, MOST) && differ(names) &&
    names.every((name) => declared.some((segment) => segment.name === name)),
  "The segments of a question are 1 to 3 different ones of its survey.");
  return names.map((name) => declared.find((segment) => segment.name === name));
}

/** Refuse segments unless some question names each. */
export function checkUsed(declared, questions) {
  const named = new Set(questions.flatMap(({ segments }) => segments.map(({ name }) => name)));
  kept(declared.every(({ name }) => named.has(name)), "Some question must name each segment.");
}

/** Refuse more than 64 combinations of a question's segments and levels. */
export function checkCombinations(segments, levels) {
  const number = segments.reduce((all, { values }) => all * (values.length + 1), levels);
  kept(number <= MOST_COMBINATIONS, "A question has at most 64 combinations.");
}

/** Return a device's value of each segment; what is not declared becomes "(other)". */
export function combinationOf(segments, told) {
  return Object.fromEntries(segments.map(({ name, values }) =>
    [name, Object.hasOwn(told, name) && values.includes(told[name]) ? told[name] : OTHER]));
}

/** Tell whether a report may carry this as its segments. */
export function isCombination(data) {
  const entries = typeof data === "object" && data !== null && !Array.isArray(data)
    ? Object.entries(data) : [];
  return isList(entries, MOST) && entries.every(([name, value]) =>
    NAME.test(name) && (value === OTHER || isText(value, VALUE)));
}
