/** A data point as its OTLP message, whose type depends on the metric. */
import * as layout from '../../../layout';
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
  putFixed64(2, load<u64>(record, layout.RECORD_START));
  putFixed64(3, load<u64>(record, layout.RECORD_END));
  const number = load<u32>(record, layout.RECORD_POINT);
  if (number == 0) return putNumberPoint(record);
  const point = <usize>layout.POINTS_BASE + <usize>(number - 1) * layout.POINT_STRIDE;
  putFixed64(4, load<u64>(point, layout.POINT_COUNT));
  putOptionalDouble(5, point, layout.POINT_HAS_SUM, layout.POINT_SUM);
  if (type == layout.METRIC_HISTOGRAM) putHistogramPoint(record, point);
  else if (type == layout.METRIC_EXPONENTIAL_HISTOGRAM) putExponentialPoint(record, point);
  else if (type == layout.METRIC_SUMMARY) putSummaryPoint(record, point);
}

function putPointAttributes(field: u32, record: usize): void {
  putAttributes(
    field,
    load<u32>(record, layout.RECORD_ATTRIBUTES_FIRST),
    load<u32>(record, layout.RECORD_ATTRIBUTES_COUNT),
  );
}

function putNumberPoint(record: usize): void {
  const kind = load<u8>(record, layout.RECORD_KIND);
  if (kind == layout.POINT_VALUE_DOUBLE) putBits(4, load<u64>(record, layout.RECORD_VALUE));
  if (kind == layout.POINT_VALUE_INT) putBits(6, load<u64>(record, layout.RECORD_VALUE));
  putExemplars(5, record);
  putPointAttributes(7, record);
  putNumber(8, load<u32>(record, layout.RECORD_FLAGS));
}

function putHistogramPoint(record: usize, point: usize): void {
  putFixedNumbers(6, load<u32>(point, layout.POINT_BUCKETS_FIRST), load<u32>(point, layout.POINT_BUCKETS_COUNT));
  putFixedNumbers(7, load<u32>(point, layout.POINT_BOUNDS_FIRST), load<u32>(point, layout.POINT_BOUNDS_COUNT));
  putExemplars(8, record);
  putPointAttributes(9, record);
  putNumber(10, load<u32>(record, layout.RECORD_FLAGS));
  putOptionalDouble(11, point, layout.POINT_HAS_MIN, layout.POINT_MIN);
  putOptionalDouble(12, point, layout.POINT_HAS_MAX, layout.POINT_MAX);
}

function putExponentialPoint(record: usize, point: usize): void {
  const has = load<u32>(point, layout.POINT_HAS);
  putPointAttributes(1, record);
  putZigzag(6, load<i32>(point, layout.POINT_SCALE));
  putFixed64(7, load<u64>(point, layout.POINT_ZERO_COUNT));
  if (has & layout.POINT_HAS_POSITIVE)
    putBuckets(
      8,
      load<i32>(point, layout.POINT_POSITIVE_OFFSET),
      load<u32>(point, layout.POINT_POSITIVE_FIRST),
      load<u32>(point, layout.POINT_POSITIVE_COUNT),
    );
  if (has & layout.POINT_HAS_NEGATIVE)
    putBuckets(
      9,
      load<i32>(point, layout.POINT_NEGATIVE_OFFSET),
      load<u32>(point, layout.POINT_NEGATIVE_FIRST),
      load<u32>(point, layout.POINT_NEGATIVE_COUNT),
    );
  putNumber(10, load<u32>(record, layout.RECORD_FLAGS));
  putExemplars(11, record);
  putOptionalDouble(12, point, layout.POINT_HAS_MIN, layout.POINT_MIN);
  putOptionalDouble(13, point, layout.POINT_HAS_MAX, layout.POINT_MAX);
  putFixed64(14, load<u64>(point, layout.POINT_ZERO_THRESHOLD));
}

function putSummaryPoint(record: usize, point: usize): void {
  const first = load<u32>(point, layout.POINT_QUANTILES_FIRST);
  const count = load<u32>(point, layout.POINT_QUANTILES_COUNT);
  for (let i: u32 = 0; i < count; i++) {
    mayPause();
    const quantile = beginMessage(6);
    putFixed64(1, load<u64>(numberRow(first + i * 2)));
    putFixed64(2, load<u64>(numberRow(first + i * 2 + 1)));
    endMessage(quantile);
  }
  putPointAttributes(7, record);
  putNumber(8, load<u32>(record, layout.RECORD_FLAGS));
}

function putOptionalDouble(field: u32, point: usize, bit: u32, offset: usize): void {
  if ((load<u32>(point, layout.POINT_HAS) & bit) != 0) putBits(field, load<u64>(point + offset));
}

function numberRow(index: u32): usize {
  return <usize>layout.NUMBERS_BASE + <usize>index * layout.NUMBER_STRIDE;
}

/** Numbers of 64 bits each, packed. */
function putFixedNumbers(field: u32, first: u32, count: u32): void {
  if (count == 0) return;
  const packed = beginMessage(field);
  const bytes = <usize>count * layout.NUMBER_STRIDE;
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
  let row = <usize>layout.EVENTS_BASE + <usize>load<u32>(record, layout.RECORD_EVENTS_FIRST) * layout.EVENT_STRIDE;
  const end = row + <usize>load<u32>(record, layout.RECORD_EVENTS_COUNT) * layout.EVENT_STRIDE;
  for (; row < end; row += layout.EVENT_STRIDE) {
    mayPause();
    const exemplar = beginMessage(field);
    putFixed64(2, load<u64>(row, layout.EVENT_TIME));
    const kind = load<u8>(row, layout.EVENT_VALUE_KIND);
    if (kind == layout.POINT_VALUE_DOUBLE) putBits(3, load<u64>(row, layout.EVENT_VALUE));
    putSpanId(4, row + layout.EVENT_SPAN_ID);
    putTraceId(5, row + layout.EVENT_TRACE_ID);
    if (kind == layout.POINT_VALUE_INT) putBits(6, load<u64>(row, layout.EVENT_VALUE));
    putAttributes(7, load<u32>(row, layout.EVENT_ATTRIBUTES_FIRST), load<u32>(row, layout.EVENT_ATTRIBUTES_COUNT));
    endMessage(exemplar);
  }
}
