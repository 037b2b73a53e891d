/** The data points of OTLP/JSON metrics, and their exemplars. */
import {
  EVENT_ATTRIBUTES_FIRST,
  EVENT_SPAN_ID,
  EVENT_TIME,
  EVENT_TRACE_ID,
  EVENT_VALUE,
  EVENT_VALUE_KIND,
  FAIL_JSON,
  HEADER_BASE,
  HEADER_EVENTS,
  HEADER_NUMBERS,
  HEADER_POINTS,
  METRIC_EXPONENTIAL_HISTOGRAM,
  METRIC_HISTOGRAM,
  METRIC_SUMMARY,
  POINT_BOUNDS_FIRST,
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
  POINT_NEGATIVE_FIRST,
  POINT_NEGATIVE_OFFSET,
  POINT_POSITIVE_FIRST,
  POINT_POSITIVE_OFFSET,
  POINT_QUANTILES_FIRST,
  POINT_SCALE,
  POINT_SUM,
  POINT_VALUE_DOUBLE,
  POINT_VALUE_INT,
  POINT_VALUE_NONE,
  POINT_ZERO_COUNT,
  POINT_ZERO_THRESHOLD,
  RECORD_ATTRIBUTES_FIRST,
  RECORD_END,
  RECORD_EVENTS_COUNT,
  RECORD_EVENTS_FIRST,
  RECORD_FLAGS,
  RECORD_KIND,
  RECORD_POINT,
  RECORD_START,
  RECORD_VALUE,
} from '../../layout';
import { fail } from '../fail';
import { appendEvent, appendNumber, appendPoint, countOf } from '../tables';
import { readId } from './binary';
import { endOfList, firstElement, memberId, nextElement, nextMember, openMessage } from './members';
import { doubleValue, integerValue, readDouble, readSigned, readSigned32, readUnsigned } from './number';
import {
  AS_DOUBLE,
  AS_INT,
  ATTRIBUTES,
  BUCKETS_MESSAGE,
  BUCKET_COUNTS,
  COUNT,
  EXEMPLARS,
  EXEMPLAR_MESSAGE,
  EXPLICIT_BOUNDS,
  EXPONENTIAL_POINT_MESSAGE,
  FILTERED_ATTRIBUTES,
  FLAGS,
  HISTOGRAM_POINT_MESSAGE,
  MAX,
  MIN,
  NEGATIVE,
  NUMBER_POINT_MESSAGE,
  OFFSET,
  POSITIVE,
  QUANTILE,
  QUANTILE_MESSAGE,
  SCALE,
  SPAN_ID,
  START_TIME_UNIX_NANO,
  SUM,
  SUMMARY_POINT_MESSAGE,
  TIME_UNIX_NANO,
  ZERO_COUNT,
  ZERO_THRESHOLD,
} from './schema';
import { readCountField, readTimeField } from './span';
import { readAttributes } from './value';

/** A point of a gauge or a sum. */
export function readNumberPoint(at: usize, record: usize): usize {
  at = openMessage(at, NUMBER_POINT_MESSAGE);
  while ((at = nextMember(at))) {
    const isValue = memberId == AS_DOUBLE || memberId == AS_INT;
    at = isValue ? readOneNumber(at, record + RECORD_KIND, record + RECORD_VALUE) : readCommonMember(at, record);
  }
  return endOfList;
}

/** Reads `asDouble` or `asInt`: its kind to `kind`, where it also marks presence, and its bits to `target`. */
function readOneNumber(at: usize, kind: usize, target: usize): usize {
  if (load<u8>(kind) != POINT_VALUE_NONE) fail(FAIL_JSON, at);
  if (memberId == AS_INT) {
    at = readSigned(at);
    store<u8>(kind, POINT_VALUE_INT);
    store<u64>(target, integerValue);
    return at;
  }
  at = readDouble(at);
  store<u8>(kind, POINT_VALUE_DOUBLE);
  store<f64>(target, doubleValue);
  return at;
}

/** The members that all kinds of points have. */
function readCommonMember(at: usize, record: usize): usize {
  switch (memberId) {
    case ATTRIBUTES:
      return readAttributes(at, record + RECORD_ATTRIBUTES_FIRST);
    case START_TIME_UNIX_NANO:
      return readTimeField(at, record + RECORD_START);
    case TIME_UNIX_NANO:
      return readTimeField(at, record + RECORD_END);
    case EXEMPLARS:
      return readExemplars(at, record);
    default:
      return readCountField(at, record + RECORD_FLAGS);
  }
}

/** A point of a histogram, an exponential histogram or a summary. */
export function readPoint(at: usize, record: usize, type: u32): usize {
  const row = appendPoint(at);
  store<u32>(record, load<u32>(HEADER_BASE, HEADER_POINTS), RECORD_POINT);
  // The sum of a summary is not optional.
  if (type == METRIC_SUMMARY) store<u32>(row, POINT_HAS_SUM, POINT_HAS);
  const message =
    type == METRIC_HISTOGRAM
      ? HISTOGRAM_POINT_MESSAGE
      : type == METRIC_EXPONENTIAL_HISTOGRAM
        ? EXPONENTIAL_POINT_MESSAGE
        : SUMMARY_POINT_MESSAGE;
  at = openMessage(at, message);
  while ((at = nextMember(at))) at = readPointMember(at, row, record);
  return endOfList;
}

