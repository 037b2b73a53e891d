/** Numbers, ids and times as text: decimal integers, doubles, lower-case hex, base64, RFC 3339. */
import { printDouble } from '../fail';
import { mayPauseAt, PAUSE_BYTES } from '../pause';
import { out, putByte, put, room, setOut } from './output';
import { findShortest, shortestDecimals, shortestDigits } from './shortest';

/** Every integer up to this limit is an exact double and has at most 15 digits, so its decimal text is unique. */
const EXACT_LIMIT: f64 = 1e15;
/** More decimals than this are left to the host's shortest printing. */
const EXACT_DECIMALS: i32 = 6;

/** Eight decimal digits of a number below 10^8, one a byte, the first in the lowest byte; add 0x30 to each for text. */
// @ts-ignore: decorator
@inline
function eightDigits(value: u32): u64 {
  const high = value / 10000;
  const fours = <u64>high | ((<u64>(value - high * 10000)) << 32);
  const tops = ((fours * 10486) >> 20) & 0x7f0000007f;
  const hundreds = ((fours - tops * 100) << 16) + tops;
  const tens = ((hundreds * 103) >> 10) & 0x000f000f000f000f;
  return tens + ((hundreds - tens * 10) << 8);
}

const ASCII_ZEROS: u64 = 0x3030303030303030;

// @ts-ignore: decorator
@inline
function writeBelowEight(target: usize, value: u32): usize {
  const digits = eightDigits(value);
  const zeros = value == 0 ? 7 : <u64>ctz(digits) >> 3;
  store<u64>(target, (digits | ASCII_ZEROS) >> (zeros << 3));
  return target + 8 - <usize>zeros;
}

/** Writes a decimal of at most 20 digits; returns the position after it. */
function writeUnsigned(target: usize, value: u64): usize {
  if (value < 100000000) return writeBelowEight(target, <u32>value);
  const high = value / 100000000;
  const low = eightDigits(<u32>(value - high * 100000000)) | ASCII_ZEROS;
  if (high < 100000000) {
    target = writeBelowEight(target, <u32>high);
  } else {
    const top = high / 100000000;
    target = writeBelowEight(target, <u32>top);
    store<u64>(target, eightDigits(<u32>(high - top * 100000000)) | ASCII_ZEROS);
    target += 8;
  }
  store<u64>(target, low);
  return target + 8;
}

export function putUnsigned(value: u64): void {
  setOut(writeUnsigned(out, value));
}

export function putSigned(value: i64): void {
  if (value < 0) putByte(0x2d);
  putUnsigned(value < 0 ? 0 - <u64>value : <u64>value);
}

function isFinite64(value: f64): bool {
  return (reinterpret<u64>(value) & 0x7ff0000000000000) != 0x7ff0000000000000;
}

/** `whole` with a decimal point before its last `decimals` digits, and without zeros at the end of them. */
function putDecimal(whole: u64, decimals: i32): void {
  // The product may have been rounded although fewer decimals suffice.
  while (decimals > 0 && whole % 10 == 0) {
    whole /= 10;
    decimals -= 1;
  }
  let power: u64 = 1;
  for (let i = 0; i < decimals; i++) power *= 10;
  const integer = whole / power;
  putUnsigned(integer);
  if (decimals == 0) return;
  putByte(0x2e);
  const digits = eightDigits(<u32>(whole - integer * power)) | ASCII_ZEROS;
  store<u64>(out, digits >> ((<u64>(8 - decimals)) << 3));
  setOut(out + <usize>decimals);
}

/** A finite double in the fewest digits that read back as the same double. */
function putFinite(value: f64): void {
  const magnitude = abs(value);
  if (magnitude < EXACT_LIMIT) {
    let power: f64 = 1;
    for (let decimals = 0; decimals <= EXACT_DECIMALS; decimals++) {
      const whole = magnitude * power;
      if (whole >= EXACT_LIMIT) break;
      if (whole == Math.floor(whole) && whole / power == magnitude) {
        if (reinterpret<i64>(value) < 0) putByte(0x2d);
        putDecimal(<u64>whole, decimals);
        return;
      }
      power *= 10;
    }
  }
  if (findShortest(magnitude)) {
    if (value < 0) putByte(0x2d);
    putPoint(shortestDigits, shortestDecimals);
  } else {
    setOut(out + <usize>printDouble(value, out));
  }
}

/**
 * JavaScript writes an exponent for more digits before the point than this, or as many zeros before the first digit.
 */
const LARGEST_POINT: i32 = 21;
const LEAST_POINT: i32 = -6;

/** The digits of `whole`, of which `decimals` are behind the point, without trailing zeros. */
function putPoint(whole: u64, decimals: i32): void {
  while (whole % 10 == 0 && whole != 0) {
    whole /= 10;
    decimals -= 1;
  }
  const start = out;
  putUnsigned(whole);
  const count = <i32>(out - start);
  const before = count - decimals;
  if (before > LARGEST_POINT || before <= LEAST_POINT) {
    if (count > 1) insertPoint(start, 1);
    putExponent(before - 1);
  } else if (decimals <= 0) {
    for (let i = decimals; i < 0; i++) putByte(0x30);
  } else if (before > 0) {
    insertPoint(start, before);
  } else {
    const zeros = 2 - before; // with the one before the point
    memory.copy(start + zeros, start, count);
    for (let i = 0; i < zeros; i++) store<u8>(start + i, 0x30);
    store<u8>(start, 0x2e, 1);
    setOut(out + zeros);
  }
}

