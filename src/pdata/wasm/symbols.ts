/**
 * Attribute keys as small numbers. A symbol below MAX_SYMBOLS is permanent and owns a copy of its text. When that table
 * is full, or the key is long, the symbol is local: it is valid for the request, and its text stays in the request.
 *
 * The hash is keyed (a sum of products with secret words), so that keys chosen by one client cannot slow down the
 * others.
 */
import * as layout from '../layout';
import { copyWithoutNul } from './encode/json-text';
import { fail } from './fail';
import { allocateScratch } from './tables';
import { classifyText, sameBytes, TEXT_INVALID } from './text';

/** A local symbol predicts no next key; it stores its hash there instead, which finds its bucket when it is removed. */
const LOCAL_HASH = layout.SYMBOL_NEXT;

/**
 * Buckets and chains hold references: a symbol, and above it the upper bits of its hash, which avoid most comparisons.
 */
const SYMBOL_MASK: u32 = 0x1fffff;

/** With more local symbols than this, filling the buckets again is cheaper than removing each one. */
const UNLINK_LIMIT: u32 = 8192;

/** Secret words of the hash, one for each 8 bytes of a block. */
const BLOCK_BYTES: usize = 256;
const secrets = memory.data(256, 16);
let lengthSecret: u64 = 0;
let finalSecret: u64 = 0;

/** Lists counted so far, see `beginList`. */
let generation: u32 = 0;
/** Above this the counter restarts between two requests; no request has as many lists as remain. */
const GENERATION_LIMIT: u32 = 0x80000000;

