/**
 * The shortest decimal of a double, for magnitudes people measure in. The closest decimal of 15 digits is tried, then those of
 * 16 and 17; the first that reads back as the same double is the shortest and the closest one, as JavaScript prints it.
 */
import { multiply, nearestDouble, powerOfFive, upper } from "../json/decimal";

/** Magnitudes from here on below the other have at most 15 digits before the point and are printed without an exponent. */
const LEAST: f64 = 1e-6;
const LIMIT: f64 = 1e15;
const MANTISSA: u64 = 0xfffffffffffff;
const MIN_DIGITS: i32 = 15;
const MAX_DIGITS: i32 = 17;
const SEVENTEEN_DIGITS: u64 = 100000000000000000;
const HALF: u64 = 1 << 63;

/** The digits and how many of them stand behind the point, after `findShortest`. */
export let shortestDigits: u64 = 0;
export let shortestDecimals: i32 = 0;

/** What the last `scaled` has cut off, in units of 2^-64. */
let fraction: u64 = 0;

/** The whole part of `significand` × 2^`exponent` × 10^`decimals`, which has at most 18 digits. */
function scaled(significand: u64, exponent: i32, decimals: i32): u64 {
  const low = multiply(significand, powerOfFive(decimals));
  const shift = -(exponent + decimals);
  fraction = 0;
  if (shift <= 0) return low << <u64>-shift;
  fraction = low << <u64>(64 - shift);
  return (low >> <u64>shift) | (upper << <u64>(64 - shift));
}

/** Finds the digits of a positive double; false for those that are left to the host: extremes, powers of two, ties. */
export function findShortest(value: f64): bool {
  if (!(value >= LEAST && value < LIMIT)) return false;
  const bits = reinterpret<u64>(value);
  // Around a power of two the neighbours are not equally far.
  if ((bits & MANTISSA) == 0) return false;
  const significand = (bits & MANTISSA) | (MANTISSA + 1);
  const binary = <i32>(bits >> 52) - 1023;
  // The decimal exponent, or one less.
  let tens = (binary * 1233) >> 12;
  if (scaled(significand, binary - 52, MAX_DIGITS - 1 - tens) >= SEVENTEEN_DIGITS) tens++;
  for (let digits = MIN_DIGITS; digits <= MAX_DIGITS; digits++) {
    const decimals = digits - 1 - tens;
    let whole = scaled(significand, binary - 52, decimals);
    if (fraction == HALF) return false;
    if (fraction > HALF) whole++;
    if (nearestDouble(whole, -decimals) != value) continue;
    shortestDigits = whole;
    shortestDecimals = decimals;
    return true;
  }
  return false;
}
