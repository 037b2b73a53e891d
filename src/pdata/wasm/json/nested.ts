/**
 * Prints nested values of OTLP/JSON (`{"values":[{"stringValue":"a"},…]}`) as plain JSON (`["a",…]`) from their source,
 * which the indexer has checked. Of the entries of a map with equal keys only the last is kept: entries are printed in
 * their order, and superseded ones are removed from the output when their map ends, so that no part of the source is
 * walked twice.
 */
import { HEADER_BASE, HEADER_SCRATCH, KIND_ARRAY, TEXT_JSON_ESCAPED } from '../../layout';
import { writeEscaped } from '../encode/json-text';
import { putBase64, putDouble, putSigned } from '../encode/numbers';
import { copyBytes, out, roomAt, setOut } from '../encode/output';
import { allocateScratch } from '../tables';
import { bytesLength, bytesOffset, decodeBase64, isCanonicalBase64 } from './binary';
import * as members from './members';
import { appendEntry, removeSuperseded } from './entries';
import {
  doubleValue,
  integerValue,
  isDigits,
  isPlain,
  locateDouble,
  numberEnd,
  numberOffset,
  parseNumber,
  readSigned,
  resetNumbers,
} from './number';
import * as schema from './schema';
import {
  ESCAPES_BROKEN,
  copyEscaped,
  decodeText,
  readPlainText,
  readText,
  scanString,
  setEmptyText,
  stringEscapes,
  textFlags,
  textLength,
  textOffset,
} from './text';

/**
 * The limit of the output length: this multiple of the source, plus this much for a last value and stores past the end.
 */
const GROWTH: usize = 2;
const MARGIN: usize = 128;

/** The address of the next byte of output. */
let to: usize = 0;

/**
 * Prints the ArrayValue or KeyValueList (`kind`) of `length` bytes at `offset` to `target`; returns the address behind.
 */
export function printJsonNested(target: usize, kind: u32, offset: usize, length: u32): usize {
  roomAt(target, <usize>length * GROWTH + MARGIN);
  const scratch = load<u32>(HEADER_BASE, HEADER_SCRATCH);
  members.resetMembers(false);
  resetNumbers();
  to = target;
  if (kind == KIND_ARRAY) printArray(offset);
  else printMap(offset);
  store<u32>(HEADER_BASE, scratch, HEADER_SCRATCH);
  return to;
}

function printByte(byte: u32): void {
  store<u8>(to, byte);
  to += 1;
}

function printNull(): void {
  store<u32>(to, 0x6c6c756e);
  to += 4;
}

function printArray(at: usize): usize {
  printByte(0x5b);
  const start = to;
  at = members.openMessage(at, schema.LIST_MESSAGE);
  while ((at = members.nextMember(at))) {
    for (let element = members.firstElement(at); element; ) {
      element = members.nextElement(printValue(element));
      printByte(0x2c);
    }
    at = members.endOfList;
  }
  closeList(start, 0x5d);
  return members.endOfList;
}

/** Replaces the last comma by the closing bracket. */
function closeList(start: usize, bracket: u32): void {
  if (to != start) to -= 1;
  printByte(bracket);
}

/** Prints the AnyValue at `at`; returns the address behind it. */
function printValue(at: usize): usize {
  let found = false;
  at = members.openMessage(at, schema.ANY_VALUE_MESSAGE);
  while ((at = members.nextMember(at))) {
    found = true;
    at = printMember(at);
  }
  if (!found) printNull();
  return members.endOfList;
}

function printMember(at: usize): usize {
  switch (members.memberKind) {
    case schema.STRING_VALUE:
      return printText(at);
    case schema.BOOL_VALUE:
      return printBool(at);
    case schema.INT_VALUE: {
      at = readSigned(at);
      if (integerValue && isDigits()) to = copyBytes(to, numberOffset, numberEnd - numberOffset);
      else printInteger(); // also written -0
      return at;
    }
    case schema.DOUBLE_VALUE:
      return printDouble(at);
    case schema.BYTES_VALUE:
      return printBytes(at);
    case schema.ARRAY_VALUE:
      return printArray(at);
    default:
      return printMap(at);
  }
}

