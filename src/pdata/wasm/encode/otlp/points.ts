/** A data point as its OTLP message, whose type depends on the metric. */
import {
  EVENTS_BASE,
  EVENT_ATTRIBUTES_COUNT,
  EVENT_ATTRIBUTES_FIRST,
  EVENT_SPAN_ID,
  EVENT_STRIDE,
  EVENT_TIME,
  EVENT_TRACE_ID,
  EVENT_VALUE,
  EVENT_VALUE_KIND,
  METRIC_EXPONENTIAL_HISTOGRAM,
  METRIC_HISTOGRAM,
  METRIC_SUMMARY,
  NUMBERS_BASE,
  NUMBER_STRIDE,
  POINTS_BASE,
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
  POINT_NEGATIVE_COUNT,
  POINT_NEGATIVE_FIRST,
  POINT_NEGATIVE_OFFSET,
  POINT_POSITIVE_COUNT,
  POINT_POSITIVE_FIRST,
  POINT_POSITIVE_OFFSET,
  POINT_QUANTILES_COUNT,
  POINT_QUANTILES_FIRST,
  POINT_SCALE,
  POINT_STRIDE,
  POINT_SUM,
  POINT_VALUE_DOUBLE,
  POINT_VALUE_INT,
  POINT_ZERO_COUNT,
  POINT_ZERO_THRESHOLD,
  RECORD_ATTRIBUTES_COUNT,
  RECORD_ATTRIBUTES_FIRST,
  RECORD_END,
  RECORD_EVENTS_COUNT,
  RECORD_EVENTS_FIRST,
  RECORD_FLAGS,
  RECORD_KIND,
  RECORD_POINT,
  RECORD_START,
  RECORD_VALUE,
} from '../../../layout';
import { mayPause } from '../../pause';
import { room, setOut, out, FIXED_ROOM } from '../output';
import {
  beginMessage,
  endMessage,
  putBits,
  putFixed64,
  putNumber,
  putSpanId,
  putTraceId,
  putVarint,
  putZigzag,
} from './fields';
import { putAttributes } from './values';

/** Puts the fields of a point of a metric of this type. */
export function putPoint(record: usize, type: u32): void {
  putFixed64(2, load<u64>(record, RECORD_START));
  putFixed64(3, load<u64>(record, RECORD_END));
  const number = load<u32>(record, RECORD_POINT);
  if (number == 0) return putNumberPoint(record);
  const point = <usize>POINTS_BASE + <usize>(number - 1) * POINT_STRIDE;
  putFixed64(4, load<u64>(point, POINT_COUNT));
  putOptionalDouble(5, point, POINT_HAS_SUM, POINT_SUM);
  if (type == METRIC_HISTOGRAM) putHistogramPoint(record, point);
  else if (type == METRIC_EXPONENTIAL_HISTOGRAM) putExponentialPoint(record, point);
  else if (type == METRIC_SUMMARY) putSummaryPoint(record, point);
}

function putPointAttributes(field: u32, record: usize): void {
  putAttributes(field, load<u32>(record, RECORD_ATTRIBUTES_FIRST), load<u32>(record, RECORD_ATTRIBUTES_COUNT));
}

function putNumberPoint(record: usize): void {
  const kind = load<u8>(record, RECORD_KIND);
  if (kind == POINT_VALUE_DOUBLE) putBits(4, load<u64>(record, RECORD_VALUE));
  if (kind == POINT_VALUE_INT) putBits(6, load<u64>(record, RECORD_VALUE));
  putExemplars(5, record);
  putPointAttributes(7, record);
  putNumber(8, load<u32>(record, RECORD_FLAGS));
}

function putHistogramPoint(record: usize, point: usize): void {
  putFixedNumbers(6, load<u32>(point, POINT_BUCKETS_FIRST), load<u32>(point, POINT_BUCKETS_COUNT));
  putFixedNumbers(7, load<u32>(point, POINT_BOUNDS_FIRST), load<u32>(point, POINT_BOUNDS_COUNT));
  putExemplars(8, record);
  putPointAttributes(9, record);
  putNumber(10, load<u32>(record, RECORD_FLAGS));
  putOptionalDouble(11, point, POINT_HAS_MIN, POINT_MIN);
  putOptionalDouble(12, point, POINT_HAS_MAX, POINT_MAX);
}

