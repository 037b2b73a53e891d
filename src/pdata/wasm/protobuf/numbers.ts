/**
 * Repeated numbers of a data point. A list may be packed, unpacked, or in pieces between other fields, so the walk over
 * the point only checks and counts it. The checked point is then walked again for one list, whose numbers become
 * adjacent.
 */
import { FAIL_PROTOBUF, HEADER_NUMBERS, NUMBER_STRIDE, NUMBERS_BASE } from '../../layout';
import { fail } from '../fail';
import { appendNumber, countOf } from '../tables';
import * as reader from './reader';

/** Checks one packed run of fixed 64-bit numbers. */
export function checkPacked64(start: usize, end: usize): void {
  if ((end - start) & 7) fail(FAIL_PROTOBUF, start);
}

/** Appends the `count` fixed 64-bit numbers of field `field`, and stops after the last one. */
export function collectFixed64(field: u32, count: u32, at: usize, end: usize): void {
  const full = countOf(HEADER_NUMBERS) + count;
  while (countOf(HEADER_NUMBERS) < full) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if (tag == reader.fixed64Tag(field)) {
      appendNumber(reader.readFixed64(at, end), at);
      at += 8;
    } else if (tag == reader.bytesTag(field)) {
      const last = reader.readEnd(at, end);
      for (at = reader.after(at); at < last; at += 8) appendNumber(load<u64>(at), at);
    } else at = reader.skipUnknown(tag, at, end, 0);
  }
}

/** Appends `count` numbers of the table again. */
export function copyNumbers(first: u32, count: u32, at: usize): void {
  for (let i = first; i < first + count; i++)
    appendNumber(load<u64>(<usize>NUMBERS_BASE + <usize>i * NUMBER_STRIDE), at);
}

/** Appends one packed run of varints, and checks it. */
export function appendPackedVarints(at: usize, end: usize): void {
  while (at < end) {
    appendNumber(reader.readVarint(at, end), at);
    at = reader.after(at);
  }
  reader.closeMessage(at, end);
}

// ValueAtQuantile { quantile 1, value 2 }
const QUANTILE_FIELDS: u32 = (1 << 1) | (1 << 2);

/** Appends a quantile and its value, checking the message. */
export function appendQuantile(at: usize, end: usize): void {
  let quantile: u64 = 0;
  let value: u64 = 0;
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if (tag == reader.fixed64Tag(1)) {
      quantile = reader.readFixed64(at, end);
      at += 8;
    } else if (tag == reader.fixed64Tag(2)) {
      value = reader.readFixed64(at, end);
      at += 8;
    } else at = reader.skipUnknown(tag, at, end, QUANTILE_FIELDS);
  }
  reader.closeMessage(at, end);
  appendNumber(quantile, at);
  appendNumber(value, at);
}
