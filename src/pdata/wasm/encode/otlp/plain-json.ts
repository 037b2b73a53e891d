/**
 * Plain JSON text as protobuf values: the form of a nested value after redaction. Objects become lists of key and
 * value; numbers become integers when they are written as integers and fit.
 */
import { HEADER_BASE, HEADER_SCRATCH } from '../../../layout';
import { skipSpace } from '../../json/members';
import { doubleValue, numberEnd, readDouble, resetNumbers } from '../../json/number';
import { readText, textFlags, textLength, textOffset } from '../../json/text';
import { mayPause } from '../../pause';
import { beginMessage, endMessage, putBits, putText } from './fields';
import * as anyValue from './any-value';

const I64_MAX: u64 = 0x7fffffffffffffff;
/** This many digits always fit 64 bits. */
const SAFE_DIGITS: usize = 19;

/** Puts the member of an AnyValue for the JSON text at `offset`, which was computed from a checked value. */
export function putPlainJson(offset: usize): void {
  const scratch = load<u32>(HEADER_BASE, HEADER_SCRATCH);
  resetNumbers();
  putMember(skipSpace(offset));
  store<u32>(HEADER_BASE, scratch, HEADER_SCRATCH);
}

/** Puts the JSON value at `at`; returns the address behind it. */
function putMember(at: usize): usize {
  switch (<u32>load<u8>(at)) {
    case 0x22: {
      at = readText(at);
      putText(anyValue.STRING_VALUE, textOffset, textLength, textFlags);
      return at;
    }
    case 0x7b:
      return putMap(at);
    case 0x5b:
      return putArray(at);
    case 0x74: {
      anyValue.putInteger(anyValue.BOOL_VALUE, 1);
      return at + 4;
    }
    case 0x66: {
      anyValue.putInteger(anyValue.BOOL_VALUE, 0);
      return at + 5;
    }
    case 0x6e:
      return at + 4;
    default:
      return putNumber(at);
  }
}

function putNumber(at: usize): usize {
  const end = readDouble(at);
  const negative = load<u8>(at) == 0x2d;
  let magnitude: u64 = 0;
  let digit = negative ? at + 1 : at;
  const whole = numberEnd - digit <= SAFE_DIGITS;
  for (; whole && digit < numberEnd && <u32>load<u8>(digit) - 0x30 < 10; digit++)
    magnitude = magnitude * 10 + (<u64>load<u8>(digit) - 0x30);
  const isInteger = whole && digit == numberEnd && magnitude <= I64_MAX;
  // JSON writes a negative zero, and every double that is whole, without a point.
  if (isInteger) anyValue.putInteger(anyValue.INT_VALUE, negative ? 0 - magnitude : magnitude);
  else putBits(anyValue.DOUBLE_VALUE, reinterpret<u64>(doubleValue));
  return end;
}

function putArray(at: usize): usize {
  const list = beginMessage(anyValue.ARRAY_VALUE);
  at = skipSpace(at + 1);
  while (load<u8>(at) != 0x5d) {
    mayPause();
    const value = beginMessage(anyValue.VALUES);
    at = skipSpace(putMember(at));
    endMessage(value);
    if (load<u8>(at) == 0x2c) at = skipSpace(at + 1);
  }
  endMessage(list);
  return at + 1;
}

function putMap(at: usize): usize {
  const list = beginMessage(anyValue.KVLIST_VALUE);
  at = skipSpace(at + 1);
  while (load<u8>(at) != 0x7d) {
    mayPause();
    const entry = beginMessage(anyValue.VALUES);
    at = skipSpace(readText(at));
    putText(anyValue.KEY, textOffset, textLength, textFlags);
    const value = beginMessage(anyValue.VALUE);
    at = skipSpace(putMember(skipSpace(at + 1)));
    endMessage(value);
    endMessage(entry);
    if (load<u8>(at) == 0x2c) at = skipSpace(at + 1);
  }
  endMessage(list);
  return at + 1;
}
