/**
 * Canonical JSON: one spelling per object, and a strict reader (protocol, section 2).
 *
 * `JSON.parse` hides a repeated member and rounds long integers, so that the reader is written here.
 */

import { must, Refused } from "./refused.js";

const DEEPEST = 16;
const broken = () => new Refused("json", "The text must be JSON.");
const held = (condition) =>
  must(condition, "value",
    "Canonical JSON holds objects, arrays, strings and integers of at most 53 bits.");

/** Return the canonical text of a value; keys must be ASCII, so that their order is that of bytes. */
export function canonical(value) {
  check(value, 0);
  return write(value);
}

function check(value, depth) {
  held(depth <= DEEPEST);
  if (typeof value === "string") return held(isWellFormed(value));
  if (typeof value === "number") return held(Number.isSafeInteger(value));
  held(typeof value === "object" && value !== null);
  for (const [key, inner] of Object.entries(value)) {
    held(Array.isArray(value) || /^[\0-\x7f]*$/.test(key));
    check(inner, depth + 1);
  }
}

function write(value) {
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${write(value[key])}`).join(",")}}`;
}

/** Tell whether a text has no unpaired surrogate. */
export const isWellFormed = (text) => !/\p{Surrogate}/u.test(text);

/**
 * Return the value of a JSON text that canonical JSON can hold, white space aside.
 *
 * Refuses with the reasons `json`, `value` and `members` (a member that stands twice).
 */
export function parse(text) {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.space();
  if (reader.at < text.length) throw broken();
  check(value, 0);
  return value;
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  space() {
    while (" \t\n\r".includes(this.text[this.at] || "x")) this.at++;
  }

  /** Take what a sticky pattern matches here; null if it does not. */
  take(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found && found[0];
  }

  value(depth) {
    if (depth > 100) throw broken(); // far beyond what is allowed, before the stack is full
    this.space();
    const first = this.text[this.at];
    if (first === "{") return this.list("}", (into) => this.member(into, depth), {});
    if (first === "[") {
      return this.list("]", (into) => (into.push(this.value(depth + 1)), into), []);
    }
    if (first === '"') return this.string();
    const number = this.take(/-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y);
    if (number !== null) {
      held(/^-?\d+$/.test(number) && Number.isSafeInteger(Number(number)));
      return Number(number) + 0; // -0 is 0
    }
    const word = this.take(/true|false|null/y);
    if (word === null) throw broken();
    held(false);
  }

  member(into, depth) {
    this.space();
    if (this.text[this.at] !== '"') throw broken();
    const key = this.string();
    this.space();
    if (this.text[this.at++] !== ":") throw broken();
    must(!Object.hasOwn(into, key), "members", "An object must not name a member twice.");
    const value = this.value(depth + 1);
    // Defined, not assigned: a member named __proto__ is a member like others.
    return Object.defineProperty(into, key, { value, enumerable: true, writable: true });
  }

  list(end, one, into) {
    this.at++;
    this.space();
    if (this.text[this.at] === end) return this.at++, into;
    for (;;) {
      one(into);
      this.space();
      const next = this.text[this.at++];
      if (next === end) return into;
      if (next !== ",") throw broken();
    }
  }

  string() {
    const found = this.take(/"([^"\\\u0000-\u001f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y);
    if (found === null) throw broken();
    return JSON.parse(found);
  }
}
