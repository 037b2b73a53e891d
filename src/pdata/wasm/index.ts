/** The exports for the host. Each function works on the one arena described in `src/pdata/layout.ts`. */
import * as layout from '../layout';
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
  memory.fill(layout.HEADER_BASE, 0, layout.HEADER_SIZE);
  store<u32>(layout.HEADER_BASE, layout.CONSTANTS_BASE, layout.HEADER_CONSTANTS);
  store<u32>(layout.HEADER_BASE, DEFAULT_MAX_DEPTH, layout.HEADER_MAX_DEPTH);
  store<u32>(layout.HEADER_BASE, layout.OUTPUT_CAPACITY, layout.HEADER_OUTPUT_LIMIT);
  initializeSymbols(seed);
  initializeJson();
  initializeInflate();
  resetTables();
}

/**
 * Checks and indexes the body at INPUT_BASE. After a fault the content of the tables is undefined until the next call.
 */
export function index(signal: i32, encoding: i32, length: u32): void {
  if (length > <u32>layout.INPUT_CAPACITY) fail(layout.FAIL_BUDGET, layout.INPUT_BASE);
  resetTables();
  store<u32>(layout.HEADER_BASE, signal, layout.HEADER_SIGNAL);
  store<u32>(layout.HEADER_BASE, encoding, layout.HEADER_ENCODING);
  store<u32>(layout.HEADER_BASE, length, layout.HEADER_INPUT_LENGTH);
  if (encoding == layout.ENCODING_JSON) indexJson(signal, length);
  else indexProtobuf(signal, layout.INPUT_BASE, layout.INPUT_BASE + length);
}
