/**
 * JSON numbers, and the strings that OTLP/JSON allows instead: the grammar, exact integers, doubles. Integers are never
 * read through a double.
 */
import { FAIL_BUDGET, FAIL_JSON, FAIL_PAYLOAD, MAX_HARD_NUMBERS } from '../../layout';
import { fail, parseDouble } from '../fail';
import { MAX_DECIMAL_POWER, nearestDouble } from './decimal';
import { isDecided, nearestOfAny } from './powers';
import { QUOTE, readPlainText, textLength, textOffset } from './text';

const MINUS: u32 = 0x2d;
const I64_MAX: u64 = 0x7fffffffffffffff;

/** Flags of the number scanned last: a sign; a fraction or an exponent. */
const HAS_SIGN: u32 = 1;
const HAS_MORE: u32 = 2;
let numberForm: u32 = 0;

/** The text of the number located last. */
export let numberOffset: usize = 0;
export let numberEnd: usize = 0;

/** The doubles that JSON numbers cannot express, and the double read last. */
export let doubleValue: f64 = 0;
/** The integer read last. */
export let integerValue: u64 = 0;

/** The longest text and the largest exponent of a number that is stored as written. */
const PLAIN_LENGTH: usize = 40;
const PLAIN_EXPONENT: i32 = 300;
/** The exponents of the first digit for which every number is a double of full precision. */
const PLAIN_MAGNITUDE: i32 = 307;
/** Larger exponents all have the same result, whatever the digits. */
const MAX_EXPONENT: i32 = 100000000;

const MAX_DIGITS: i32 = 19;

function isDigit(character: u32): bool {
  return character - 0x30 < 10;
}

/** The address behind a run of digits, 0 when there is none. */
function digitsEnd(at: usize): usize {
  if (!isDigit(load<u8>(at))) return 0;
  do at++;
  while (isDigit(load<u8>(at)));
  return at;
}

/** The address behind the number at `at` according to JSON's grammar, 0 when there is none. Sets `numberForm`. */
function endOfNumber(at: usize): usize {
  numberForm = 0;
  if (load<u8>(at) == MINUS) {
    numberForm = HAS_SIGN;
    at++;
  }
  at = load<u8>(at) == 0x30 ? at + 1 : digitsEnd(at);
  if (at && load<u8>(at) == 0x2e) {
    numberForm |= HAS_MORE;
    at = digitsEnd(at + 1);
  }
  if (at && (load<u8>(at) | 0x20) == 0x65) {
    numberForm |= HAS_MORE;
    const sign = <u32>load<u8>(at, 1);
    at = digitsEnd(sign == MINUS || sign == 0x2b ? at + 2 : at + 1);
  }
  return at;
}

/** Checks the number at `at`; returns the address behind it. */
export function scanNumber(at: usize): usize {
  const end = endOfNumber(at);
  if (!end) fail(FAIL_JSON, at);
  return end;
}

/**
 * Locates a number, bare or in quotes; returns the address behind the value. A quoted text that is no number fails with
 * `code`.
 */
function locateNumber(at: usize, code: i32): usize {
  if (load<u8>(at) != QUOTE) {
    numberOffset = at;
    numberEnd = scanNumber(at);
    return numberEnd;
  }
  at = readPlainText(at);
  numberOffset = textOffset;
  numberEnd = textOffset + textLength;
  if (endOfNumber(numberOffset) != numberEnd) fail(code, numberOffset);
  return at;
}

/** The value of the digits from `at` to `end`, as `integerValue`; false when it exceeds 64 bits. */
function readDigits(at: usize, end: usize): bool {
  const digits = end - at;
  if (digits > 20) return false;
  let value: u64 = 0;
  // The twentieth digit may exceed 64 bits.
  const safe = digits == 20 ? end - 1 : end;
  for (; at < safe; at++) value = value * 10 + (<u64>load<u8>(at) - 0x30);
  if (at < end) {
    const last = <u64>load<u8>(at) - 0x30;
    if (value > u64.MAX_VALUE / 10 || (value == u64.MAX_VALUE / 10 && last > u64.MAX_VALUE % 10)) return false;
    value = value * 10 + last;
  }
  integerValue = value;
  return true;
}