function printText(at: usize): usize {
  const end = scanString(at + 1);
  if (stringEscapes & ESCAPES_BROKEN) {
    printByte(0x22);
    to = copyEscaped(to, at + 1, <u32>(end - at - 1));
    printByte(0x22);
  } else to = copyBytes(to, at, end + 1 - at);
  return end + 1;
}

function printInteger(): void {
  setOut(to);
  putSigned(<i64>integerValue);
  to = out;
}

function printBool(at: usize): usize {
  const end = members.readBool(at);
  to = copyBytes(to, at, end - at);
  return end;
}

function printDouble(at: usize): usize {
  at = locateDouble(at);
  if (numberOffset && isPlain()) {
    to = copyBytes(to, numberOffset, numberEnd - numberOffset);
    return at;
  }
  if (numberOffset) parseNumber();
  setOut(to);
  putDouble(doubleValue);
  to = out;
  return at;
}

function printBytes(at: usize): usize {
  at = readPlainText(at);
  printByte(0x22);
  if (isCanonicalBase64(textOffset, textLength)) to = copyBytes(to, textOffset, textLength);
  else {
    decodeBase64(textOffset, textLength);
    setOut(to);
    putBase64(bytesOffset, bytesLength);
    to = out;
  }
  printByte(0x22);
  return at;
}

/** Prints the KeyValueList at `at`. The rows of its names are on top of scratch meanwhile. */
function printMap(at: usize): usize {
  printByte(0x7b);
  const start = to;
  const rows = load<u32>(HEADER_BASE, HEADER_SCRATCH);
  at = members.openMessage(at, schema.LIST_MESSAGE);
  while ((at = members.nextMember(at))) {
    for (let element = members.firstElement(at); element; ) element = members.nextElement(printEntry(element, rows));
    at = members.endOfList;
  }
  to = removeSuperseded(rows, start, to);
  store<u32>(HEADER_BASE, rows, HEADER_SCRATCH);
  closeList(start, 0x7d);
  return members.endOfList;
}

/** The printed name of the current entry, without its quotes. */
let nameOffset: usize = 0;
let nameLength: u32 = 0;

/** Prints the KeyValue at `at` and a comma, and appends its name to the rows. */
function printEntry(at: usize, rows: usize): usize {
  const top = load<u32>(HEADER_BASE, HEADER_SCRATCH);
  const start = to;
  let offset: usize = 0;
  let length: u32 = 0;
  let hasValue = false;
  at = members.openMessage(at, schema.KEY_VALUE_MESSAGE);
  while ((at = members.nextMember(at))) {
    if (members.memberKind == schema.KEY) {
      at = readText(at);
      printName(start);
      offset = nameOffset;
      length = nameLength;
    } else {
      at = printValue(at);
      hasValue = true;
    }
  }
  at = members.endOfList;
  if (!offset) {
    setEmptyText();
    printName(start);
    offset = nameOffset;
  }
  if (!hasValue) printNull();
  printByte(0x2c);
  store<u32>(HEADER_BASE, top, HEADER_SCRATCH);
  to = appendEntry(rows, offset, length, start, to);
  return at;
}

/**
 * Prints the text just read as the name of the entry that began at `start`, before its value if that was printed
 * already. Escapes are decoded and written again, so that equal names are equal bytes.
 */
function printName(start: usize): void {
  const value = to - start;
  if (textFlags & TEXT_JSON_ESCAPED) decodeText();
  printByte(0x22);
  to = writeEscaped(to, textOffset, textLength, textFlags);
  store<u16>(to, 0x3a22);
  to += 2;
  const size = to - start - value;
  if (value) {
    const copy = allocateScratch(<u32>size, start);
    memory.copy(copy, start + value, size);
    memory.copy(start + size, start, value);
    memory.copy(start, copy, size);
  }
  nameOffset = start + 1;
  nameLength = <u32>size - 3;
}
