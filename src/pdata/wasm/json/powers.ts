/**
 * Conversion between decimals and doubles of any size, by products of 128 bits. A power of ten is an exact one below
 * 10^27 times an entry of a short table, which is cut off at 128 bits. The error of the product is bounded, so
 * undecided roundings are detected. These numbers, about one in 2^60 unless a sender searches for them, are left to the
 * host.
 */
import { multiply, powerOfFive, upper } from './decimal';

/** The exact powers of ten are below this one. */
const STEP: i32 = 27;
const FIRST: i32 = -13;
/** Powers beyond this make any number of 19 digits zero or infinite. */
export const LEAST_POWER: i32 = -351;
export const LARGEST_POWER: i32 = 350;

/** The upper and the lower half of each, the top bit set. */
const COARSE = memory.data<u64>([
  0x8049a4ac0c5811ae,
  0x205b896d777d6278, // 10^-351
  0xcf42894a5dce35ea,
  0x52064cac828675b9, // 10^-324
  0xa76c582338ed2621,
  0xaf2af2b80af6f24e, // 10^-297
  0x873e4f75e2224e68,
  0x5a7744a6e804a291, // 10^-270
  0xda7f5bf590966848,
  0xaf39a475506a899e, // 10^-243
  0xb080392cc4349dec,
  0xbd8d794d96aacfb3, // 10^-216
  0x8e938662882af53e,
  0x547eb47b7282ee9c, // 10^-189
  0xe65829b3046b0afa,
  0xcb4a5a3112a5112, // 10^-162
  0xba121a4650e4ddeb,
  0x92f34d62616ce413, // 10^-135
  0x964e858c91ba2655,
  0x3a6a07f8d510f86f, // 10^-108
  0xf2d56790ab41c2a2,
  0xfae27299423fb9c3, // 10^-81
  0xc428d05aa4751e4c,
  0xaa97e14c3c26b886, // 10^-54
  0x9e74d1b791e07e48,
  0x775ea264cf55347d, // 10^-27
  0x8000000000000000,
  0x0, // 10^0
  0xcecb8f27f4200f3a,
  0x0, // 10^27
  0xa70c3c40a64e6c51,
  0x999090b65f67d924, // 10^54
  0x86f0ac99b4e8dafd,
  0x69a028bb3ded71a3, // 10^81
  0xda01ee641a708de9,
  0xe80e6f4820cc9495, // 10^108
  0xb01ae745b101e9e4,
  0x5ec05dcff72e7f8f, // 10^135
  0x8e41ade9fbebc27d,
  0x14588f13be847307, // 10^162
  0xe5d3ef282a242e81,
  0x8f1668c8a86da5fa, // 10^189
  0xb9a74a0637ce2ee1,
  0x6d953e2bd7173692, // 10^216
  0x95f83d0a1fb69cd9,
  0x4abdaf101564f98e, // 10^243
  0xf24a01a73cf2dccf,
  0xbc633b39673c8cec, // 10^270
  0xc3b8358109e84f07,
  0xa862f80ec4700c8, // 10^297
  0x9e19db92b4e31ba9,
  0x6c07a2c26a8346d1, // 10^324
]);

/** The error bound of a product, in units of its lowest bit. */
const ERROR: u64 = 16;
const HALF: u64 = 1 << 63;
const MANTISSA: u64 = 0xfffffffffffff;
const MANTISSA_BITS: i32 = 53;
const LEAST_EXPONENT: i32 = -1022;
const LARGEST_EXPONENT: i32 = 1023;

/** The last product: (high × 2^64 + low) × 2^exponent, the top bit of `high` set; its error is at most `error`. */
let high: u64 = 0;
let low: u64 = 0;
let exponent: i32 = 0;
let error: u64 = 0;

/** Whether the last rounding is decided. */
export let isDecided: bool = true;

/** `digits` × 10^`power`, within the bounds above; `digits` is not zero. */
function scale(digits: u64, power: i32): void {
  const table = <i32>Math.floor(<f64>power / STEP);
  const fine = power - table * STEP;
  low = multiply(digits, powerOfFive(fine));
  high = upper;
  exponent = fine;
  error = 0;
  normalize();
  if (table != 0) timesCoarse(table);
}

