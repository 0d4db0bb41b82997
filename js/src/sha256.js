/**
 * SHA-256 and HMAC-SHA-256 [FIPS 180-4, RFC 2104], synchronous.
 *
 * WebCrypto answers by promises and in a thread of its own, which costs more than the hash itself,
 * and nothing can be awaited while a page is left. The constants are literals: the language does not
 * promise that its cube roots are rounded correctly.
 */

const K = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);
const START = new Int32Array([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);
const BLOCK = 64;
const schedule = new Int32Array(BLOCK);

/** Mix one block of 64 bytes into a state of eight words. */
function compress(state, data, at) {
  const w = schedule;
  for (let i = 0; i < 16; i++, at += 4) {
    w[i] = (data[at] << 24) | (data[at + 1] << 16) | (data[at + 2] << 8) | data[at + 3];
  }
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15];
    const y = w[i - 2];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
  }
  let a = state[0], b = state[1], c = state[2], d = state[3];
  let e = state[4], f = state[5], g = state[6], h = state[7];
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + t1) | 0;
    d = c; c = b; b = a; a = (t1 + t2) | 0;
  }
  state[0] += a; state[1] += b; state[2] += c; state[3] += d;
  state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

/** Finish a hash whose state has taken `before` bytes (whole blocks) and which ends with `data`. */
function finish(from, before, data) {
  const state = from.slice();
  const whole = data.length - (data.length % BLOCK);
  for (let at = 0; at < whole; at += BLOCK) compress(state, data, at);
  const rest = data.length - whole;
  const tail = new Uint8Array(rest + 9 > BLOCK ? 2 * BLOCK : BLOCK);
  tail.set(data.subarray(whole));
  tail[rest] = 0x80;
  // The length in bits, big-endian; what is hashed here is far below 2^32 bytes.
  const length = before + data.length;
  const view = new DataView(tail.buffer);
  view.setUint32(tail.length - 8, Math.floor(length / 0x20000000));
  view.setUint32(tail.length - 4, (length << 3) >>> 0);
  for (let at = 0; at < tail.length; at += BLOCK) compress(state, tail, at);
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  for (let i = 0; i < 8; i++) out.setInt32(4 * i, state[i]);
  return digest;
}

/** Return the 32 bytes of SHA-256 of some bytes. */
export function sha256(data) {
  return finish(START, 0, data);
}

/**
 * Return a function from data to HMAC-SHA-256 under a key.
 *
 * The two padded keys are hashed once, so that a short message costs two blocks.
 */
export function hmacOf(key) {
  const short = key.length > BLOCK ? sha256(key) : key;
  const inner = new Uint8Array(BLOCK).fill(0x36);
  const outer = new Uint8Array(BLOCK).fill(0x5c);
  for (let i = 0; i < short.length; i++) {
    inner[i] ^= short[i];
    outer[i] ^= short[i];
  }
  const first = START.slice();
  const second = START.slice();
  compress(first, inner, 0);
  compress(second, outer, 0);
  return (data) => finish(second, BLOCK, finish(first, BLOCK, data));
}
