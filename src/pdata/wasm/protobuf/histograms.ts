/** The fields of data points of histograms, exponential histograms and summaries only, kept in point rows. */
import * as layout from '../../layout';
import { appendNumber, countOf } from '../tables';
import { appendPackedVarints, appendQuantile, checkPacked64, collectFixed64, copyNumbers } from './numbers';
import * as reader from './reader';

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

function setHas(point: usize, bit: u32): void {
  store<u32>(point, load<u32>(point, layout.POINT_HAS) | bit, layout.POINT_HAS);
}

function zigzag(value: u64): u32 {
  return (<u32>value >> 1) ^ (0 - (<u32>value & 1));
}

export function indexHistogramField(tag: u32, at: usize, end: usize, point: usize): usize {
  if (tag == reader.bytesTag(6) || tag == reader.bytesTag(7)) {
    const last = reader.readEnd(at, end);
    const start = reader.after(at);
    checkPacked64(start, last);
    countNumbers(tag >> 3, <u32>(last - start) >> 3, point);
    return last;
  }
  const field = tag >> 3;
  if (tag != reader.fixed64Tag(field)) return reader.skipUnknown(tag, at, end, HISTOGRAM_FIELDS);
  if (field == 4) store<u64>(point, reader.readFixed64(at, end), layout.POINT_COUNT);
  else if (field == 5) storeSum(point, reader.readFixed64(at, end));
  else if (field == 11) storeMin(point, reader.readFixed64(at, end));
  else if (field == 12) storeMax(point, reader.readFixed64(at, end));
  else if (field == 6 || field == 7) {
    reader.readFixed64(at, end);
    countNumbers(field, 1, point);
  } else return reader.skipUnknown(tag, at, end, HISTOGRAM_FIELDS);
  return at + 8;
}

function storeSum(point: usize, bits: u64): void {
  store<u64>(point, bits, layout.POINT_SUM);
  setHas(point, layout.POINT_HAS_SUM);
}

function storeMin(point: usize, bits: u64): void {
  store<u64>(point, bits, layout.POINT_MIN);
  setHas(point, layout.POINT_HAS_MIN);
}

function storeMax(point: usize, bits: u64): void {
  store<u64>(point, bits, layout.POINT_MAX);
  setHas(point, layout.POINT_HAS_MAX);
}

function countNumbers(field: u32, count: u32, point: usize): void {
  const counter = point + (field == 6 ? layout.POINT_BUCKETS_COUNT : layout.POINT_BOUNDS_COUNT);
  store<u32>(counter, load<u32>(counter) + count);
}

/** Collects the lists of a histogram point after it was checked and its numbers were counted. */
export function collectHistogram(start: usize, end: usize, point: usize): void {
  store<u32>(point, countOf(layout.HEADER_NUMBERS), layout.POINT_BUCKETS_FIRST);
  collectFixed64(6, load<u32>(point, layout.POINT_BUCKETS_COUNT), start, end);
  store<u32>(point, countOf(layout.HEADER_NUMBERS), layout.POINT_BOUNDS_FIRST);
  collectFixed64(7, load<u32>(point, layout.POINT_BOUNDS_COUNT), start, end);
}

export function indexExponentialField(tag: u32, at: usize, end: usize, point: usize): usize {
  if (tag == reader.bytesTag(8) || tag == reader.bytesTag(9)) {
    const last = reader.readEnd(at, end);
    const positive = tag == reader.bytesTag(8);
    indexBuckets(
      reader.after(at),
      last,
      point + (positive ? layout.POINT_POSITIVE_OFFSET : layout.POINT_NEGATIVE_OFFSET),
    );
    setHas(point, positive ? layout.POINT_HAS_POSITIVE : layout.POINT_HAS_NEGATIVE);
    return last;
  }
  if (tag == reader.varintTag(6)) {
    store<u32>(point, zigzag(reader.readVarint(at, end)), layout.POINT_SCALE);
    return reader.after(at);
  }
  const field = tag >> 3;
  if (tag != reader.fixed64Tag(field)) return reader.skipUnknown(tag, at, end, EXPONENTIAL_FIELDS);
  if (field == 4) store<u64>(point, reader.readFixed64(at, end), layout.POINT_COUNT);
  else if (field == 5) storeSum(point, reader.readFixed64(at, end));
  else if (field == 7) store<u64>(point, reader.readFixed64(at, end), layout.POINT_ZERO_COUNT);
  else if (field == 12) storeMin(point, reader.readFixed64(at, end));
  else if (field == 13) storeMax(point, reader.readFixed64(at, end));
  else if (field == 14) store<u64>(point, reader.readFixed64(at, end), layout.POINT_ZERO_THRESHOLD);
  else return reader.skipUnknown(tag, at, end, EXPONENTIAL_FIELDS);
  return at + 8;
}

/** Appends the counts of one set of buckets. A repeated set is merged: the earlier counts are copied before its own. */
function indexBuckets(at: usize, end: usize, buckets: usize): void {
  const first = countOf(layout.HEADER_NUMBERS);
  copyNumbers(load<u32>(buckets, BUCKETS_FIRST), load<u32>(buckets, BUCKETS_COUNT), at);
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if (tag == reader.bytesTag(2)) {
      const last = reader.readEnd(at, end);
      appendPackedVarints(reader.after(at), last);
      at = last;
    } else if (tag == reader.varintTag(2)) {
      appendNumber(reader.readVarint(at, end), at);
      at = reader.after(at);
    } else if (tag == reader.varintTag(1)) {
      store<u32>(buckets, zigzag(reader.readVarint(at, end)));
      at = reader.after(at);
    } else at = reader.skipUnknown(tag, at, end, BUCKETS_FIELDS);
  }
  reader.closeMessage(at, end);
  store<u32>(buckets, first, BUCKETS_FIRST);
  store<u32>(buckets, countOf(layout.HEADER_NUMBERS) - first, BUCKETS_COUNT);
}

/** The sum of a summary is not an optional field: absent means 0, not unknown. */
export function startSummary(point: usize): void {
  setHas(point, layout.POINT_HAS_SUM);
}

export function indexSummaryField(tag: u32, at: usize, end: usize, point: usize): usize {
  if (tag == reader.bytesTag(6)) return reader.readEnd(at, end);
  if (tag == reader.fixed64Tag(4)) store<u64>(point, reader.readFixed64(at, end), layout.POINT_COUNT);
  else if (tag == reader.fixed64Tag(5)) store<u64>(point, reader.readFixed64(at, end), layout.POINT_SUM);
  else return reader.skipUnknown(tag, at, end, SUMMARY_FIELDS);
  return at + 8;
}

/** Collects the quantiles of a summary point that was checked except for its quantiles. */
export function collectSummary(at: usize, end: usize, point: usize): void {
  const first = countOf(layout.HEADER_NUMBERS);
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if (tag == reader.bytesTag(6)) {
      const last = reader.readEnd(at, end);
      appendQuantile(reader.after(at), last);
      at = last;
    } else at = reader.skipUnknown(tag, at, end, 0);
  }
  store<u32>(point, first, layout.POINT_QUANTILES_FIRST);
  store<u32>(point, (countOf(layout.HEADER_NUMBERS) - first) >> 1, layout.POINT_QUANTILES_COUNT);
}