/** Whether the number just located is written without a fraction and an exponent. */
export function isDigits(): bool {
  return (numberForm & HAS_MORE) == 0;
}

/**
 * The number just located, whose digits begin at `at`, as `integerValue`. ProtoJSON allows `1.0` and `1e2` too. False
 * when it is not whole, exceeds 64 bits, or has more than 19 digits in such a form.
 */
function readInteger(at: usize): bool {
  if (isDigits()) return readDigits(at, numberEnd);
  readParts();
  let value = significand;
  let zeros = power + cutCount;
  for (; value != 0 && zeros < 0; zeros++) {
    if (value % 10 != 0) return false;
    value /= 10;
  }
  for (; value != 0 && zeros > 0; zeros--) {
    if (value > u64.MAX_VALUE / 10) return false;
    value *= 10;
  }
  integerValue = value;
  return !hasCutDigits;
}

/** Reads a timestamp into `integerValue`: an unsigned integer of nanoseconds up to 2^63-1. */
export function readTime(at: usize): usize {
  const next = locateNumber(at, FAIL_PAYLOAD);
  if (numberForm || !readDigits(numberOffset, numberEnd) || integerValue > I64_MAX) fail(FAIL_PAYLOAD, at);
  return next;
}

/** Reads an unsigned 64-bit integer into `integerValue`. */
export function readUnsigned(at: usize): usize {
  const next = locateNumber(at, FAIL_JSON);
  if (numberForm & HAS_SIGN || !readInteger(numberOffset)) fail(FAIL_JSON, at);
  return next;
}

/** Reads a signed 64-bit integer into `integerValue`, as its bits. */
export function readSigned(at: usize): usize {
  const next = locateNumber(at, FAIL_JSON);
  const negative: u64 = numberForm & HAS_SIGN;
  if (!readInteger(numberOffset + <usize>negative)) fail(FAIL_JSON, at);
  if (integerValue > I64_MAX + negative) fail(FAIL_JSON, at);
  if (negative) integerValue = 0 - integerValue;
  return next;
}

/** Reads an unsigned 32-bit integer into `integerValue`. */
export function readUnsigned32(at: usize): usize {
  const next = readUnsigned(at);
  if (integerValue > u32.MAX_VALUE) fail(FAIL_JSON, at);
  return next;
}

/** Reads a signed 32-bit integer into `integerValue`, as its bits. */
export function readSigned32(at: usize): usize {
  const next = readSigned(at);
  if (<i64>integerValue != <i64>(<i32>integerValue)) fail(FAIL_JSON, at);
  return next;
}

/** Reads an enum into `integerValue`: only numbers are allowed, and a number above `last` becomes 0. */
export function readEnum(at: usize, last: u32): usize {
  if (load<u8>(at) == QUOTE) fail(FAIL_JSON, at);
  const next = readSigned32(at);
  if (integerValue > last) integerValue = 0;
  return next;
}

/**
 * Reads any spelling of a double; returns the address behind it. A number stays text (`numberOffset` to `numberEnd`).
 * The words for values that JSON numbers cannot express set `numberOffset` to 0 and `doubleValue`.
 */
export function locateDouble(at: usize): usize {
  if (load<u8>(at) != QUOTE) return locateNumber(at, FAIL_JSON);
  const next = readPlainText(at);
  numberOffset = 0;
  const word = load<u64>(textOffset);
  if (textLength == 3 && (word & 0xffffff) == 0x4e614e) doubleValue = NaN;
  else if (textLength == 8 && word == 0x7974696e69666e49) doubleValue = Infinity;
  else if (textLength == 9 && word == 0x74696e69666e492d && load<u8>(textOffset, 8) == 0x79) doubleValue = -Infinity;
  else {
    numberOffset = textOffset;
    numberEnd = textOffset + textLength;
    if (endOfNumber(numberOffset) != numberEnd) fail(FAIL_JSON, at);
  }
  return next;
}