function splitMix(state: u64): u64 {
  let z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/** Sets the key of the hash and registers the well-known symbols in their order. Once per process. */
export function initializeSymbols(seed: u64): void {
  let state = seed;
  for (let at: usize = 0; at < BLOCK_BYTES; at += 8) {
    state += 0x9e3779b97f4a7c15;
    store<u64>(secrets + at, splitMix(state));
  }
  lengthSecret = splitMix(state + 0x9e3779b97f4a7c15) | 1;
  finalSecret = splitMix(state + 0x3c6ef372fe94f82a) | 1;
  store<u32>(layout.HEADER_BASE, 0, layout.HEADER_SYMBOLS);
  store<u32>(layout.HEADER_BASE, 0, layout.HEADER_LOCAL_SYMBOLS);
  store<u32>(layout.HEADER_BASE, layout.KEY_TEXT_BASE, layout.HEADER_KEY_TEXT);
  registerWord('service.name');
  registerWord('deployment.environment.name');
  registerWord('deployment.environment');
}

function registerWord(word: string): void {
  for (let i = 0; i < word.length; i++) store<u8>(layout.INPUT_BASE + i, <u8>word.charCodeAt(i));
  internKey(layout.INPUT_BASE, word.length);
}

export function symbolRow(symbol: u32): usize {
  return <usize>layout.SYMBOLS_BASE + <usize>symbol * layout.SYMBOL_STRIDE;
}

function product(word: u64, secret: u64): u64 {
  return <u64>(<u32>word + <u32>secret) * <u64>(<u32>(word >> 32) + <u32>(secret >> 32));
}

export function hashKey(offset: usize, length: u32): u32 {
  let hash = <u64>length * lengthSecret;
  let at = offset;
  let rest: usize = length;
  let block: usize = 0;
  while (rest >= 8) {
    hash += product(load<u64>(at), load<u64>(secrets + block));
    at += 8;
    rest -= 8;
    block += 8;
    if (block == BLOCK_BYTES) {
      block = 0;
      hash = rotl(hash, 29) * lengthSecret;
    }
  }
  if (rest) hash += product(load<u64>(at) & (((<u64>1) << ((<u64>rest) << 3)) - 1), load<u64>(secrets + block));
  return <u32>(((hash ^ (hash >> 32)) * finalSecret) >> 32);
}

function bucketOf(hash: u32): usize {
  return <usize>layout.SYMBOL_BUCKETS_BASE + ((<usize>(hash & (<u32>layout.SYMBOL_BUCKETS - 1))) << 2);
}

function isKey(symbol: u32, offset: usize, length: u32): bool {
  const row = symbolRow(symbol);
  return (
    load<u32>(row, layout.SYMBOL_LENGTH) == length && sameBytes(load<u32>(row, layout.SYMBOL_OFFSET), offset, length)
  );
}

/** The symbol of a key given as raw UTF-8. Unknown bytes are checked first: invalid UTF-8 `fail`s. */
export function internKey(offset: usize, length: u32): u32 {
  const hash = hashKey(offset, length);
  let reference = load<u32>(bucketOf(hash));
  while (reference) {
    const symbol = reference & SYMBOL_MASK;
    if (((reference ^ hash) & ~SYMBOL_MASK) == 0 && isKey(symbol, offset, length)) return symbol;
    reference = load<u32>(symbolRow(symbol), layout.SYMBOL_CHAIN);
  }
  const flags = classifyText(offset, length);
  if (flags == TEXT_INVALID) fail(layout.FAIL_PROTOBUF, offset);
  if (flags & layout.TEXT_HAS_NUL) return internWithoutNul(offset, length);
  const persistent = persistentSymbol(offset, length);
  const symbol = persistent ? persistent : localSymbol(offset, length, hash);
  link(symbol, hash);
  return symbol;
}

/**
 * A key with U+0000 equals the key as which it is stored, with U+FFFD: as two keys, both would be printed with the same
 * name.
 */
function internWithoutNul(offset: usize, length: u32): u32 {
  const locals = load<u32>(layout.HEADER_BASE, layout.HEADER_LOCAL_SYMBOLS);
  const target = allocateScratch(length * 3, offset);
  const end = copyWithoutNul(target, offset, length);
  const symbol = internKey(target, <u32>(end - target));
  const isKept = load<u32>(layout.HEADER_BASE, layout.HEADER_LOCAL_SYMBOLS) != locals;
  store<u32>(layout.HEADER_BASE, <u32>(isKept ? end : target), layout.HEADER_SCRATCH);
  return symbol;
}

function link(symbol: u32, hash: u32): void {
  const bucket = bucketOf(hash);
  store<u32>(symbolRow(symbol), load<u32>(bucket), layout.SYMBOL_CHAIN);
  store<u32>(bucket, symbol | (hash & ~SYMBOL_MASK));
}

function writeSymbol(symbol: u32, offset: usize, length: u32, next: u32): void {
  const row = symbolRow(symbol);
  store<u32>(row, offset, layout.SYMBOL_OFFSET);
  store<u32>(row, length, layout.SYMBOL_LENGTH);
  store<u64>(row, 0, layout.SYMBOL_JSON_OFFSET);
  store<u64>(row, 0, layout.SYMBOL_GENERATION);
  store<u32>(row, next, layout.SYMBOL_NEXT);
}

/** A new permanent symbol, or 0 when the key is too long or there is no room. */
function persistentSymbol(offset: usize, length: u32): u32 {
  const symbol = load<u32>(layout.HEADER_BASE, layout.HEADER_SYMBOLS) + 1;
  const text = load<u32>(layout.HEADER_BASE, layout.HEADER_KEY_TEXT);
  if (length > <u32>layout.MAX_SYMBOL_BYTES || symbol >= <u32>layout.MAX_SYMBOLS) return 0;
  if (text + length > <u32>layout.KEY_TEXT_BASE + layout.KEY_TEXT_CAPACITY) return 0;
  memory.copy(text, offset, length);
  writeSymbol(symbol, text, length, 0);
  store<u32>(layout.HEADER_BASE, text + length, layout.HEADER_KEY_TEXT);
  store<u32>(layout.HEADER_BASE, symbol, layout.HEADER_SYMBOLS);
  return symbol;
}

function localSymbol(offset: usize, length: u32, hash: u32): u32 {
  const count = load<u32>(layout.HEADER_BASE, layout.HEADER_LOCAL_SYMBOLS);
  if (count >= <u32>layout.MAX_LOCAL_SYMBOLS) fail(layout.FAIL_BUDGET, offset);
  writeSymbol(layout.MAX_SYMBOLS + count, offset, length, hash);
  store<u32>(layout.HEADER_BASE, count + 1, layout.HEADER_LOCAL_SYMBOLS);
  return layout.MAX_SYMBOLS + count;
}

/**
 * Removes the last request's local symbols from their buckets. Their texts are overwritten by now and must not be read.
 */
export function forgetLocalSymbols(): void {
  const count = load<u32>(layout.HEADER_BASE, layout.HEADER_LOCAL_SYMBOLS);
  hostHasInterned = false;
  if (count > UNLINK_LIMIT) relinkAll();
  else for (let i: u32 = 0; i < count; i++) unlink(<u32>layout.MAX_SYMBOLS + i);
  store<u32>(layout.HEADER_BASE, 0, layout.HEADER_LOCAL_SYMBOLS);
  if (generation >= GENERATION_LIMIT) restartGenerations();
}

function unlink(symbol: u32): void {
  const row = symbolRow(symbol);
  let place = bucketOf(load<u32>(row, LOCAL_HASH));
  while ((load<u32>(place) & SYMBOL_MASK) != symbol)
    place = symbolRow(load<u32>(place) & SYMBOL_MASK) + layout.SYMBOL_CHAIN;
  store<u32>(place, load<u32>(row, layout.SYMBOL_CHAIN));
}

/** Empties all buckets and inserts the permanent symbols again. */
function relinkAll(): void {
  memory.fill(layout.SYMBOL_BUCKETS_BASE, 0, layout.SYMBOL_BUCKETS << 2);
  const last = load<u32>(layout.HEADER_BASE, layout.HEADER_SYMBOLS);
  for (let symbol: u32 = 1; symbol <= last; symbol++) {
    const row = symbolRow(symbol);
    link(symbol, hashKey(load<u32>(row, layout.SYMBOL_OFFSET), load<u32>(row, layout.SYMBOL_LENGTH)));
  }
}

function restartGenerations(): void {
  const count = load<u32>(layout.HEADER_BASE, layout.HEADER_SYMBOLS);
  for (let symbol: u32 = 0; symbol <= count; symbol++) store<u32>(symbolRow(symbol), 0, layout.SYMBOL_GENERATION);
  generation = 0;
}

/** As `internKey`, faster where keys have the same order as last time. `previous` 0 begins a list. */
export function internNextKey(previous: u32, offset: usize, length: u32): u32 {
  const row = symbolRow(previous);
  const predicts = previous < <u32>layout.MAX_SYMBOLS;
  if (predicts) {
    const predicted = load<u32>(row, layout.SYMBOL_NEXT);
    if (predicted && isKey(predicted, offset, length)) return predicted;
  }
  const symbol = internKey(offset, length);
  if (predicts && symbol < <u32>layout.MAX_SYMBOLS) store<u32>(row, symbol, layout.SYMBOL_NEXT);
  return symbol;
}

/** Whether the host has interned keys in this request: it does so to rename attributes. */
export let hostHasInterned: bool = false;

/** `internKey` for the host. */
export function intern(offset: usize, length: u32): u32 {
  hostHasInterned = true;
  return internKey(offset, length);
}

/** Begins a list of attributes; by its number `recordKey` finds the rows of the list. Lists must not be interleaved. */
export function beginList(): u32 {
  return ++generation;
}

/** Records that `row` has the key `symbol` in list `list`; an earlier row of the same key and list is superseded. */
export function recordKey(symbol: u32, row: u32, list: u32): void {
  const at = symbolRow(symbol);
  if (load<u32>(at, layout.SYMBOL_GENERATION) == list) {
    const earlier =
      <usize>layout.ATTRIBUTES_BASE + <usize>load<u32>(at, layout.SYMBOL_LAST_ROW) * layout.ATTRIBUTE_STRIDE;
    store<u8>(earlier, layout.DISPOSITION_SUPERSEDED, layout.ATTRIBUTE_DISPOSITION);
  }
  noteKey(symbol, row, list);
}

/** As `recordKey`, for rows that are no attribute rows; `isLastOfKey` returns the result afterwards. */
export function noteKey(symbol: u32, row: u32, list: u32): void {
  store<u64>(symbolRow(symbol), <u64>list | ((<u64>row) << 32), layout.SYMBOL_GENERATION);
}

/** Whether no row recorded later has the key of `row`. */
export function isLastOfKey(symbol: u32, row: u32): bool {
  return load<u32>(symbolRow(symbol), layout.SYMBOL_LAST_ROW) == row;
}
