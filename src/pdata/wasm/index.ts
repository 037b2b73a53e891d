/** The exports for the host. Each function works on the one arena described in `src/pdata/layout.ts`. */
import {
  CONSTANTS_BASE,
  ENCODING_JSON,
  FAIL_BUDGET,
  HEADER_BASE,
  HEADER_CONSTANTS,
  HEADER_ENCODING,
  HEADER_INPUT_LENGTH,
  HEADER_MAX_DEPTH,
  HEADER_OUTPUT_LIMIT,
  HEADER_SIGNAL,
  HEADER_SIZE,
  INPUT_BASE,
  INPUT_CAPACITY,
  OUTPUT_CAPACITY,
} from '../layout';
import { fail } from './fail';
import { initializeInflate } from './inflate/inflate';
import { indexJson, initializeJson } from './json/indexer';
import { indexProtobuf } from './protobuf/request';
import { forgetLocalSymbols, initializeSymbols } from './symbols';
import { resetRows } from './tables';

export { encodeCopy, encodeNdjson, encodePlainCopy } from './encode/encode';
export { arePlain } from './encode/spans';
export { encodeShared } from './encode/shared';
export { encodeOtlp } from './encode/otlp/encode';
export { inflate } from './inflate/inflate';
export { renderJson } from './encode/values';
export { unescapeJson } from './json/text';
export { intern } from './symbols';
export { classifyText } from './text';
export { findPrefixes } from './prefixes';

/** The limit of AnyValue nesting unless the host sets another one. */
const DEFAULT_MAX_DEPTH: u32 = 32;

/** Forgets the last request. Symbols stay, except those of that request (see symbols.ts). */
export function resetTables(): void {
  resetRows();
  forgetLocalSymbols();
}

export function initialize(seed: u64): void {
  memory.fill(HEADER_BASE, 0, HEADER_SIZE);
  store<u32>(HEADER_BASE, CONSTANTS_BASE, HEADER_CONSTANTS);
  store<u32>(HEADER_BASE, DEFAULT_MAX_DEPTH, HEADER_MAX_DEPTH);
  store<u32>(HEADER_BASE, OUTPUT_CAPACITY, HEADER_OUTPUT_LIMIT);
  initializeSymbols(seed);
  initializeJson();
  initializeInflate();
  resetTables();
}

/**
 * Checks and indexes the body at INPUT_BASE. After a fault the content of the tables is undefined until the next call.
 */
export function index(signal: i32, encoding: i32, length: u32): void {
  if (length > <u32>INPUT_CAPACITY) fail(FAIL_BUDGET, INPUT_BASE);
  resetTables();
  store<u32>(HEADER_BASE, signal, HEADER_SIGNAL);
  store<u32>(HEADER_BASE, encoding, HEADER_ENCODING);
  store<u32>(HEADER_BASE, length, HEADER_INPUT_LENGTH);
  if (encoding == ENCODING_JSON) indexJson(signal, length);
  else indexProtobuf(signal, INPUT_BASE, INPUT_BASE + length);
}
