/** Coding models and arithmetic codes of strings, in exact integers. */

import { isAlphabet } from "../domains/strings.js";
import { number, utf8 } from "../bytes.js";
import { fits } from "../parameters.js";

const MAGIC = utf8("deniable/model/1\n");
const UNIT = 2 ** 20;
const LONGEST = 6;

/** Read a coding model; anything but its one spelling is refused. */
export function readModel(data) {
  fits(data.length <= 65536, "A coding model has at most 65,536 bytes.");
  let at = 0;
  const take = (size) => {
    fits(at + size <= data.length, "The coding model must be complete.");
    return data.subarray(at, (at += size));
  };
  const whole = (size) => number(take(size));
  fits(take(MAGIC.length).every((byte, i) => byte === MAGIC[i]), "This is no coding model.");
  const [typical, size, count] = [whole(2), whole(2), whole(2)];
  fits(typical >= 1 && typical <= 4096, "A coding model's typical length is 1 to 4,096.");
  const letters = textOf(take(size));
  fits(letters !== null && isAlphabet(letters), "A coding model's letters must be an alphabet.");
  const all = Array.from(letters);
  const width = all.length <= 254 ? 1 : 2;
  const [end, start] = [all.length, all.length + 1];
  const contexts = new Map();
  let before = null;
  for (let i = 0; i < count; i++) {
    const [length, entries] = [whole(1), whole(2)];
    const context = Array.from({ length }, () => whole(width));
    fits(length <= LONGEST && entries >= 1, "A context has at most 6 symbols, and counts some.");
    fits(context.every((s, place) => s < end || (s === start && place === 0)),
      "A context has the model's symbols.");
    fits(before === null || comesAfter(before, context), "Contexts must rise.");
    const counts = Array.from({ length: entries }, () => [whole(width), whole(1)]);
    fits(counts.every(([s, c], j) => s <= end && c >= 1 && (j === 0 || counts[j - 1][0] < s)),
      "Counted symbols must rise.");
    contexts.set(context.join(), counts);
    before = context;
  }
  fits(at === data.length, "Nothing follows a coding model.");
  return { letters: all, end, start, contexts };
}

function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function comesAfter(a, b) {
  if (a.length !== b.length) return a.length < b.length;
  const i = a.findIndex((symbol, place) => symbol !== b[place]);
  return i >= 0 && a[i] < b[i];
}

/** Return the frequency of each symbol after the ones before it, each at least 1. */
export function frequencies({ end, start, contexts }, before) {
  const history = [start, ...before];
  let found = new Array(end + 1).fill(Math.floor(UNIT / (end + 1)));
  for (let n = 0; n <= Math.min(LONGEST, history.length); n++) {
    const counts = contexts.get(history.slice(history.length - n).join());
    if (!counts) continue;
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    const scaled = found.map((old) => counts.length * old);
    for (const [symbol, count] of counts) scaled[symbol] += UNIT * count;
    found = scaled.map((value) => Math.max(1, Math.floor(value / (total + counts.length))));
  }
  return found;
}

/** Return a string's code [m, k]: the number m / 2^k of its interval with the fewest digits. */
export function codeOf(model, text, length) {
  const symbols = Array.from(text, (letter) => model.letters.indexOf(letter));
  if (symbols.length < length) symbols.push(model.end);
  let [low, width, all] = [0n, 1n, 1n];
  symbols.forEach((symbol, place) => {
    const found = frequencies(model, symbols.slice(0, place));
    const sum = (list) => BigInt(list.reduce((a, b) => a + b, 0));
    const total = sum(found);
    low = low * total + width * sum(found.slice(0, symbol));
    width *= BigInt(found[symbol]);
    all *= total;
  });
  for (let k = 0n; ; k++) {
    const m = ((low << k) + all - 1n) / all;
    if (m * all < (low + width) << k) return [m, k];
  }
}

/** Return the first `digits` binary digits of a code, as one number. */
export function firstDigits([m, k], digits) {
  const wanted = BigInt(digits);
  return wanted >= k ? m << (wanted - k) : m >> (k - wanted);
}
