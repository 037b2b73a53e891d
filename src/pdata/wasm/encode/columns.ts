/**
 * One column of a row, in either format. NDJSON: the label `,"name":` and the value. COPY BINARY: a 32-bit length, -1
 * for null, and the value in network byte order. Both formats use the same list of columns, so they cannot diverge.
 */
import { FIXED_ROOM, out, put, putByte, room, setOut } from './output';
import { putEscaped, putPlain } from './json-text';
import { putDouble, putHex8, putMoney, putSigned, putTimestamp, putUnsigned } from './numbers';

/** Whether rows are written as COPY BINARY tuples; else as NDJSON lines. */
export let copying: bool = false;

export function setCopying(copy: bool): void {
  copying = copy;
}

/** Microseconds between the Unix epoch and that of Postgres, 2000-01-01. */
const POSTGRES_EPOCH: i64 = 946684800000000;
const JSONB_VERSION: u32 = 1;
const NULL_FIELD: u32 = 0xffffffff;

/** Begins a row of `fields` columns; `opening` is the beginning of an NDJSON line. */
export function beginRow(fields: u32, opening: string): void {
  room(FIXED_ROOM);
  if (copying) {
    store<u16>(out, bswap<u16>(<u16>fields));
    setOut(out + 2);
  } else {
    put(opening);
  }
}

export function endRow(): void {
  if (copying) return;
  room(FIXED_ROOM);
  store<u16>(out, 0x0a7d);
  setOut(out + 2);
}

// @ts-ignore: decorator
@inline
function putField32(value: u32): void {
  store<u32>(out, bswap<u32>(value));
  setOut(out + 4);
}

function putField64(value: u64): void {
  store<u32>(out, bswap<u32>(8));
  store<u64>(out, bswap<u64>(value), 4);
  setOut(out + 12);
}

export function nullColumn(label: string): void {
  room(FIXED_ROOM);
  if (copying) {
    putField32(NULL_FIELD);
  } else {
    put(label);
    store<u32>(out, 0x6c6c756e); // null
    setOut(out + 4);
  }
}

/** A text; empty stays empty. */
export function textColumn(label: string, offset: usize, length: u32, flags: u32): void {
  room(FIXED_ROOM);
  if (copying) {
    const field = out;
    setOut(field + 4);
    putPlain(offset, length, flags);
    store<u32>(field, bswap<u32>(<u32>(out - field - 4)));
  } else {
    put(label);
    putByte(0x22);
    putEscaped(offset, length, flags);
    putByte(0x22);
  }
}

/** A text; empty means absent. */
// @ts-ignore: decorator
@inline
export function optionalTextColumn(label: string, offset: usize, length: u32, flags: u32): void {
  if (length == 0) nullColumn(label);
  else textColumn(label, offset, length, flags);
}

/** The word of a small number; a number without a word is null. */
// @ts-ignore: decorator
@inline
export function wordOf(words: StaticArray<string>, number: u32): string {
  return <i32>number < words.length ? unchecked(words[number]) : '';
}

/** One of our own words; empty is null. */
export function wordColumn(label: string, word: string): void {
  if (word.length == 0) {
    nullColumn(label);
    return;
  }
  room(FIXED_ROOM);
  if (copying) {
    putField32(word.length);
    put(word);
  } else {
    put(label);
    putByte(0x22);
    put(word);
    putByte(0x22);
  }
}

/** A trace id of 16 bytes; all zero is null. */
export function traceIdColumn(label: string, id: usize): void {
  if ((load<u64>(id) | load<u64>(id, 8)) == 0) {
    nullColumn(label);
    return;
  }
  room(FIXED_ROOM);
  if (copying) {
    putField32(16);
    v128.store(out, v128.load(id));
    setOut(out + 16);
  } else {
    put(label);
    putByte(0x22);
    putHex8(id);
    putHex8(id + 8);
    putByte(0x22);
  }
}

/** The id of a content, in COPY format only. */
export function contentIdColumn(id: usize): void {
  room(FIXED_ROOM);
  putField32(16);
  v128.store(out, v128.load(id));
  setOut(out + 16);
}

/** A span id of 8 bytes; all zero is null. */
export function spanIdColumn(label: string, id: usize): void {
  const bits = load<u64>(id);
  if (bits == 0) {
    nullColumn(label);
    return;
  }
  room(FIXED_ROOM);
  if (copying) {
    putField64(bswap<u64>(bits));
  } else {
    put(label);
    putByte(0x22);
    putHex8(id);
    putByte(0x22);
  }
}

