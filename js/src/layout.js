/** Wire records: items of fixed size one after the other, little-endian (protocol, section 8). */

import { little, number } from "./bytes.js";
import { must } from "./refused.js";

/** An item that is a number below `bound`, in `size` bytes. */
export const item = (bound, size) => ({ size, bound });

/** An item that is a number below `bound`, in the fewest of 1, 2 or 4 bytes. */
export const symbol = (bound) => item(bound, bound <= 256 ? 1 : bound <= 65536 ? 2 : 4);

/** An item of `width` bits, in `size` bytes. */
export const bits = (width, size = Math.ceil(width / 8)) => ({ size, width });

/** Return the record of some values: numbers, or bytes of bits. */
export function pack(items, values) {
  const record = new Uint8Array(sizeOf(items));
  let at = 0;
  items.forEach(({ size, bound }, i) => {
    record.set(bound ? little(values[i], size) : values[i], at);
    at += size;
  });
  return record;
}

/** Return the number of bytes of a record. */
export const sizeOf = (items) => items.reduce((sum, { size }) => sum + size, 0);

/** Return a record's values, refusing one that no client sends. */
export function unpack(items, record) {
  must(record.length === sizeOf(items), "record", "The record has the wrong size.");
  let at = 0;
  return items.map(({ size, bound, width }) => {
    const part = record.subarray(at, (at += size));
    if (bound) {
      must(number(part) < bound, "record", "A number of the record is too large.");
      return number(part);
    }
    checkBits(part, width);
    return part;
  });
}

/** Refuse bits that are set from `width` on. */
export function checkBits(part, width) {
  const beyond = part.some((byte, i) => byte >> Math.max(0, Math.min(8, width - 8 * i)));
  must(!beyond, "record", "The bits beyond the last must be zero.");
}

/** Return bytes in which bit i is what `coin(i)` returns, for i from 0 to width - 1. */
export function drawBits(width, coin, size = Math.ceil(width / 8)) {
  const packed = new Uint8Array(size);
  for (let i = 0; i < width; i++) packed[i >> 3] |= coin(i) << (i & 7);
  return packed;
}