function normalize(): void {
  if (!high) {
    high = low;
    low = 0;
    exponent -= 64;
  }
  const shift = <i32>clz(high);
  if (!shift) return;
  high = (high << shift) | (low >> (64 - shift));
  low <<= shift;
  exponent -= shift;
}

/** The upper 128 bits of the product with an entry of the table. */
function timesCoarse(table: i32): void {
  const entry = COARSE + ((<usize>(table - FIRST)) << 4);
  const coarseHigh = load<u64>(entry);
  const coarseLow = load<u64>(entry, 8);
  multiply(high, coarseLow);
  const first = upper;
  multiply(low, coarseHigh);
  const second = upper;
  const middle = multiply(high, coarseHigh);
  let top = upper;
  let sum = middle + first;
  if (sum < middle) top++;
  const before = sum;
  sum += second;
  if (sum < before) top++;
  high = top;
  low = sum;
  exponent += ((217706 * table * STEP) >> 16) - 127 + 128;
  error = ERROR;
  normalize();
}

/** The double nearest to the last product; see `isDecided`. */
function rounded(): f64 {
  isDecided = true;
  const top = exponent + 127;
  if (top > LARGEST_EXPONENT) return Infinity;
  const kept = top < LEAST_EXPONENT ? MANTISSA_BITS - (LEAST_EXPONENT - top) : MANTISSA_BITS;
  if (kept < 0) return 0;
  let whole = kept == 0 ? 0 : high >> <u64>(64 - kept);
  const rest = kept == 0 ? high : high << (<u64>kept);
  isDecided = decides(rest, kept);
  if (rest > HALF || (rest == HALF && (low != 0 || (whole & 1) != 0))) whole++;
  // A carry out of the mantissa increments the exponent; this also holds for the least exponent.
  if (kept < MANTISSA_BITS) return reinterpret<f64>(whole);
  return reinterpret<f64>(whole - (MANTISSA + 1) + ((<u64>(top + LARGEST_EXPONENT)) << 52));
}

/**
 * Whether the bits that are cut off, of which `rest` are the upper ones, are certainly above or below half of the last
 * place.
 */
function decides(rest: u64, kept: i32): bool {
  if (error == 0) return true;
  if (rest == HALF) return low > error;
  // The bits of `rest` below those of `high` are zero.
  const least = (<u64>1) << (<u64>kept);
  return rest != HALF - least || low < 0 - error;
}

/**
 * The double nearest to `digits` × 10^`power`, infinite beyond all doubles. `isCut`: further digits follow the given
 * ones. Sets `isDecided`.
 */
export function nearestOfAny(digits: u64, power: i32, isCut: bool): f64 {
  isDecided = true;
  if (!digits || power < LEAST_POWER) return 0;
  if (power > LARGEST_POWER) return Infinity;
  scale(digits, power);
  const least = rounded();
  if (!isCut) return least;
  const decided = isDecided;
  scale(digits + 1, power);
  const most = rounded();
  isDecided = decided && isDecided && least == most;
  return least;
}

/** The part that the last `wholeOf` has cut off, in units of 2^-64. */
export let fraction: u64 = 0;
/** Whether smaller bits were cut off too. */
export let hasMore: bool = false;
/** The error bound of the fraction; 0: it is exact. */
export let doubt: u64 = 0;

/** The whole part of `significand` × 2^`binary` × 10^`decimals`, which has at most 18 digits. */
export function wholeOf(significand: u64, binary: i32, decimals: i32): u64 {
  scale(significand, decimals);
  doubt = error;
  const shift = -(exponent + binary);
  hasMore = true;
  if (shift >= 128) {
    fraction = shift > 191 ? 0 : high >> <u64>(shift - 128);
    return 0;
  }
  const behind = <u64>(128 - shift);
  fraction = (high << behind) | (low >> (64 - behind));
  hasMore = low << behind != 0;
  return high >> (64 - behind);
}