function readPointMember(at: usize, row: usize, record: usize): usize {
  switch (memberId) {
    case COUNT:
      return readUnsignedField(at, row + POINT_COUNT);
    case SUM:
      return readOptionalDouble(at, row, POINT_SUM, POINT_HAS_SUM);
    case MIN:
      return readOptionalDouble(at, row, POINT_MIN, POINT_HAS_MIN);
    case MAX:
      return readOptionalDouble(at, row, POINT_MAX, POINT_HAS_MAX);
    case BUCKET_COUNTS:
      return readCounts(at, row + POINT_BUCKETS_FIRST);
    case EXPLICIT_BOUNDS:
      return readBounds(at, row + POINT_BOUNDS_FIRST);
    case ZERO_COUNT:
      return readUnsignedField(at, row + POINT_ZERO_COUNT);
    case ZERO_THRESHOLD:
      return readOptionalDouble(at, row, POINT_ZERO_THRESHOLD, 0);
    case SCALE:
      return readSignedField(at, row + POINT_SCALE);
    case POSITIVE:
      return readBuckets(at, row, POINT_POSITIVE_OFFSET, POINT_POSITIVE_FIRST, POINT_HAS_POSITIVE);
    case NEGATIVE:
      return readBuckets(at, row, POINT_NEGATIVE_OFFSET, POINT_NEGATIVE_FIRST, POINT_HAS_NEGATIVE);
    case ATTRIBUTES:
    case START_TIME_UNIX_NANO:
    case TIME_UNIX_NANO:
    case EXEMPLARS:
    case FLAGS:
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
  store<u32>(row, load<u32>(row, POINT_HAS) | has, POINT_HAS);
  return at;
}

/** Stores the range of the numbers that were appended since `first` at `target`, in units of `size` numbers. */
function storeNumbers(target: usize, first: u32, size: u32): void {
  store<u64>(target, <u64>first | ((<u64>((countOf(HEADER_NUMBERS) - first) / size)) << 32));
}

function readCounts(at: usize, target: usize): usize {
  const first = countOf(HEADER_NUMBERS);
  for (let element = firstElement(at); element; ) {
    const next = readUnsigned(element);
    appendNumber(integerValue, element);
    element = nextElement(next);
  }
  storeNumbers(target, first, 1);
  return endOfList;
}

function readBounds(at: usize, target: usize): usize {
  const first = countOf(HEADER_NUMBERS);
  for (let element = firstElement(at); element; ) {
    const next = readDouble(element);
    appendNumber(reinterpret<u64>(doubleValue), element);
    element = nextElement(next);
  }
  storeNumbers(target, first, 1);
  return endOfList;
}

function readBuckets(at: usize, row: usize, offset: usize, counts: usize, has: u32): usize {
  store<u32>(row, load<u32>(row, POINT_HAS) | has, POINT_HAS);
  at = openMessage(at, BUCKETS_MESSAGE);
  while ((at = nextMember(at)))
    at = memberId == OFFSET ? readSignedField(at, row + offset) : readCounts(at, row + counts);
  return endOfList;
}

function readQuantiles(at: usize, row: usize): usize {
  const first = countOf(HEADER_NUMBERS);
  for (let element = firstElement(at); element; ) element = nextElement(readQuantile(element));
  storeNumbers(row + POINT_QUANTILES_FIRST, first, 2);
  return endOfList;
}

function readQuantile(at: usize): usize {
  const begin = at;
  let quantile: f64 = 0;
  let value: f64 = 0;
  at = openMessage(at, QUANTILE_MESSAGE);
  while ((at = nextMember(at))) {
    const isQuantile = memberId == QUANTILE;
    at = readDouble(at);
    if (isQuantile) quantile = doubleValue;
    else value = doubleValue;
  }
  appendNumber(reinterpret<u64>(quantile), begin);
  appendNumber(reinterpret<u64>(value), begin);
  return endOfList;
}

function readExemplars(at: usize, record: usize): usize {
  const first = countOf(HEADER_EVENTS);
  for (let element = firstElement(at); element; ) element = nextElement(readExemplar(element));
  store<u32>(record, first, RECORD_EVENTS_FIRST);
  store<u32>(record, countOf(HEADER_EVENTS) - first, RECORD_EVENTS_COUNT);
  return endOfList;
}

function readExemplar(at: usize): usize {
  const row = appendEvent(at);
  at = openMessage(at, EXEMPLAR_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId == AS_DOUBLE || memberId == AS_INT) at = readOneNumber(at, row + EVENT_VALUE_KIND, row + EVENT_VALUE);
    else if (memberId == TIME_UNIX_NANO) at = readTimeField(at, row + EVENT_TIME);
    else if (memberId == FILTERED_ATTRIBUTES) at = readAttributes(at, row + EVENT_ATTRIBUTES_FIRST);
    else if (memberId == SPAN_ID) at = readId(at, row + EVENT_SPAN_ID, 8);
    else at = readId(at, row + EVENT_TRACE_ID, 16);
  }
  return endOfList;
}