function insertPoint(start: usize, before: i32): void {
  memory.copy(start + before + 1, start + before, out - start - before);
  store<u8>(start + before, 0x2e);
  setOut(out + 1);
}

function putExponent(exponent: i32): void {
  putByte(0x65);
  putByte(exponent < 0 ? 0x2d : 0x2b);
  putUnsigned(<u64>abs(exponent));
}

/**
 * A double as JSON: a number, or one of three strings for values that JSON numbers cannot express. Needs 40 bytes of
 * room.
 */
export function putDouble(value: f64): void {
  if (isFinite64(value)) putFinite(value);
  else if (isNaN(value)) put('"NaN"');
  else if (value > 0) put('"Infinity"');
  else put('"-Infinity"');
}

/** A double as plain text. */
export function putDoubleText(value: f64): void {
  if (isFinite64(value)) putFinite(value);
  else if (isNaN(value)) put('NaN');
  else if (value > 0) put('Infinity');
  else put('-Infinity');
}

/** Sixteen hex digits of eight bytes. */
// @ts-ignore: decorator
@inline
export function putHex8(offset: usize): void {
  const bytes = v128.load64_zero(offset);
  const high = i8x16.shr_u(bytes, 4);
  const low = v128.and(bytes, i8x16.splat(15));
  const nibbles = i8x16.shuffle(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  v128.store(
    out,
    i8x16.swizzle(
      i8x16(0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66),
      nibbles,
    ),
  );
  setOut(out + 16);
}

function base64Digit(bits: u32): u32 {
  if (bits < 26) return 0x41 + bits;
  if (bits < 52) return 0x61 - 26 + bits;
  if (bits < 62) return 0x30 - 52 + bits;
  return bits == 62 ? 0x2b : 0x2f;
}

// @ts-ignore: decorator
@inline
function base64Four(bits: u32): u32 {
  return (
    base64Digit((bits >> 18) & 63) |
    (base64Digit((bits >> 12) & 63) << 8) |
    (base64Digit((bits >> 6) & 63) << 16) |
    (base64Digit(bits & 63) << 24)
  );
}

/** Bytes in the standard base64 alphabet, padded. */
export function putBase64(offset: usize, length: u32): void {
  room(<usize>length + (<usize>length >> 1) + 32);
  const whole = offset + length - (length % 3);
  let target = out;
  let mark = offset + PAUSE_BYTES;
  for (; offset < whole; offset += 3, target += 4) {
    mark = mayPauseAt(offset, mark);
    store<u32>(
      target,
      base64Four(((<u32>load<u8>(offset)) << 16) | ((<u32>load<u8>(offset, 1)) << 8) | <u32>load<u8>(offset, 2)),
    );
  }
  const rest = length % 3;
  if (rest == 1) {
    store<u32>(target, (base64Four((<u32>load<u8>(offset)) << 16) & 0xffff) | 0x3d3d0000);
    target += 4;
  } else if (rest == 2) {
    store<u32>(
      target,
      (base64Four(((<u32>load<u8>(offset)) << 16) | ((<u32>load<u8>(offset, 1)) << 8)) & 0xffffff) | 0x3d000000,
    );
    target += 4;
  }
  setOut(target);
}

/** Whole 1e-8 dollars as a decimal with eight digits. */
export function putMoney(amount: i64): void {
  if (amount < 0) putByte(0x2d);
  const magnitude = amount < 0 ? 0 - <u64>amount : <u64>amount;
  const integer = magnitude / 100000000;
  putUnsigned(integer);
  putByte(0x2e);
  store<u64>(out, eightDigits(<u32>(magnitude - integer * 100000000)) | ASCII_ZEROS);
  setOut(out + 8);
}

function putDigits(value: u32, count: i32): void {
  store<u64>(out, (eightDigits(value) | ASCII_ZEROS) >> ((<u64>(8 - count)) << 3));
  setOut(out + <usize>count);
}

const DAY: i64 = 86400000000;

/** Microseconds since the Unix epoch as RFC 3339 in UTC, years 0 to 9999. */
export function putTimestamp(microseconds: i64): void {
  let days = microseconds / DAY;
  let rest = microseconds - days * DAY;
  if (rest < 0) {
    rest += DAY;
    days -= 1;
  }
  // Civil date from days: years begin in March, eras have 400 years.
  const shifted = days + 719468;
  const era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  const dayOfEra = <u32>(shifted - era * 146097);
  const yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365;
  const dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const marchMonth = (5 * dayOfYear + 2) / 153;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = <u32>(era * 400) + yearOfEra + (month <= 2 ? 1 : 0);
  putDigits(year, 4);
  putByte(0x2d);
  putDigits(month, 2);
  putByte(0x2d);
  putDigits(dayOfYear - (153 * marchMonth + 2) / 5 + 1, 2);
  putByte(0x54);
  const seconds = <u32>(rest / 1000000);
  putDigits(seconds / 3600, 2);
  putByte(0x3a);
  putDigits((seconds / 60) % 60, 2);
  putByte(0x3a);
  putDigits(seconds % 60, 2);
  putByte(0x2e);
  putDigits(<u32>(rest - <i64>seconds * 1000000), 6);
  putByte(0x5a);
}
