/**
 * The hash family: one SHA-256 per answer, then cheap mixing per hash function (protocol, section 5).
 *
 * Words are BigInts below 2^64.
 */

import { sha256 } from "./sha256.js";
import { join, little } from "./bytes.js";

const MASK = (1n << 64n) - 1n;
const GOLDEN = 0x9e3779b97f4a7c15n;

/** The finaliser of SplitMix64. */
export function mix(x) {
  x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return x ^ (x >> 31n);
}

/** Return the two words that stand for an answer's key. */
export function fingerprint(key) {
  const view = new DataView(sha256(key).buffer);
  return [view.getBigUint64(0, true), view.getBigUint64(8, true)];
}

/** Return the two words that stand for a sequence of symbols, numbers or BigInts. */
export function chained(symbols) {
  let a = 0n;
  let b = 0n;
  for (const symbol of symbols) {
    a = mix((a + GOLDEN * (BigInt(symbol) + 1n)) & MASK);
    b = mix(b ^ a);
  }
  return [a, b];
}

/** Return the word of a hash function, which is numbered by a BigInt. */
export const wordOf = ([a, b], index) => mix(a ^ mix((b + GOLDEN * (index + 1n)) & MASK));

/** Return the place from 0 to size - 1 that a hash function gives, by the upper 32 bits. */
export const placeOf = (words, index, size) =>
  Number(((wordOf(words, index) >> 32n) * BigInt(size)) >> 32n);

/** Return the Bloom bits of an answer in a cohort, one per hash function; they may repeat. */
export const bloomBits = (words, cohort, hashes, bits) =>
  Array.from({ length: hashes }, (_, i) =>
    placeOf(words, BigInt(cohort) * 65536n + BigInt(i), bits));

/** Return the canonical bytes of an answer of a closed domain. */
export const codeKey = (code) => join(Uint8Array.of(0x69), little(code));

/** Return the rank of a code among all answers, under a hash function: their permutation. */
export function rank(code, answers, index) {
  const wordAt = (y) => wordOf(fingerprint(codeKey(y)), index);
  const own = wordAt(code);
  let below = 0;
  for (let y = 0; y < answers; y++) {
    const word = y === code ? own : wordAt(y);
    if (word < own || (word === own && y < code)) below++;
  }
  return below;
}
