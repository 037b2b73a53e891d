/** The JSON lists of a record: span events, span links, exemplars, histogram buckets, quantiles. */
import * as layout from '../../layout';
import { mayPause } from '../pause';
import { putDouble, putHex8, putSigned, putUnsigned } from './numbers';
import { closeList, FIXED_ROOM, openList, put, putByte, room } from './output';
import { putAttributes, putQuoted } from './values';

function putDropped(count: u32): void {
  if (count == 0) return;
  put(',"dropped_attributes_count":');
  putUnsigned(count);
}

/** Puts the span events that may be stored. */
export function putEvents(first: u32, count: u32): void {
  const start = openList(0x5b);
  let row = <usize>layout.EVENTS_BASE + <usize>first * layout.EVENT_STRIDE;
  const end = row + <usize>count * layout.EVENT_STRIDE;
  for (; row < end; row += layout.EVENT_STRIDE) {
    mayPause();
    if (load<u8>(row, layout.EVENT_DISPOSITION) != layout.DISPOSITION_KEEP) continue;
    room(FIXED_ROOM);
    put('{"name":');
    putQuoted(
      load<u32>(row, layout.EVENT_NAME_OFFSET),
      load<u32>(row, layout.EVENT_NAME_LENGTH),
      load<u8>(row, layout.EVENT_NAME_FLAGS),
    );
    room(FIXED_ROOM);
    put(',"time_unix_nano":"');
    putUnsigned(load<u64>(row, layout.EVENT_TIME));
    put('","attributes":');
    putAttributes(load<u32>(row, layout.EVENT_ATTRIBUTES_FIRST), load<u32>(row, layout.EVENT_ATTRIBUTES_COUNT));
    room(FIXED_ROOM);
    putDropped(load<u32>(row, layout.EVENT_DROPPED_ATTRIBUTES));
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
  const start = openList(0x5b);
  let row = <usize>layout.LINKS_BASE + <usize>first * layout.LINK_STRIDE;
  const end = row + <usize>count * layout.LINK_STRIDE;
  for (; row < end; row += layout.LINK_STRIDE) {
    mayPause();
    room(FIXED_ROOM);
    putByte(0x7b);
    putIds(row + layout.LINK_TRACE_ID, row + layout.LINK_SPAN_ID);
    const state = load<u32>(row, layout.LINK_STATE_LENGTH);
    if (state > 0) {
      put(',"trace_state":');
      putQuoted(load<u32>(row, layout.LINK_STATE_OFFSET), state, load<u8>(row, layout.LINK_STATE_FLAGS));
      room(FIXED_ROOM);
    }
    put(',"attributes":');
    putAttributes(load<u32>(row, layout.LINK_ATTRIBUTES_FIRST), load<u32>(row, layout.LINK_ATTRIBUTES_COUNT));
    room(FIXED_ROOM);
    const flags = load<u32>(row, layout.LINK_FLAGS);
    if (flags != 0) {
      put(',"flags":');
      putUnsigned(flags);
    }
    putDropped(load<u32>(row, layout.LINK_DROPPED_ATTRIBUTES));
    put('},');
  }
  closeList(start, 0x5d);
}

export function putExemplars(first: u32, count: u32): void {
  const start = openList(0x5b);
  let row = <usize>layout.EVENTS_BASE + <usize>first * layout.EVENT_STRIDE;
  const end = row + <usize>count * layout.EVENT_STRIDE;
  for (; row < end; row += layout.EVENT_STRIDE) {
    mayPause();
    room(FIXED_ROOM);
    put('{"time_unix_nano":"');
    putUnsigned(load<u64>(row, layout.EVENT_TIME));
    put('","value":');
    const kind = load<u8>(row, layout.EVENT_VALUE_KIND);
    if (kind == layout.POINT_VALUE_INT) putSigned(load<i64>(row, layout.EVENT_VALUE));
    else if (kind == layout.POINT_VALUE_DOUBLE) putDouble(load<f64>(row, layout.EVENT_VALUE));
    else put('null');
    putExemplarIds(row);
    put(',"attributes":');
    putAttributes(load<u32>(row, layout.EVENT_ATTRIBUTES_FIRST), load<u32>(row, layout.EVENT_ATTRIBUTES_COUNT));
    put('},');
  }
  closeList(start, 0x5d);
}

/** An exemplar contains its ids only when it has them. */
function putExemplarIds(row: usize): void {
  if ((load<u64>(row, layout.EVENT_TRACE_ID) | load<u64>(row, layout.EVENT_TRACE_ID + 8)) != 0) {
    put(',"trace_id":"');
    putHex8(row + layout.EVENT_TRACE_ID);
    putHex8(row + layout.EVENT_TRACE_ID + 8);
    putByte(0x22);
  }
  if (load<u64>(row, layout.EVENT_SPAN_ID) != 0) {
    put(',"span_id":"');
    putHex8(row + layout.EVENT_SPAN_ID);
    putByte(0x22);
  }
}

function numberRow(index: u32): usize {
  return <usize>layout.NUMBERS_BASE + <usize>index * layout.NUMBER_STRIDE;
}

function putCounts(first: u32, count: u32): void {
  const start = openList(0x5b);
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
  const start = openList(0x5b);
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
  putBounds(load<u32>(point, layout.POINT_BOUNDS_FIRST), load<u32>(point, layout.POINT_BOUNDS_COUNT));
  room(FIXED_ROOM);
  put(',"bucket_counts":');
  putCounts(load<u32>(point, layout.POINT_BUCKETS_FIRST), load<u32>(point, layout.POINT_BUCKETS_COUNT));
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
  const has = load<u32>(point, layout.POINT_HAS);
  room(FIXED_ROOM);
  put('{"scale":');
  putSigned(load<i32>(point, layout.POINT_SCALE));
  put(',"zero_count":"');
  putUnsigned(load<u64>(point, layout.POINT_ZERO_COUNT));
  put('","zero_threshold":');
  putDouble(load<f64>(point, layout.POINT_ZERO_THRESHOLD));
  put(',"positive":');
  if (has & layout.POINT_HAS_POSITIVE) {
    putSide(
      load<i32>(point, layout.POINT_POSITIVE_OFFSET),
      load<u32>(point, layout.POINT_POSITIVE_FIRST),
      load<u32>(point, layout.POINT_POSITIVE_COUNT),
    );
  } else {
    put('null');
  }
  room(FIXED_ROOM);
  put(',"negative":');
  if (has & layout.POINT_HAS_NEGATIVE) {
    putSide(
      load<i32>(point, layout.POINT_NEGATIVE_OFFSET),
      load<u32>(point, layout.POINT_NEGATIVE_FIRST),
      load<u32>(point, layout.POINT_NEGATIVE_COUNT),
    );
  } else {
    put('null');
  }
  putByte(0x7d);
}

export function putQuantiles(point: usize): void {
  const first = load<u32>(point, layout.POINT_QUANTILES_FIRST);
  const count = load<u32>(point, layout.POINT_QUANTILES_COUNT);
  const start = openList(0x5b);
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
