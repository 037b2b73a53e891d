/** The data points of OTLP/JSON metrics, and their exemplars. */
import * as layout from '../../layout';
import { fail } from '../fail';
import { appendEvent, appendNumber, appendPoint, countOf, storeRange } from '../tables';
import { readId } from './binary';
import { endOfList, firstElement, memberId, nextElement, nextMember, openMessage } from './members';
import { doubleValue, integerValue, readDouble, readSigned, readSigned32, readUnsigned } from './number';
import * as schema from './schema';
import { readCountField, readTimeField } from './span';
import { readAttributes } from './value';

/** A point of a gauge or a sum. */
export function readNumberPoint(at: usize, record: usize): usize {
  at = openMessage(at, schema.NUMBER_POINT_MESSAGE);
  while ((at = nextMember(at))) {
    const isValue = memberId == schema.AS_DOUBLE || memberId == schema.AS_INT;
    at = isValue
      ? readOneNumber(at, record + layout.RECORD_KIND, record + layout.RECORD_VALUE)
      : readCommonMember(at, record);
  }
  return endOfList;
}

/** Reads `asDouble` or `asInt`: its kind to `kind`, where it also marks presence, and its bits to `target`. */
function readOneNumber(at: usize, kind: usize, target: usize): usize {
  if (load<u8>(kind) != layout.POINT_VALUE_NONE) fail(layout.FAIL_JSON, at);
  if (memberId == schema.AS_INT) {
    at = readSigned(at);
    store<u8>(kind, layout.POINT_VALUE_INT);
    store<u64>(target, integerValue);
    return at;
  }
  at = readDouble(at);
  store<u8>(kind, layout.POINT_VALUE_DOUBLE);
  store<f64>(target, doubleValue);
  return at;
}

/** The members that all kinds of points have. */
function readCommonMember(at: usize, record: usize): usize {
  switch (memberId) {
    case schema.ATTRIBUTES:
      return readAttributes(at, record + layout.RECORD_ATTRIBUTES_FIRST);
    case schema.START_TIME_UNIX_NANO:
      return readTimeField(at, record + layout.RECORD_START);
    case schema.TIME_UNIX_NANO:
      return readTimeField(at, record + layout.RECORD_END);
    case schema.EXEMPLARS:
      return readExemplars(at, record);
    default:
      return readCountField(at, record + layout.RECORD_FLAGS);
  }
}

/** A point of a histogram, an exponential histogram or a summary. */
export function readPoint(at: usize, record: usize, type: u32): usize {
  const row = appendPoint(at);
  store<u32>(record, load<u32>(layout.HEADER_BASE, layout.HEADER_POINTS), layout.RECORD_POINT);
  // The sum of a summary is not optional.
  if (type == layout.METRIC_SUMMARY) store<u32>(row, layout.POINT_HAS_SUM, layout.POINT_HAS);
  const message =
    type == layout.METRIC_HISTOGRAM
      ? schema.HISTOGRAM_POINT_MESSAGE
      : type == layout.METRIC_EXPONENTIAL_HISTOGRAM
        ? schema.EXPONENTIAL_POINT_MESSAGE
        : schema.SUMMARY_POINT_MESSAGE;
  at = openMessage(at, message);
  while ((at = nextMember(at))) at = readPointMember(at, row, record);
  return endOfList;
}

function readPointMember(at: usize, row: usize, record: usize): usize {
  switch (memberId) {
    case schema.COUNT:
      return readUnsignedField(at, row + layout.POINT_COUNT);
    case schema.SUM:
      return readOptionalDouble(at, row, layout.POINT_SUM, layout.POINT_HAS_SUM);
    case schema.MIN:
      return readOptionalDouble(at, row, layout.POINT_MIN, layout.POINT_HAS_MIN);
    case schema.MAX:
      return readOptionalDouble(at, row, layout.POINT_MAX, layout.POINT_HAS_MAX);
    case schema.BUCKET_COUNTS:
      return readCounts(at, row + layout.POINT_BUCKETS_FIRST);
    case schema.EXPLICIT_BOUNDS:
      return readBounds(at, row + layout.POINT_BOUNDS_FIRST);
    case schema.ZERO_COUNT:
      return readUnsignedField(at, row + layout.POINT_ZERO_COUNT);
    case schema.ZERO_THRESHOLD:
      return readOptionalDouble(at, row, layout.POINT_ZERO_THRESHOLD, 0);
    case schema.SCALE:
      return readSignedField(at, row + layout.POINT_SCALE);
    case schema.POSITIVE:
      return readBuckets(at, row, layout.POINT_POSITIVE_OFFSET, layout.POINT_POSITIVE_FIRST, layout.POINT_HAS_POSITIVE);
    case schema.NEGATIVE:
      return readBuckets(at, row, layout.POINT_NEGATIVE_OFFSET, layout.POINT_NEGATIVE_FIRST, layout.POINT_HAS_NEGATIVE);
    case schema.ATTRIBUTES:
    case schema.START_TIME_UNIX_NANO:
    case schema.TIME_UNIX_NANO:
    case schema.EXEMPLARS:
    case schema.FLAGS:
      return readCommonMember(at, record);
    default:
      return readQuantiles(at, row);
  }
}

