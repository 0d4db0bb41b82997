/**
 * From exact probability ratios to epsilon in micros (millionths), rounded up.
 *
 * A ratio is a pair of BigInts, numerator and denominator. Logarithms are computed in whole numbers
 * with 256 binary digits after the point: 2 atanh(z) = 2 (z + z^3/3 + z^5/5 + ...), with z at most
 * 1/3, whose rest after n terms is below 9^-n.
 */

const DIGITS = 256n;
const UNIT = 1n << DIGITS;
const MICRO = 1_000_000n;
// More than all that is rounded off below, and far less than a micro.
const SLACK = UNIT / 10n ** 55n;

/** Return 2 atanh(p/q) in units of 2^-256, a little below the true number. */
function twiceAtanh(p, q) {
  const z = (p * UNIT) / q;
  const square = (z * z) / UNIT;
  let sum = 0n;
  for (let power = z, odd = 1n; power > 0n; power = (power * square) / UNIT, odd += 2n) {
    sum += power / odd;
  }
  return 2n * sum;
}

const LN2 = twiceAtanh(1n, 3n);

/** Return ln(n) in units of 2^-256, within 2^-240 of the true number. */
function ln(n) {
  const bits = BigInt(n.toString(2).length - 1);
  const power = 1n << bits;
  // n = 2^bits y with y from 1 to 2, and ln y = 2 atanh((y - 1)/(y + 1)).
  return bits * LN2 + twiceAtanh(n - power, n + power);
}

/** Return the smallest number of micros whose epsilon is at least ln(numerator / denominator). */
export function microsOf([numerator, denominator]) {
  if (numerator <= denominator) return 0;
  const above = ln(numerator) - ln(denominator) + SLACK;
  return Number((above * MICRO + UNIT - 1n) / UNIT);
}

/** Return a ratio to a power. */
export const powerOf = ([numerator, denominator], power) => [
  numerator ** BigInt(power),
  denominator ** BigInt(power),
];

/** Return the larger of two ratios. */
export const larger = (a, b) => (a[0] * b[1] >= b[0] * a[1] ? a : b);

/** Return the product of two ratios. */
export const times = (a, b) => [a[0] * b[0], a[1] * b[1]];
