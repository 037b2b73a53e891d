/** The fields of data points of histograms, exponential histograms and summaries only, kept in point rows. */
import {
  HEADER_NUMBERS,
  POINT_BOUNDS_COUNT,
  POINT_BOUNDS_FIRST,
  POINT_BUCKETS_COUNT,
  POINT_BUCKETS_FIRST,
  POINT_COUNT,
  POINT_HAS,
  POINT_HAS_MAX,
  POINT_HAS_MIN,
  POINT_HAS_NEGATIVE,
  POINT_HAS_POSITIVE,
  POINT_HAS_SUM,
  POINT_MAX,
  POINT_MIN,
  POINT_NEGATIVE_OFFSET,
  POINT_POSITIVE_OFFSET,
  POINT_QUANTILES_COUNT,
  POINT_QUANTILES_FIRST,
  POINT_SCALE,
  POINT_SUM,
  POINT_ZERO_COUNT,
  POINT_ZERO_THRESHOLD,
} from '../../layout';
import { appendNumber, countOf } from '../tables';
import { appendPackedVarints, appendQuantile, checkPacked64, collectFixed64 } from './numbers';
import {
  after,
  bytesTag,
  closeMessage,
  fixed64Tag,
  readEnd,
  readFixed64,
  readTag,
  readVarint,
  skipUnknown,
  varintTag,
} from './reader';

// HistogramDataPoint { start 2, time 3, count 4, sum 5, bucket_counts 6, explicit_bounds 7, exemplars 8, attributes 9,
// flags 10, min 11, max 12 }
const HISTOGRAM_FIELDS: u32 = 0x1ffc;
// ExponentialHistogramDataPoint { attributes 1, start 2, time 3, count 4, sum 5, scale 6, zero_count 7, positive 8,
// negative 9, flags 10, exemplars 11, min 12, max 13, zero_threshold 14 }
const EXPONENTIAL_FIELDS: u32 = 0x7ffe;
// Buckets { offset 1, bucket_counts 2 }
const BUCKETS_FIELDS: u32 = (1 << 1) | (1 << 2);
// SummaryDataPoint { start 2, time 3, count 4, sum 5, quantile_values 6, attributes 7, flags 8 }
const SUMMARY_FIELDS: u32 = 0x1fc;

// Within a point row, the three fields of a set of buckets are adjacent: offset, first, count.
const BUCKETS_FIRST: usize = 4;
const BUCKETS_COUNT: usize = 8;

// @ts-ignore: decorator
@inline
function setHas(point: usize, bit: u32): void {
  store<u32>(point, load<u32>(point, POINT_HAS) | bit, POINT_HAS);
}

// @ts-ignore: decorator
@inline
function zigzag(value: u64): u32 {
  return (<u32>value >> 1) ^ (0 - (<u32>value & 1));
}

export function indexHistogramField(tag: u32, at: usize, end: usize, point: usize): usize {
  if (tag == bytesTag(6) || tag == bytesTag(7)) {
    const last = readEnd(at, end);
    const start = after(at);
    checkPacked64(start, last);
    countNumbers(tag >> 3, <u32>(last - start) >> 3, point);
    return last;
  }
  const field = tag >> 3;
  if (tag != fixed64Tag(field)) return skipUnknown(tag, at, end, HISTOGRAM_FIELDS);
  if (field == 4) store<u64>(point, readFixed64(at, end), POINT_COUNT);
  else if (field == 5) storeSum(point, readFixed64(at, end));
  else if (field == 11) storeMin(point, readFixed64(at, end));
  else if (field == 12) storeMax(point, readFixed64(at, end));
  else if (field == 6 || field == 7) {
    readFixed64(at, end);
    countNumbers(field, 1, point);
  } else return skipUnknown(tag, at, end, HISTOGRAM_FIELDS);
  return at + 8;
}

function storeSum(point: usize, bits: u64): void {
  store<u64>(point, bits, POINT_SUM);
  setHas(point, POINT_HAS_SUM);
}

function storeMin(point: usize, bits: u64): void {
  store<u64>(point, bits, POINT_MIN);
  setHas(point, POINT_HAS_MIN);
}

function storeMax(point: usize, bits: u64): void {
  store<u64>(point, bits, POINT_MAX);
  setHas(point, POINT_HAS_MAX);
}

