/** The JSON lists of a record: span events, span links, exemplars, histogram buckets, quantiles. */
import {
  EVENTS_BASE,
  EVENT_ATTRIBUTES_COUNT,
  EVENT_ATTRIBUTES_FIRST,
  EVENT_DROPPED_ATTRIBUTES,
  EVENT_NAME_FLAGS,
  EVENT_NAME_LENGTH,
  EVENT_NAME_OFFSET,
  EVENT_SPAN_ID,
  EVENT_STRIDE,
  EVENT_TIME,
  EVENT_TRACE_ID,
  EVENT_VALUE,
  EVENT_VALUE_KIND,
  EVENT_DISPOSITION,
  LINKS_BASE,
  LINK_ATTRIBUTES_COUNT,
  LINK_ATTRIBUTES_FIRST,
  LINK_DROPPED_ATTRIBUTES,
  LINK_FLAGS,
  LINK_SPAN_ID,
  LINK_STATE_FLAGS,
  LINK_STATE_LENGTH,
  LINK_STATE_OFFSET,
  LINK_STRIDE,
  LINK_TRACE_ID,
  NUMBERS_BASE,
  NUMBER_STRIDE,
  POINT_BOUNDS_COUNT,
  POINT_BOUNDS_FIRST,
  POINT_BUCKETS_COUNT,
  POINT_BUCKETS_FIRST,
  POINT_HAS,
  POINT_HAS_NEGATIVE,
  POINT_HAS_POSITIVE,
  POINT_NEGATIVE_COUNT,
  POINT_NEGATIVE_FIRST,
  POINT_NEGATIVE_OFFSET,
  POINT_POSITIVE_COUNT,
  POINT_POSITIVE_FIRST,
  POINT_POSITIVE_OFFSET,
  POINT_QUANTILES_COUNT,
  POINT_QUANTILES_FIRST,
  POINT_SCALE,
  POINT_VALUE_DOUBLE,
  POINT_VALUE_INT,
  POINT_ZERO_COUNT,
  POINT_ZERO_THRESHOLD,
  DISPOSITION_KEEP,
} from '../../layout';
import { mayPause } from '../pause';
import { putDouble, putHex8, putSigned, putUnsigned } from './numbers';
import { FIXED_ROOM, out, put, putByte, room } from './output';
import { closeList } from './protobuf-values';
import { putAttributes, putQuoted } from './values';

function putDropped(count: u32): void {
  if (count == 0) return;
  put(',"dropped_attributes_count":');
  putUnsigned(count);
}

/** Puts the span events that may be stored. */
export function putEvents(first: u32, count: u32): void {
  room(FIXED_ROOM);
  putByte(0x5b);
  const start = out;
  let row = <usize>EVENTS_BASE + <usize>first * EVENT_STRIDE;
  const end = row + <usize>count * EVENT_STRIDE;
  for (; row < end; row += EVENT_STRIDE) {
    mayPause();
    if (load<u8>(row, EVENT_DISPOSITION) != DISPOSITION_KEEP) continue;
    room(FIXED_ROOM);
    put('{"name":');
    putQuoted(load<u32>(row, EVENT_NAME_OFFSET), load<u32>(row, EVENT_NAME_LENGTH), load<u8>(row, EVENT_NAME_FLAGS));
    room(FIXED_ROOM);
    put(',"time_unix_nano":"');
    putUnsigned(load<u64>(row, EVENT_TIME));
    put('","attributes":');
    putAttributes(load<u32>(row, EVENT_ATTRIBUTES_FIRST), load<u32>(row, EVENT_ATTRIBUTES_COUNT));
    room(FIXED_ROOM);
    putDropped(load<u32>(row, EVENT_DROPPED_ATTRIBUTES));
    put('},');
  }
  closeList(start, 0x5d);
}

/** Puts both ids, quoted, after their names; an absent one is null. */
function putIds(traceId: usize, spanId: usize): void {
  if ((load<u64>(traceId) | load<u64>(traceId, 8)) == 0) {
    put('"trace_id":null');
  } else {
    put('"trace_id":"');
    putHex8(traceId);
    putHex8(traceId + 8);
    putByte(0x22);
  }
  if (load<u64>(spanId) == 0) {
    put(',"span_id":null');
  } else {
    put(',"span_id":"');
    putHex8(spanId);
    putByte(0x22);
  }
}

export function putLinks(first: u32, count: u32): void {
  room(FIXED_ROOM);
  putByte(0x5b);
  const start = out;
  let row = <usize>LINKS_BASE + <usize>first * LINK_STRIDE;
  const end = row + <usize>count * LINK_STRIDE;
  for (; row < end; row += LINK_STRIDE) {
    mayPause();
    room(FIXED_ROOM);
    putByte(0x7b);
    putIds(row + LINK_TRACE_ID, row + LINK_SPAN_ID);
    const state = load<u32>(row, LINK_STATE_LENGTH);
    if (state > 0) {
      put(',"trace_state":');
      putQuoted(load<u32>(row, LINK_STATE_OFFSET), state, load<u8>(row, LINK_STATE_FLAGS));
      room(FIXED_ROOM);
    }
    put(',"attributes":');
    putAttributes(load<u32>(row, LINK_ATTRIBUTES_FIRST), load<u32>(row, LINK_ATTRIBUTES_COUNT));
    room(FIXED_ROOM);
    const flags = load<u32>(row, LINK_FLAGS);
    if (flags != 0) {
      put(',"flags":');
      putUnsigned(flags);
    }
    putDropped(load<u32>(row, LINK_DROPPED_ATTRIBUTES));
    put('},');
  }
  closeList(start, 0x5d);
}

