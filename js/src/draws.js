/**
 * The two ways of drawing: `coin(t)` and `below(n)`, from a stream or from the operating system.
 *
 * A threshold is an integer t from 0 to 2^64, kept as {high, low} with t = high 2^32 + low, so that
 * 2^64 is {2^32, 0}. Every comparison is of whole numbers; no floating-point number decides a coin.
 */

import { hmacOf } from "./sha256.js";
import { join, little, utf8 } from "./bytes.js";

/** Draws from pairs of 32-bit words; `word()` must set `high` and `low` to a new 64-bit word. */
class Draws {
  high = 0;
  low = 0;

  /** Return 1 with probability t / 2^64, else 0; takes exactly one word. */
  coin(t) {
    this.word();
    return this.high < t.high || (this.high === t.high && this.low < t.low) ? 1 : 0;
  }

  /** Return an integer from 0 to n - 1, all equally likely; n is from 1 to 2^32. */
  below(n) {
    if (n === 1) return 0;
    // The lowest bits of a word, as many as n - 1 has; try again while they are n or more.
    const shift = Math.clz32(n - 1);
    for (;;) {
      this.word();
      const drawn = (this.low << shift) >>> shift;
      if (drawn < n) return drawn;
    }
  }
}

/** The stream of a key: HMAC(key, 0), HMAC(key, 1), ..., in words of 8 bytes. */
export class Stream extends Draws {
  #key;
  #hmac = null;
  #block = 0;
  #view = null;
  #at = 32;

  /** @param {Uint8Array | (() => Uint8Array)} key the key, or how to derive it when it is needed */
  constructor(key) {
    super();
    this.#key = key;
  }

  word() {
    if (this.#at === 32) {
      this.#hmac ??= hmacOf(typeof this.#key === "function" ? this.#key() : this.#key);
      this.#view = new DataView(this.#hmac(little(this.#block++)).buffer);
      this.#at = 0;
    }
    this.low = this.#view.getUint32(this.#at, true);
    this.high = this.#view.getUint32(this.#at + 4, true);
    this.#at += 8;
  }
}

/** Fresh draws from the operating system's generator, never repeated. */
export class Fresh extends Draws {
  #words = new Uint32Array(256);
  #at = 256;

  word() {
    if (this.#at === this.#words.length) {
      globalThis.crypto.getRandomValues(this.#words);
      this.#at = 0;
    }
    this.high = this.#words[this.#at];
    this.low = this.#words[this.#at + 1];
    // What was used is wiped, so that no later look at memory tells a coin.
    this.#words[this.#at] = this.#words[this.#at + 1] = 0;
    this.#at += 2;
  }
}

const SALT = utf8("deniable/v1");

/** Return the 32 bytes derived from a secret for some pieces: HKDF-SHA-256 [RFC 5869]. */
export function derive(secret, ...pieces) {
  const info = pieces.map((piece) => join(little(piece.length), piece));
  return hmacOf(hmacOf(SALT)(secret))(join(...info, Uint8Array.of(1)));
}
