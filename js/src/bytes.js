/** Bytes: joining, little-endian integers, hexadecimal, base64url, UTF-8. */

const encoder = new TextEncoder();

/** Return the UTF-8 bytes of a text; unpaired surrogates must have been refused before. */
export const utf8 = (text) => encoder.encode(text);

/** Return byte strings one after the other. */
export function join(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Return an integer below 2^32 in `size` bytes, little-endian. */
export function little(number, size = 4) {
  const bytes = new Uint8Array(size);
  for (let i = 0; i < size; i++, number = Math.floor(number / 256)) bytes[i] = number % 256;
  return bytes;
}

/** Return the integer that some bytes are, little-endian. */
export const number = (bytes) => bytes.reduceRight((sum, byte) => sum * 256 + byte, 0);

/** Return bytes in hexadecimal. */
export const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

/** Return the bytes of hexadecimal digits. */
export const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (two) => parseInt(two, 16));

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Return bytes in base64url without padding. */
export function toBase64(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const three = (bytes[i] << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const count = Math.min(4, bytes.length - i + 1);
    for (let j = 0; j < count; j++) text += LETTERS[(three >> (18 - 6 * j)) & 63];
  }
  return text;
}

/** Return the bytes of base64url without padding; null unless it is their one spelling. */
export function fromBase64(text) {
  const bytes = [];
  for (let i = 0; i < text.length; i += 4) {
    let four = 0;
    for (let j = 0; j < 4; j++) {
      const digit = i + j < text.length ? LETTERS.indexOf(text[i + j]) : 0;
      if (digit < 0) return null;
      four = four * 64 + digit;
    }
    const count = Math.min(4, text.length - i) - 1;
    bytes.push(...[four >>> 16, (four >>> 8) & 255, four & 255].slice(0, count));
  }
  const read = Uint8Array.from(bytes);
  return toBase64(read) === text ? read : null;
}

/** Tell whether two byte strings are equal. */
export const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);
