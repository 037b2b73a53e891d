/**
 * The shortest decimal of a double. The closest decimal of 15 digits is tried, then those of 16 and 17; the first that
 * reads back as the same double is the shortest and the closest one, as JavaScript prints it. Doubles near zero have
 * fewer digits.
 */
import { multiply, nearestDouble, powerOfFive, upper } from '../json/decimal';
import { doubt, fraction as coarseFraction, hasMore, isDecided, nearestOfAny, wholeOf } from '../json/powers';

/** Magnitudes between these limits have at most 15 digits before the point: exact products of 128 bits suffice. */
const LEAST: f64 = 1e-6;
const LIMIT: f64 = 1e15;
const MANTISSA: u64 = 0xfffffffffffff;
const MIN_DIGITS: i32 = 15;
const MAX_DIGITS: i32 = 17;
const SEVENTEEN_DIGITS: u64 = 100000000000000000;
const HALF: u64 = 1 << 63;
/** The exponent of the last place of doubles near zero. */
const LEAST_EXPONENT: i32 = -1074;

/** The digits and the number of digits behind the point, set by `findShortest`. */
export let shortestDigits: u64 = 0;
export let shortestDecimals: i32 = 0;

/** The part that the last `scaled` has cut off, in units of 2^-64. */
let fraction: u64 = 0;

/** The whole part of `significand` × 2^`exponent` × 10^`decimals`, which has at most 18 digits. */
function scaled(significand: u64, exponent: i32, decimals: i32): u64 {
  const low = multiply(significand, powerOfFive(decimals));
  const shift = -(exponent + decimals);
  fraction = 0;
  if (shift <= 0) return low << (<u64>-shift);
  fraction = low << (<u64>(64 - shift));
  return (low >> <u64>shift) | (upper << (<u64>(64 - shift)));
}

/** Finds the digits of a positive double; false for the very few that are left to the host. */
export function findShortest(value: f64): bool {
  const bits = reinterpret<u64>(value);
  // The two neighbours of a power of two have different distances.
  const isPower = (bits & MANTISSA) == 0;
  if (!(value >= LEAST && value < LIMIT) || isPower) return findAny(value, bits, isPower);
  const significand = (bits & MANTISSA) | (MANTISSA + 1);
  const binary = <i32>(bits >> 52) - 1023;
  // The decimal exponent, or one less.
  let tens = (binary * 1233) >> 12;
  if (scaled(significand, binary - 52, MAX_DIGITS - 1 - tens) >= SEVENTEEN_DIGITS) tens++;
  for (let digits = MIN_DIGITS; digits <= MAX_DIGITS; digits++) {
    const decimals = digits - 1 - tens;
    let whole = scaled(significand, binary - 52, decimals);
    // Of two equally close ones the even one is used.
    if (fraction > HALF || (fraction == HALF && (whole & 1) != 0)) whole++;
    if (nearestDouble(whole, -decimals) == value) return found(whole, decimals);
  }
  return false;
}

function found(digits: u64, decimals: i32): bool {
  shortestDigits = digits;
  shortestDecimals = decimals;
  return true;
}

/** As `findShortest`, for magnitudes of any size. */
function findAny(value: f64, bits: u64, isPower: bool): bool {
  const isTiny = bits >> 52 == 0;
  const significand = isTiny ? bits & MANTISSA : (bits & MANTISSA) | (MANTISSA + 1);
  const binary = isTiny ? LEAST_EXPONENT : <i32>(bits >> 52) - 1075;
  let tens = ((binary + 63 - <i32>clz(significand)) * 1233) >> 12;
  if (wholeOf(significand, binary, MAX_DIGITS - 1 - tens) >= SEVENTEEN_DIGITS) tens++;
  for (let digits = isTiny ? 1 : MIN_DIGITS; digits <= MAX_DIGITS; digits++) {
    const decimals = digits - 1 - tens;
    const whole = wholeOf(significand, binary, decimals);
    const next = whole + 1;
    if (doubt != 0 && coarseFraction - (HALF - doubt) <= 2 * doubt) {
      // It is unknown which one is closer; usually neither is close enough.
      if (readsBack(whole, decimals, value) || readsBack(next, decimals, value) || !isDecided) return false;
      continue;
    }
    const isAbove = coarseFraction > HALF || (coarseFraction == HALF && (hasMore || (whole & 1) != 0));
    if (readsBack(isAbove ? next : whole, decimals, value)) return found(isAbove ? next : whole, decimals);
    if (!isDecided) return false;
    if (isPower && !isAbove && readsBack(next, decimals, value)) return found(next, decimals);
  }
  return false;
}

function readsBack(digits: u64, decimals: i32, value: f64): bool {
  return nearestOfAny(digits, -decimals, false) == value && isDecided;
}