// @ts-ignore: decorator
@inline
function countNumbers(field: u32, count: u32, point: usize): void {
  const counter = point + (field == 6 ? POINT_BUCKETS_COUNT : POINT_BOUNDS_COUNT);
  store<u32>(counter, load<u32>(counter) + count);
}

/** Collects the lists of a histogram point after it was checked and its numbers were counted. */
export function collectHistogram(start: usize, end: usize, point: usize): void {
  store<u32>(point, countOf(HEADER_NUMBERS), POINT_BUCKETS_FIRST);
  collectFixed64(6, load<u32>(point, POINT_BUCKETS_COUNT), start, end);
  store<u32>(point, countOf(HEADER_NUMBERS), POINT_BOUNDS_FIRST);
  collectFixed64(7, load<u32>(point, POINT_BOUNDS_COUNT), start, end);
}

export function indexExponentialField(tag: u32, at: usize, end: usize, point: usize): usize {
  if (tag == bytesTag(8) || tag == bytesTag(9)) {
    const last = readEnd(at, end);
    const positive = tag == bytesTag(8);
    indexBuckets(after(at), last, point + (positive ? POINT_POSITIVE_OFFSET : POINT_NEGATIVE_OFFSET));
    setHas(point, positive ? POINT_HAS_POSITIVE : POINT_HAS_NEGATIVE);
    return last;
  }
  if (tag == varintTag(6)) {
    store<u32>(point, zigzag(readVarint(at, end)), POINT_SCALE);
    return after(at);
  }
  const field = tag >> 3;
  if (tag != fixed64Tag(field)) return skipUnknown(tag, at, end, EXPONENTIAL_FIELDS);
  if (field == 4) store<u64>(point, readFixed64(at, end), POINT_COUNT);
  else if (field == 5) storeSum(point, readFixed64(at, end));
  else if (field == 7) store<u64>(point, readFixed64(at, end), POINT_ZERO_COUNT);
  else if (field == 12) storeMin(point, readFixed64(at, end));
  else if (field == 13) storeMax(point, readFixed64(at, end));
  else if (field == 14) store<u64>(point, readFixed64(at, end), POINT_ZERO_THRESHOLD);
  else return skipUnknown(tag, at, end, EXPONENTIAL_FIELDS);
  return at + 8;
}

/**
 * Appends the counts of one set of buckets. A later set replaces an earlier one completely; its numbers are unused
 * then.
 */
function indexBuckets(at: usize, end: usize, buckets: usize): void {
  const first = countOf(HEADER_NUMBERS);
  store<u32>(buckets, 0);
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(2)) {
      const last = readEnd(at, end);
      appendPackedVarints(after(at), last);
      at = last;
    } else if (tag == varintTag(2)) {
      appendNumber(readVarint(at, end), at);
      at = after(at);
    } else if (tag == varintTag(1)) {
      store<u32>(buckets, zigzag(readVarint(at, end)));
      at = after(at);
    } else at = skipUnknown(tag, at, end, BUCKETS_FIELDS);
  }
  closeMessage(at, end);
  store<u32>(buckets, first, BUCKETS_FIRST);
  store<u32>(buckets, countOf(HEADER_NUMBERS) - first, BUCKETS_COUNT);
}

/** The sum of a summary is not an optional field: absent means 0, not unknown. */
export function startSummary(point: usize): void {
  setHas(point, POINT_HAS_SUM);
}

export function indexSummaryField(tag: u32, at: usize, end: usize, point: usize): usize {
  if (tag == bytesTag(6)) return readEnd(at, end);
  if (tag == fixed64Tag(4)) store<u64>(point, readFixed64(at, end), POINT_COUNT);
  else if (tag == fixed64Tag(5)) store<u64>(point, readFixed64(at, end), POINT_SUM);
  else return skipUnknown(tag, at, end, SUMMARY_FIELDS);
  return at + 8;
}

/** Collects the quantiles of a summary point that was checked except for its quantiles. */
export function collectSummary(at: usize, end: usize, point: usize): void {
  const first = countOf(HEADER_NUMBERS);
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(6)) {
      const last = readEnd(at, end);
      appendQuantile(after(at), last);
      at = last;
    } else at = skipUnknown(tag, at, end, 0);
  }
  store<u32>(point, first, POINT_QUANTILES_FIRST);
  store<u32>(point, (countOf(HEADER_NUMBERS) - first) >> 1, POINT_QUANTILES_COUNT);
}