/** Reads a double into `doubleValue`. */
export function readDouble(at: usize): usize {
  const next = locateDouble(at);
  if (numberOffset) parseNumber();
  return next;
}

/** Whether the number just located may be stored as written: it is short, and a double without loss of magnitude. */
export function isPlain(): bool {
  if (numberEnd - numberOffset > PLAIN_LENGTH) return false;
  readParts();
  const exponent = power + behindPoint;
  if (exponent > PLAIN_EXPONENT || exponent < -PLAIN_EXPONENT) return false;
  const magnitude = power + digitCount + cutCount - 1;
  return digitCount == 0 || (magnitude <= PLAIN_MAGNITUDE && magnitude >= -PLAIN_MAGNITUDE);
}

/** Numbers of the request that the host had to read. */
let hardNumbers: u32 = 0;
/** A long one counts as several: one per this many bytes. */
const HARD_BYTES: u32 = 8;

/** Begins a walk. */
export function resetNumbers(): void {
  hardNumbers = 0;
}

/** The double nearest to the number just located, as `doubleValue`; a number beyond all doubles is refused. */
export function parseNumber(): void {
  readParts();
  const isShort =
    digitCount <= MAX_DIGITS && cutCount == 0 && power <= MAX_DECIMAL_POWER && power >= -MAX_DECIMAL_POWER;
  const magnitude = isShort
    ? nearestDouble(significand, power)
    : nearestOfAny(significand, power + cutCount, hasCutDigits);
  doubleValue = load<u8>(numberOffset) == MINUS ? -magnitude : magnitude;
  if (!isShort && !isDecided) {
    const length = <u32>(numberEnd - numberOffset);
    hardNumbers += 1 + length / HARD_BYTES;
    if (hardNumbers > <u32>MAX_HARD_NUMBERS) fail(FAIL_BUDGET, numberOffset);
    doubleValue = parseDouble(numberOffset, length);
  }
  if (abs(doubleValue) == Infinity) fail(FAIL_JSON, numberOffset);
}

// The parts of the number just located: the first digits as an integer, their count, the count of the further digits,
// whether one of those is not zero, and the power of ten of the last digit, which results from the exponent and the
// digits behind the point.
let significand: u64 = 0;
let digitCount: i32 = 0;
let cutCount: i32 = 0;
let hasCutDigits: bool = false;
let power: i32 = 0;
let behindPoint: i32 = 0;

function readParts(): void {
  let at = numberOffset;
  if (load<u8>(at) == MINUS) at++;
  significand = 0;
  digitCount = 0;
  cutCount = 0;
  hasCutDigits = false;
  behindPoint = 0;
  let step = 0;
  for (; at < numberEnd; at++) {
    const character = <u32>load<u8>(at);
    const digit = character - 0x30;
    if (digit > 9) {
      if ((character | 0x20) == 0x65) break;
      step = 1;
      continue;
    }
    behindPoint += step;
    if (digitCount < MAX_DIGITS) {
      significand = significand * 10 + digit;
      if (digitCount || digit) digitCount++;
    } else {
      cutCount++;
      if (digit) hasCutDigits = true;
    }
  }
  power = (at < numberEnd ? exponentAt(at + 1) : 0) - behindPoint;
}

/** The exponent from `at` to the end of the number. */
function exponentAt(at: usize): i32 {
  const negative = load<u8>(at) == MINUS;
  let exponent = 0;
  for (; at < numberEnd; at++) {
    const digit = <i32>load<u8>(at) - 0x30;
    if (digit >= 0) exponent = min(exponent * 10 + digit, MAX_EXPONENT);
  }
  return negative ? -exponent : exponent;
}