function readUnsignedField(at: usize, target: usize): usize {
  at = readUnsigned(at);
  store<u64>(target, integerValue);
  return at;
}

function readSignedField(at: usize, target: usize): usize {
  at = readSigned32(at);
  store<u32>(target, <u32>integerValue);
  return at;
}

/** Reads a double to `field` of the point, with its presence as a bit. */
function readOptionalDouble(at: usize, row: usize, field: usize, has: u32): usize {
  at = readDouble(at);
  store<f64>(row + field, doubleValue);
  store<u32>(row, load<u32>(row, layout.POINT_HAS) | has, layout.POINT_HAS);
  return at;
}

/** Stores the range of the numbers that were appended since `first` at `target`, in units of `size` numbers. */
function storeNumbers(target: usize, first: u32, size: u32): void {
  store<u64>(target, <u64>first | ((<u64>((countOf(layout.HEADER_NUMBERS) - first) / size)) << 32));
}

function readCounts(at: usize, target: usize): usize {
  const first = countOf(layout.HEADER_NUMBERS);
  for (let element = firstElement(at); element; ) {
    const next = readUnsigned(element);
    appendNumber(integerValue, element);
    element = nextElement(next);
  }
  storeNumbers(target, first, 1);
  return endOfList;
}

function readBounds(at: usize, target: usize): usize {
  const first = countOf(layout.HEADER_NUMBERS);
  for (let element = firstElement(at); element; ) {
    const next = readDouble(element);
    appendNumber(reinterpret<u64>(doubleValue), element);
    element = nextElement(next);
  }
  storeNumbers(target, first, 1);
  return endOfList;
}

function readBuckets(at: usize, row: usize, offset: usize, counts: usize, has: u32): usize {
  store<u32>(row, load<u32>(row, layout.POINT_HAS) | has, layout.POINT_HAS);
  at = openMessage(at, schema.BUCKETS_MESSAGE);
  while ((at = nextMember(at)))
    at = memberId == schema.OFFSET ? readSignedField(at, row + offset) : readCounts(at, row + counts);
  return endOfList;
}

function readQuantiles(at: usize, row: usize): usize {
  const first = countOf(layout.HEADER_NUMBERS);
  for (let element = firstElement(at); element; ) element = nextElement(readQuantile(element));
  storeNumbers(row + layout.POINT_QUANTILES_FIRST, first, 2);
  return endOfList;
}

function readQuantile(at: usize): usize {
  const begin = at;
  let quantile: f64 = 0;
  let value: f64 = 0;
  at = openMessage(at, schema.QUANTILE_MESSAGE);
  while ((at = nextMember(at))) {
    const isQuantile = memberId == schema.QUANTILE;
    at = readDouble(at);
    if (isQuantile) quantile = doubleValue;
    else value = doubleValue;
  }
  appendNumber(reinterpret<u64>(quantile), begin);
  appendNumber(reinterpret<u64>(value), begin);
  return endOfList;
}

function readExemplars(at: usize, record: usize): usize {
  const first = countOf(layout.HEADER_EVENTS);
  for (let element = firstElement(at); element; ) element = nextElement(readExemplar(element));
  storeRange(record + layout.RECORD_EVENTS_FIRST, layout.HEADER_EVENTS, first);
  return endOfList;
}

function readExemplar(at: usize): usize {
  const row = appendEvent(at);
  at = openMessage(at, schema.EXEMPLAR_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId == schema.AS_DOUBLE || memberId == schema.AS_INT)
      at = readOneNumber(at, row + layout.EVENT_VALUE_KIND, row + layout.EVENT_VALUE);
    else if (memberId == schema.TIME_UNIX_NANO) at = readTimeField(at, row + layout.EVENT_TIME);
    else if (memberId == schema.FILTERED_ATTRIBUTES) at = readAttributes(at, row + layout.EVENT_ATTRIBUTES_FIRST);
    else if (memberId == schema.SPAN_ID) at = readId(at, row + layout.EVENT_SPAN_ID, 8);
    else at = readId(at, row + layout.EVENT_TRACE_ID, 16);
  }
  return endOfList;
}