export function putExemplars(first: u32, count: u32): void {
  room(FIXED_ROOM);
  putByte(0x5b);
  const start = out;
  let row = <usize>EVENTS_BASE + <usize>first * EVENT_STRIDE;
  const end = row + <usize>count * EVENT_STRIDE;
  for (; row < end; row += EVENT_STRIDE) {
    mayPause();
    room(FIXED_ROOM);
    put('{"time_unix_nano":"');
    putUnsigned(load<u64>(row, EVENT_TIME));
    put('","value":');
    const kind = load<u8>(row, EVENT_VALUE_KIND);
    if (kind == POINT_VALUE_INT) putSigned(load<i64>(row, EVENT_VALUE));
    else if (kind == POINT_VALUE_DOUBLE) putDouble(load<f64>(row, EVENT_VALUE));
    else put('null');
    putExemplarIds(row);
    put(',"attributes":');
    putAttributes(load<u32>(row, EVENT_ATTRIBUTES_FIRST), load<u32>(row, EVENT_ATTRIBUTES_COUNT));
    put('},');
  }
  closeList(start, 0x5d);
}

/** An exemplar contains its ids only when it has them. */
function putExemplarIds(row: usize): void {
  if ((load<u64>(row, EVENT_TRACE_ID) | load<u64>(row, EVENT_TRACE_ID + 8)) != 0) {
    put(',"trace_id":"');
    putHex8(row + EVENT_TRACE_ID);
    putHex8(row + EVENT_TRACE_ID + 8);
    putByte(0x22);
  }
  if (load<u64>(row, EVENT_SPAN_ID) != 0) {
    put(',"span_id":"');
    putHex8(row + EVENT_SPAN_ID);
    putByte(0x22);
  }
}

// @ts-ignore: decorator
@inline
function numberRow(index: u32): usize {
  return <usize>NUMBERS_BASE + <usize>index * NUMBER_STRIDE;
}

function putCounts(first: u32, count: u32): void {
  room(FIXED_ROOM);
  putByte(0x5b);
  const start = out;
  for (let i: u32 = 0; i < count; i++) {
    mayPause();
    room(FIXED_ROOM);
    putByte(0x22);
    putUnsigned(load<u64>(numberRow(first + i)));
    put('",');
  }
  closeList(start, 0x5d);
}

function putBounds(first: u32, count: u32): void {
  room(FIXED_ROOM);
  putByte(0x5b);
  const start = out;
  for (let i: u32 = 0; i < count; i++) {
    mayPause();
    room(FIXED_ROOM);
    putDouble(load<f64>(numberRow(first + i)));
    putByte(0x2c);
  }
  closeList(start, 0x5d);
}

export function putHistogramBuckets(point: usize): void {
  room(FIXED_ROOM);
  put('{"explicit_bounds":');
  putBounds(load<u32>(point, POINT_BOUNDS_FIRST), load<u32>(point, POINT_BOUNDS_COUNT));
  room(FIXED_ROOM);
  put(',"bucket_counts":');
  putCounts(load<u32>(point, POINT_BUCKETS_FIRST), load<u32>(point, POINT_BUCKETS_COUNT));
  putByte(0x7d);
}

function putSide(offset: i32, first: u32, count: u32): void {
  put('{"offset":');
  putSigned(offset);
  put(',"bucket_counts":');
  putCounts(first, count);
  putByte(0x7d);
}

export function putExponentialBuckets(point: usize): void {
  const has = load<u32>(point, POINT_HAS);
  room(FIXED_ROOM);
  put('{"scale":');
  putSigned(load<i32>(point, POINT_SCALE));
  put(',"zero_count":"');
  putUnsigned(load<u64>(point, POINT_ZERO_COUNT));
  put('","zero_threshold":');
  putDouble(load<f64>(point, POINT_ZERO_THRESHOLD));
  put(',"positive":');
  if (has & POINT_HAS_POSITIVE) {
    putSide(
      load<i32>(point, POINT_POSITIVE_OFFSET),
      load<u32>(point, POINT_POSITIVE_FIRST),
      load<u32>(point, POINT_POSITIVE_COUNT),
    );
  } else {
    put('null');
  }
  room(FIXED_ROOM);
  put(',"negative":');
  if (has & POINT_HAS_NEGATIVE) {
    putSide(
      load<i32>(point, POINT_NEGATIVE_OFFSET),
      load<u32>(point, POINT_NEGATIVE_FIRST),
      load<u32>(point, POINT_NEGATIVE_COUNT),
    );
  } else {
    put('null');
  }
  putByte(0x7d);
}

export function putQuantiles(point: usize): void {
  const first = load<u32>(point, POINT_QUANTILES_FIRST);
  const count = load<u32>(point, POINT_QUANTILES_COUNT);
  room(FIXED_ROOM);
  putByte(0x5b);
  const start = out;
  for (let i: u32 = 0; i < count; i++) {
    mayPause();
    room(FIXED_ROOM);
    put('{"quantile":');
    putDouble(load<f64>(numberRow(first + i * 2)));
    put(',"value":');
    putDouble(load<f64>(numberRow(first + i * 2 + 1)));
    put('},');
  }
  closeList(start, 0x5d);
}