/** A 64-bit integer that JSON carries as a decimal string. */
export function longColumn(label: string, value: i64): void {
  room(FIXED_ROOM);
  if (copying) {
    putField64(value);
  } else {
    put(label);
    putByte(0x22);
    putSigned(value);
    putByte(0x22);
  }
}

/** Nanoseconds; zero means unknown. */
export function timeColumn(label: string, nanoseconds: u64): void {
  if (nanoseconds == 0) nullColumn(label);
  else longColumn(label, <i64>nanoseconds);
}

/** An int8 that JSON carries as a number. */
export function countColumn(label: string, value: i64): void {
  room(FIXED_ROOM);
  if (copying) {
    putField64(value);
  } else {
    put(label);
    putSigned(value);
  }
}

/** A small int4; zero means unknown. */
export function int4Column(label: string, value: u32): void {
  if (value == 0) {
    nullColumn(label);
    return;
  }
  room(FIXED_ROOM);
  if (copying) {
    putField32(4);
    putField32(value);
  } else {
    put(label);
    putUnsigned(value);
  }
}

/** A float8, NaN and infinities included. */
export function doubleColumn(label: string, value: f64): void {
  room(FIXED_ROOM);
  if (copying) {
    putField64(reinterpret<u64>(value));
  } else {
    put(label);
    putDouble(value);
  }
}

/** 0 null, 1 false, 2 true. */
export function booleanColumn(label: string, value: u32): void {
  if (value == 0) {
    nullColumn(label);
    return;
  }
  room(FIXED_ROOM);
  if (copying) {
    putField32(1);
    putByte(value - 1);
  } else {
    put(label);
    if (value == 2) put('true');
    else put('false');
  }
}

/** Microseconds since the Unix epoch. */
export function timestampColumn(label: string, microseconds: i64): void {
  room(FIXED_ROOM);
  if (copying) {
    putField64(microseconds - POSTGRES_EPOCH);
  } else {
    put(label);
    putByte(0x22);
    putTimestamp(microseconds);
    putByte(0x22);
  }
}

/** Whole 1e-8 dollars; the least i64 is null. */
export function moneyColumn(label: string, amount: i64): void {
  if (amount == i64.MIN_VALUE) {
    nullColumn(label);
    return;
  }
  room(FIXED_ROOM);
  if (copying) {
    putNumeric(amount);
  } else {
    put(label);
    putByte(0x22);
    putMoney(amount);
    putByte(0x22);
  }
}

function store16(offset: usize, value: u32): void {
  store<u16>(offset, bswap<u16>(<u16>value));
}

/**
 * numeric(18,8): groups of four decimal digits, of which two are the fraction. Zero groups at either end are left out,
 * as the server stores it: length, number of groups, weight of the first, sign, scale, groups.
 */
function putNumeric(amount: i64): void {
  let rest: u64 = amount < 0 ? 0 - <u64>amount : <u64>amount;
  const field = out;
  const groups = field + 12;
  let divisor: u64 = 10000000000000000;
  let weight: i32 = 2;
  let count: u32 = 0;
  let used: u32 = 0;
  let first: i32 = 0;
  while (weight >= -2) {
    const group = <u32>(rest / divisor);
    rest -= <u64>group * divisor;
    divisor /= 10000;
    if (group != 0 || count > 0) {
      if (count == 0) first = weight;
      store16(groups + ((<usize>count) << 1), group);
      count += 1;
      if (group != 0) used = count;
    }
    weight -= 1;
  }
  store<u32>(field, bswap<u32>(8 + used * 2));
  store16(field + 4, used);
  store16(field + 6, <u32>first);
  store16(field + 8, amount < 0 ? 0x4000 : 0);
  store16(field + 10, 8);
  setOut(groups + ((<usize>used) << 1));
}

/** Begins a JSON column; its text is everything put until `endJson`. Returns the argument of `endJson`. */
export function beginJson(label: string): usize {
  room(FIXED_ROOM);
  if (!copying) {
    put(label);
    return out;
  }
  const field = out;
  store<u8>(field, JSONB_VERSION, 4);
  setOut(field + 5);
  return field;
}

export function endJson(field: usize): void {
  if (copying) store<u32>(field, bswap<u32>(<u32>(out - field - 4)));
}
