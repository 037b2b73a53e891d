/**
 * The tables of the current request: appending rows, within their budgets. Rows are not cleared on reuse: every
 * `append…` writes each field of its row, so that no data of an earlier request can be read.
 */
import * as layout from '../layout';
import { fail } from './fail';
import { pauses } from './pause';

/** Forgets the rows of the last request. */
export function resetRows(): void {
  memory.fill(layout.HEADER_BASE, 0, layout.HEADER_REFERENCES + 4);
  store<u32>(layout.HEADER_BASE, layout.SCRATCH_BASE, layout.HEADER_SCRATCH);
}

// @ts-ignore: decorator
@inline
function nextRow(counter: usize, max: u32, position: usize, atOnce: u32 = layout.MAX_ROWS_AT_ONCE): u32 {
  const row = load<u32>(<usize>layout.HEADER_BASE + counter);
  if (!pauses && row >= atOnce) fail(layout.FAIL_AT_ONCE, position);
  if (row >= max) fail(layout.FAIL_BUDGET, position);
  store<u32>(<usize>layout.HEADER_BASE + counter, row + 1);
  return row;
}

/**
 * Address of a new row, zero-filled. Strides are multiples of 16. For this few bytes the stores are cheaper than
 * `memory.fill`, which is a call into the engine.
 */
// @ts-ignore: decorator
@inline
function appendRow(base: usize, counter: usize, max: u32, stride: usize, position: usize): usize {
  const row = base + <usize>nextRow(counter, max, position) * stride;
  for (let i: usize = 0; i < stride; i += 16) v128.store(row + i, i64x2.splat(0));
  return row;
}

export function appendRecord(position: usize): usize {
  return appendRow(layout.RECORDS_BASE, layout.HEADER_RECORDS, layout.MAX_RECORDS, layout.RECORD_STRIDE, position);
}

/** A span event or an exemplar. */
export function appendEvent(position: usize): usize {
  return appendRow(layout.EVENTS_BASE, layout.HEADER_EVENTS, layout.MAX_EVENTS, layout.EVENT_STRIDE, position);
}

export function appendLink(position: usize): usize {
  return appendRow(layout.LINKS_BASE, layout.HEADER_LINKS, layout.MAX_LINKS, layout.LINK_STRIDE, position);
}

export function appendResource(position: usize): usize {
  return appendRow(
    layout.RESOURCES_BASE,
    layout.HEADER_RESOURCES,
    layout.MAX_RESOURCES,
    layout.RESOURCE_STRIDE,
    position,
  );
}

export function appendScope(position: usize): usize {
  return appendRow(layout.SCOPES_BASE, layout.HEADER_SCOPES, layout.MAX_SCOPES, layout.SCOPE_STRIDE, position);
}

export function appendMetric(position: usize): usize {
  return appendRow(layout.METRICS_BASE, layout.HEADER_METRICS, layout.MAX_METRICS, layout.METRIC_STRIDE, position);
}

export function appendPoint(position: usize): usize {
  return appendRow(layout.POINTS_BASE, layout.HEADER_POINTS, layout.MAX_POINTS, layout.POINT_STRIDE, position);
}

/** Appends the 64 bits of a number (u64, i64 or reinterpreted f64) to the numbers. */
export function appendNumber(bits: u64, position: usize): void {
  const row = nextRow(layout.HEADER_NUMBERS, layout.MAX_NUMBERS, position, layout.MAX_NUMBERS);
  store<u64>(<usize>layout.NUMBERS_BASE + <usize>row * layout.NUMBER_STRIDE, bits);
}

export function countOf(counter: usize): u32 {
  return load<u32>(<usize>layout.HEADER_BASE + counter);
}

/** Stores the rows that were appended since `first` as the first one and their number. */
// @ts-ignore: decorator
@inline
export function storeRange(at: usize, counter: usize, first: u32): void {
  store<u64>(at, <u64>first | ((<u64>(countOf(counter) - first)) << 32));
}

/** Row index of a new attribute whose value is 64 bits: int, double (reinterpreted) or bool. */
// @ts-ignore: decorator
@inline
export function appendScalarAttribute(symbol: u32, kind: u32, bits: u64, position: usize): u32 {
  const row = nextRow(layout.HEADER_ATTRIBUTES, layout.MAX_ATTRIBUTES, position);
  const at = <usize>layout.ATTRIBUTES_BASE + <usize>row * layout.ATTRIBUTE_STRIDE;
  store<u32>(at, symbol, layout.ATTRIBUTE_SYMBOL);
  store<u32>(at, kind, layout.ATTRIBUTE_KIND);
  store<u64>(at, bits, layout.ATTRIBUTE_SCALAR);
  return row;
}

/** Address of `size` free scratch bytes (plus slack); `fail`s when the region is full. */
export function allocateScratch(size: u32, position: usize): usize {
  const at = load<u32>(layout.HEADER_BASE, layout.HEADER_SCRATCH);
  if (<u64>at + size > <u64>layout.SCRATCH_BASE + layout.SCRATCH_CAPACITY) fail(layout.FAIL_OUTPUT, position);
  store<u32>(layout.HEADER_BASE, at + size, layout.HEADER_SCRATCH);
  return at;
}
