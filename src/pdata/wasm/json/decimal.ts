/**
 * Decimals to doubles, exactly rounded, for usual numbers: at most 19 digits and a moderate power of ten. This is a
 * product or a quotient of two 64-bit integers, so 128 bits and a remainder decide the rounding.
 */

/** Powers of five that fit in 64 bits with one bit left. */
const POWERS_OF_FIVE = memory.data<u64>([
  1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625, 1220703125, 6103515625,
  30517578125, 152587890625, 762939453125, 3814697265625, 19073486328125, 95367431640625, 476837158203125,
  2384185791015625, 11920928955078125, 59604644775390625, 298023223876953125, 1490116119384765625, 7450580596923828125,
]);
/** The largest power of ten, of either sign, that `nearestDouble` accepts. */
export const MAX_DECIMAL_POWER: i32 = 27;

const LOW: u64 = 0xffffffff;
/** Bits of a 64-bit quotient that do not fit into a double, and half of the last place of the double. */
const EXTRA_BITS: u64 = 11;
const EXTRA: u64 = 0x7ff;
const HALF: u64 = 0x400;

/** The upper half of the last product, the remainder of the last quotient. */
export let upper: u64 = 0;
let remainder: u64 = 0;

export function powerOfFive(exponent: i32): u64 {
  return load<u64>(POWERS_OF_FIVE + ((<usize>exponent) << 3));
}

/** The lower half of a product, with the upper half in `upper`. */
export function multiply(a: u64, b: u64): u64 {
  const low = (a & LOW) * (b & LOW);
  const first = (a >> 32) * (b & LOW) + (low >> 32);
  const second = (a & LOW) * (b >> 32) + (first & LOW);
  upper = (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32);
  return (second << 32) | (low & LOW);
}

/**
 * One 32-bit digit of a long division by `divisor`, whose top bit is set: (high, next) / divisor, with its `remainder`.
 */
function divideDigit(high: u64, next: u64, divisor: u64): u64 {
  const top = divisor >> 32;
  let digit = high / top;
  let rest = high - digit * top;
  while (digit > LOW || digit * (divisor & LOW) > ((rest << 32) | next)) {
    digit--;
    rest += top;
    if (rest > LOW) break;
  }
  remainder = ((high << 32) | next) - digit * divisor;
  return digit;
}

/** A significand of 64 bits, its top bit set, times a power of two; `inexact` when there are non-zero bits below. */
function rounded(significand: u64, power: i32, inexact: bool): f64 {
  let kept = significand >> EXTRA_BITS;
  const rest = significand & EXTRA;
  if (rest > HALF || (rest == HALF && (inexact || (kept & 1) != 0))) kept++;
  return <f64>kept * reinterpret<f64>((<u64>(1023 + power + <i32>EXTRA_BITS)) << 52);
}

/** The double nearest to `digits` × 10^`power`. */
export function nearestDouble(digits: u64, power: i32): f64 {
  if (!digits) return 0;
  return power < 0 ? quotient(digits, -power) : product(digits, power);
}

function product(digits: u64, power: i32): f64 {
  const low = multiply(digits, powerOfFive(power));
  if (!upper) return rounded(low << clz(low), power - <i32>clz(low), false);
  const shift = clz(upper);
  const significand = shift ? (upper << shift) | (low >> (64 - shift)) : upper;
  return rounded(significand, power + 64 - <i32>shift, low << shift != 0);
}

function quotient(digits: u64, power: i32): f64 {
  const five = powerOfFive(power);
  const divisor = five << clz(five);
  let dividend = digits << clz(digits);
  let exponent = <i32>clz(five) - <i32>clz(digits) - power - 64;
  let next: u64 = 0;
  if (dividend >= divisor) {
    next = (dividend & 1) << 31;
    dividend >>= 1;
    exponent++;
  }
  const high = divideDigit(dividend, next, divisor);
  const low = divideDigit(remainder, 0, divisor);
  return rounded((high << 32) | low, exponent, remainder != 0);
}