function putExponentialPoint(record: usize, point: usize): void {
  const has = load<u32>(point, POINT_HAS);
  putPointAttributes(1, record);
  putZigzag(6, load<i32>(point, POINT_SCALE));
  putFixed64(7, load<u64>(point, POINT_ZERO_COUNT));
  if (has & POINT_HAS_POSITIVE)
    putBuckets(
      8,
      load<i32>(point, POINT_POSITIVE_OFFSET),
      load<u32>(point, POINT_POSITIVE_FIRST),
      load<u32>(point, POINT_POSITIVE_COUNT),
    );
  if (has & POINT_HAS_NEGATIVE)
    putBuckets(
      9,
      load<i32>(point, POINT_NEGATIVE_OFFSET),
      load<u32>(point, POINT_NEGATIVE_FIRST),
      load<u32>(point, POINT_NEGATIVE_COUNT),
    );
  putNumber(10, load<u32>(record, RECORD_FLAGS));
  putExemplars(11, record);
  putOptionalDouble(12, point, POINT_HAS_MIN, POINT_MIN);
  putOptionalDouble(13, point, POINT_HAS_MAX, POINT_MAX);
  putFixed64(14, load<u64>(point, POINT_ZERO_THRESHOLD));
}

function putSummaryPoint(record: usize, point: usize): void {
  const first = load<u32>(point, POINT_QUANTILES_FIRST);
  const count = load<u32>(point, POINT_QUANTILES_COUNT);
  for (let i: u32 = 0; i < count; i++) {
    mayPause();
    const quantile = beginMessage(6);
    putFixed64(1, load<u64>(numberRow(first + i * 2)));
    putFixed64(2, load<u64>(numberRow(first + i * 2 + 1)));
    endMessage(quantile);
  }
  putPointAttributes(7, record);
  putNumber(8, load<u32>(record, RECORD_FLAGS));
}

function putOptionalDouble(field: u32, point: usize, bit: u32, offset: usize): void {
  if ((load<u32>(point, POINT_HAS) & bit) != 0) putBits(field, load<u64>(point + offset));
}

// @ts-ignore: decorator
@inline
function numberRow(index: u32): usize {
  return <usize>NUMBERS_BASE + <usize>index * NUMBER_STRIDE;
}

/** Numbers of 64 bits each, packed. */
function putFixedNumbers(field: u32, first: u32, count: u32): void {
  if (count == 0) return;
  const packed = beginMessage(field);
  const bytes = <usize>count * NUMBER_STRIDE;
  room(bytes + FIXED_ROOM);
  memory.copy(out, numberRow(first), bytes);
  setOut(out + bytes);
  endMessage(packed);
}

function putBuckets(field: u32, offset: i32, first: u32, count: u32): void {
  const buckets = beginMessage(field);
  putZigzag(1, offset);
  if (count > 0) {
    const packed = beginMessage(2);
    for (let i: u32 = 0; i < count; i++) {
      mayPause();
      room(FIXED_ROOM);
      putVarint(load<u64>(numberRow(first + i)));
    }
    endMessage(packed);
  }
  endMessage(buckets);
}

function putExemplars(field: u32, record: usize): void {
  let row = <usize>EVENTS_BASE + <usize>load<u32>(record, RECORD_EVENTS_FIRST) * EVENT_STRIDE;
  const end = row + <usize>load<u32>(record, RECORD_EVENTS_COUNT) * EVENT_STRIDE;
  for (; row < end; row += EVENT_STRIDE) {
    mayPause();
    const exemplar = beginMessage(field);
    putFixed64(2, load<u64>(row, EVENT_TIME));
    const kind = load<u8>(row, EVENT_VALUE_KIND);
    if (kind == POINT_VALUE_DOUBLE) putBits(3, load<u64>(row, EVENT_VALUE));
    putSpanId(4, row + EVENT_SPAN_ID);
    putTraceId(5, row + EVENT_TRACE_ID);
    if (kind == POINT_VALUE_INT) putBits(6, load<u64>(row, EVENT_VALUE));
    putAttributes(7, load<u32>(row, EVENT_ATTRIBUTES_FIRST), load<u32>(row, EVENT_ATTRIBUTES_COUNT));
    endMessage(exemplar);
  }
}
