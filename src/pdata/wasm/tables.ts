/**
 * The tables of the current request: appending rows, within their budgets. Rows are not cleared on reuse: every
 * `append…` writes each field of its row, so that no data of an earlier request can be read.
 */
import {
  ATTRIBUTES_BASE,
  ATTRIBUTE_KIND,
  ATTRIBUTE_SCALAR,
  ATTRIBUTE_STRIDE,
  ATTRIBUTE_SYMBOL,
  EVENTS_BASE,
  EVENT_STRIDE,
  FAIL_BUDGET,
  HEADER_ATTRIBUTES,
  HEADER_BASE,
  HEADER_EVENTS,
  HEADER_LINKS,
  HEADER_METRICS,
  HEADER_NUMBERS,
  HEADER_POINTS,
  HEADER_RECORDS,
  HEADER_REFERENCES,
  HEADER_RESOURCES,
  HEADER_SCOPES,
  HEADER_SCRATCH,
  LINKS_BASE,
  LINK_STRIDE,
  MAX_ATTRIBUTES,
  MAX_EVENTS,
  MAX_LINKS,
  MAX_METRICS,
  MAX_NUMBERS,
  MAX_POINTS,
  MAX_RECORDS,
  MAX_RESOURCES,
  MAX_SCOPES,
  METRICS_BASE,
  METRIC_STRIDE,
  NUMBERS_BASE,
  NUMBER_STRIDE,
  POINTS_BASE,
  POINT_STRIDE,
  RECORDS_BASE,
  RECORD_STRIDE,
  RESOURCES_BASE,
  RESOURCE_STRIDE,
  SCOPES_BASE,
  SCOPE_STRIDE,
  SCRATCH_BASE,
  SCRATCH_CAPACITY,
  FAIL_OUTPUT,
} from '../layout';
import { fail } from './fail';

/** Forgets the rows of the last request. */
export function resetRows(): void {
  memory.fill(HEADER_BASE, 0, HEADER_REFERENCES + 4);
  store<u32>(HEADER_BASE, SCRATCH_BASE, HEADER_SCRATCH);
}

// @ts-ignore: decorator
@inline
function nextRow(counter: usize, max: u32, position: usize): u32 {
  const row = load<u32>(<usize>HEADER_BASE + counter);
  if (row >= max) fail(FAIL_BUDGET, position);
  store<u32>(<usize>HEADER_BASE + counter, row + 1);
  return row;
}

/**
 * Strides are multiples of 16. For this few bytes the stores are cheaper than `memory.fill`, which is a call into the
 * engine.
 */
// @ts-ignore: decorator
@inline
function clearRow(row: usize, stride: usize): void {
  for (let i: usize = 0; i < stride; i += 16) v128.store(row + i, i64x2.splat(0));
}

/** Address of a new record row, zero-filled. */
export function appendRecord(position: usize): usize {
  const row = <usize>RECORDS_BASE + <usize>nextRow(HEADER_RECORDS, MAX_RECORDS, position) * RECORD_STRIDE;
  clearRow(row, RECORD_STRIDE);
  return row;
}

/** Address of a new event (or exemplar) row, zero-filled. */
export function appendEvent(position: usize): usize {
  const row = <usize>EVENTS_BASE + <usize>nextRow(HEADER_EVENTS, MAX_EVENTS, position) * EVENT_STRIDE;
  clearRow(row, EVENT_STRIDE);
  return row;
}

export function appendLink(position: usize): usize {
  const row = <usize>LINKS_BASE + <usize>nextRow(HEADER_LINKS, MAX_LINKS, position) * LINK_STRIDE;
  clearRow(row, LINK_STRIDE);
  return row;
}

export function appendResource(position: usize): usize {
  const row = <usize>RESOURCES_BASE + <usize>nextRow(HEADER_RESOURCES, MAX_RESOURCES, position) * RESOURCE_STRIDE;
  clearRow(row, RESOURCE_STRIDE);
  return row;
}

export function appendScope(position: usize): usize {
  const row = <usize>SCOPES_BASE + <usize>nextRow(HEADER_SCOPES, MAX_SCOPES, position) * SCOPE_STRIDE;
  clearRow(row, SCOPE_STRIDE);
  return row;
}

export function appendMetric(position: usize): usize {
  const row = <usize>METRICS_BASE + <usize>nextRow(HEADER_METRICS, MAX_METRICS, position) * METRIC_STRIDE;
  clearRow(row, METRIC_STRIDE);
  return row;
}

export function appendPoint(position: usize): usize {
  const row = <usize>POINTS_BASE + <usize>nextRow(HEADER_POINTS, MAX_POINTS, position) * POINT_STRIDE;
  clearRow(row, POINT_STRIDE);
  return row;
}

/** Appends the 64 bits of a number (u64, i64 or reinterpreted f64) to the numbers. */
export function appendNumber(bits: u64, position: usize): void {
  const row = nextRow(HEADER_NUMBERS, MAX_NUMBERS, position);
  store<u64>(<usize>NUMBERS_BASE + <usize>row * NUMBER_STRIDE, bits);
}

// @ts-ignore: decorator
@inline
export function countOf(counter: usize): u32 {
  return load<u32>(<usize>HEADER_BASE + counter);
}

/** Row index of a new attribute whose value is 64 bits: int, double (reinterpreted) or bool. */
// @ts-ignore: decorator
@inline
export function appendScalarAttribute(symbol: u32, kind: u32, bits: u64, position: usize): u32 {
  const row = nextRow(HEADER_ATTRIBUTES, MAX_ATTRIBUTES, position);
  const at = <usize>ATTRIBUTES_BASE + <usize>row * ATTRIBUTE_STRIDE;
  store<u32>(at, symbol, ATTRIBUTE_SYMBOL);
  store<u32>(at, kind, ATTRIBUTE_KIND);
  store<u64>(at, bits, ATTRIBUTE_SCALAR);
  return row;
}

/** Address of `size` free scratch bytes (plus slack); `fail`s when the region is full. */
export function allocateScratch(size: u32, position: usize): usize {
  const at = load<u32>(HEADER_BASE, HEADER_SCRATCH);
  if (<u64>at + size > <u64>SCRATCH_BASE + SCRATCH_CAPACITY) fail(FAIL_OUTPUT, position);
  store<u32>(HEADER_BASE, at + size, HEADER_SCRATCH);
  return at;
}
