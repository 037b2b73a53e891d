/** Spans, their events and links. */
import {
  EVENTS_BASE,
  EVENT_ATTRIBUTES_COUNT,
  EVENT_ATTRIBUTES_FIRST,
  EVENT_DROPPED_ATTRIBUTES,
  EVENT_NAME_FLAGS,
  EVENT_NAME_LENGTH,
  EVENT_NAME_OFFSET,
  EVENT_SOURCE_END,
  EVENT_SOURCE_START,
  EVENT_STRIDE,
  EVENT_TIME,
  FAIL_PAYLOAD,
  HEADER_EVENTS,
  HEADER_LINKS,
  LINKS_BASE,
  LINK_ATTRIBUTES_COUNT,
  LINK_ATTRIBUTES_FIRST,
  LINK_DROPPED_ATTRIBUTES,
  LINK_FLAGS,
  LINK_SOURCE_END,
  LINK_SOURCE_START,
  LINK_SPAN_ID,
  LINK_STATE_FLAGS,
  LINK_STATE_LENGTH,
  LINK_STATE_OFFSET,
  LINK_STRIDE,
  LINK_TRACE_ID,
  RECORD_ATTRIBUTES_COUNT,
  RECORD_ATTRIBUTES_FIRST,
  RECORD_DROPPED_ATTRIBUTES,
  RECORD_DROPPED_EVENTS,
  RECORD_DROPPED_LINKS,
  RECORD_END,
  RECORD_EVENTS_COUNT,
  RECORD_EVENTS_FIRST,
  RECORD_FLAGS,
  RECORD_KIND,
  RECORD_LINKS_COUNT,
  RECORD_LINKS_FIRST,
  RECORD_MESSAGE_FLAGS,
  RECORD_MESSAGE_LENGTH,
  RECORD_MESSAGE_OFFSET,
  RECORD_NAME_FLAGS,
  RECORD_NAME_LENGTH,
  RECORD_NAME_OFFSET,
  RECORD_PARENT_SPAN_ID,
  RECORD_RESOURCE,
  RECORD_SCOPE,
  RECORD_SPAN_ID,
  RECORD_START,
  RECORD_STATE_FLAGS,
  RECORD_STATE_LENGTH,
  RECORD_STATE_OFFSET,
  RECORD_STATUS,
  RECORD_TRACE_ID,
} from '../../layout';
import { fail } from '../fail';
import { beginList } from '../symbols';
import { appendEvent, appendLink, appendRecord, countOf } from '../tables';
import { indexAttribute, nextAttribute } from './attributes';
import {
  after,
  bytesTag,
  closeMessage,
  fixed32Tag,
  fixed64Tag,
  readEnd,
  readFixed32,
  readFixed64,
  readTag,
  readVarint,
  skipUnknown,
  varintTag,
} from './reader';
import { checkTime, knownEnum, storeSpanId, storeTraceId } from './scalars';
import { checkText } from './value';

// Span { trace_id 1, span_id 2, trace_state 3, parent_span_id 4, name 5, kind 6, start 7, end 8, attributes 9,
// dropped_attributes 10, events 11, dropped_events 12, links 13, dropped_links 14, status 15, flags 16 }
const SPAN_FIELDS: u32 = 0x1fffe;
// Status { message 2, code 3 }
const STATUS_FIELDS: u32 = (1 << 2) | (1 << 3);
// Event { time 1, name 2, attributes 3, dropped_attributes 4 }
const EVENT_FIELDS: u32 = 0x1e;
// Link { trace_id 1, span_id 2, trace_state 3, attributes 4, dropped_attributes 5, flags 6 }
const LINK_FIELDS: u32 = 0x7e;

const HIGHEST_KIND: u32 = 5;
const HIGHEST_STATUS: u32 = 2;

/**
 * Appends a span. Its events and links are only recorded during the walk and indexed after it, so that each owner's
 * rows are adjacent.
 */
export function indexSpan(at: usize, end: usize, resource: u32, scope: u32): void {
  const row = appendRecord(at);
  const list = beginList();
  const firstAttribute = nextAttribute();
  const firstEvent = countOf(HEADER_EVENTS);
  const firstLink = countOf(HEADER_LINKS);
  let trace = at;
  let traceLength: usize = 0;
  let span = at;
  let spanLength: usize = 0;
  let parent = at;
  let parentLength: usize = 0;
  let key: u32 = 0;
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if ((tag & 7) == 2) {
      const last = readEnd(at, end);
      const start = after(at);
      if (tag == bytesTag(9)) key = indexAttribute(start, last, list, key);
      else if (tag == bytesTag(1)) {
        trace = start;
        traceLength = last - start;
      } else if (tag == bytesTag(2)) {
        span = start;
        spanLength = last - start;
      } else if (tag == bytesTag(4)) {
        parent = start;
        parentLength = last - start;
      } else if (!indexSpanField(tag, start, last, row)) skipUnknown(tag, at, end, SPAN_FIELDS);
      at = last;
    } else at = indexSpanScalar(tag, at, end, row);
  }
  closeMessage(at, end);
  storeTraceId(row + RECORD_TRACE_ID, trace, traceLength, false);
  storeSpanId(row + RECORD_SPAN_ID, span, spanLength, false);
  storeSpanId(row + RECORD_PARENT_SPAN_ID, parent, parentLength, true);
  checkTime(load<u64>(row, RECORD_START), at);
  checkTime(load<u64>(row, RECORD_END), at);
  if (load<u64>(row, RECORD_START) == 0) fail(FAIL_PAYLOAD, at);
  store<u32>(row, firstAttribute, RECORD_ATTRIBUTES_FIRST);
  store<u32>(row, nextAttribute() - firstAttribute, RECORD_ATTRIBUTES_COUNT);
  store<u32>(row, resource, RECORD_RESOURCE);
  store<u32>(row, scope, RECORD_SCOPE);
  indexEvents(row, firstEvent);
  indexLinks(row, firstLink);
}

/** The rarer length-delimited fields of a span; false when the field is not one of them. */
function indexSpanField(tag: u32, start: usize, last: usize, row: usize): bool {
  if (tag == bytesTag(5)) {
    store<u8>(row, checkText(start, last), RECORD_NAME_FLAGS);
    store<u32>(row, start, RECORD_NAME_OFFSET);
    store<u32>(row, last - start, RECORD_NAME_LENGTH);
  } else if (tag == bytesTag(3)) {
    store<u8>(row, checkText(start, last), RECORD_STATE_FLAGS);
    store<u32>(row, start, RECORD_STATE_OFFSET);
    store<u32>(row, last - start, RECORD_STATE_LENGTH);
  } else if (tag == bytesTag(11)) {
    const event = appendEvent(start);
    store<u32>(event, start, EVENT_SOURCE_START);
    store<u32>(event, last, EVENT_SOURCE_END);
  } else if (tag == bytesTag(13)) {
    const link = appendLink(start);
    store<u32>(link, start, LINK_SOURCE_START);
    store<u32>(link, last, LINK_SOURCE_END);
  } else if (tag == bytesTag(15)) indexStatus(start, last, row);
  else return false;
  return true;
}

function indexSpanScalar(tag: u32, at: usize, end: usize, row: usize): usize {
  if (tag == fixed64Tag(7)) {
    store<u64>(row, readFixed64(at, end), RECORD_START);
    return at + 8;
  }
  if (tag == fixed64Tag(8)) {
    store<u64>(row, readFixed64(at, end), RECORD_END);
    return at + 8;
  }
  if (tag == fixed32Tag(16)) {
    store<u32>(row, readFixed32(at, end), RECORD_FLAGS);
    return at + 4;
  }
  if (tag == varintTag(6)) store<u8>(row, knownEnum(readVarint(at, end), HIGHEST_KIND), RECORD_KIND);
  else if (tag == varintTag(10)) store<u32>(row, <u32>readVarint(at, end), RECORD_DROPPED_ATTRIBUTES);
  else if (tag == varintTag(12)) store<u32>(row, <u32>readVarint(at, end), RECORD_DROPPED_EVENTS);
  else if (tag == varintTag(14)) store<u32>(row, <u32>readVarint(at, end), RECORD_DROPPED_LINKS);
  else return skipUnknown(tag, at, end, SPAN_FIELDS);
  return after(at);
}

/** A later status replaces an earlier one completely. */
function indexStatus(at: usize, end: usize, row: usize): void {
  store<u8>(row, 0, RECORD_STATUS);
  store<u8>(row, 0, RECORD_MESSAGE_FLAGS);
  store<u32>(row, 0, RECORD_MESSAGE_OFFSET);
  store<u32>(row, 0, RECORD_MESSAGE_LENGTH);
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(2)) {
      const last = readEnd(at, end);
      const start = after(at);
      store<u8>(row, checkText(start, last), RECORD_MESSAGE_FLAGS);
      store<u32>(row, start, RECORD_MESSAGE_OFFSET);
      store<u32>(row, last - start, RECORD_MESSAGE_LENGTH);
      at = last;
    } else if (tag == varintTag(3)) {
      store<u8>(row, knownEnum(readVarint(at, end), HIGHEST_STATUS), RECORD_STATUS);
      at = after(at);
    } else at = skipUnknown(tag, at, end, STATUS_FIELDS);
  }
  closeMessage(at, end);
}

function indexEvents(row: usize, first: u32): void {
  const count = countOf(HEADER_EVENTS) - first;
  store<u32>(row, first, RECORD_EVENTS_FIRST);
  store<u32>(row, count, RECORD_EVENTS_COUNT);
  for (let i = first; i < first + count; i++) indexEvent(<usize>EVENTS_BASE + <usize>i * EVENT_STRIDE);
}

function indexEvent(row: usize): void {
  let at = <usize>load<u32>(row, EVENT_SOURCE_START);
  const end = <usize>load<u32>(row, EVENT_SOURCE_END);
  const list = beginList();
  const firstAttribute = nextAttribute();
  let key: u32 = 0;
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(3)) {
      const last = readEnd(at, end);
      key = indexAttribute(after(at), last, list, key);
      at = last;
    } else if (tag == bytesTag(2)) {
      const last = readEnd(at, end);
      const start = after(at);
      store<u8>(row, checkText(start, last), EVENT_NAME_FLAGS);
      store<u32>(row, start, EVENT_NAME_OFFSET);
      store<u32>(row, last - start, EVENT_NAME_LENGTH);
      at = last;
    } else if (tag == fixed64Tag(1)) {
      store<u64>(row, readFixed64(at, end), EVENT_TIME);
      at += 8;
    } else if (tag == varintTag(4)) {
      store<u32>(row, <u32>readVarint(at, end), EVENT_DROPPED_ATTRIBUTES);
      at = after(at);
    } else at = skipUnknown(tag, at, end, EVENT_FIELDS);
  }
  closeMessage(at, end);
  checkTime(load<u64>(row, EVENT_TIME), at);
  store<u32>(row, firstAttribute, EVENT_ATTRIBUTES_FIRST);
  store<u32>(row, nextAttribute() - firstAttribute, EVENT_ATTRIBUTES_COUNT);
}

function indexLinks(row: usize, first: u32): void {
  const count = countOf(HEADER_LINKS) - first;
  store<u32>(row, first, RECORD_LINKS_FIRST);
  store<u32>(row, count, RECORD_LINKS_COUNT);
  for (let i = first; i < first + count; i++) indexLink(<usize>LINKS_BASE + <usize>i * LINK_STRIDE);
}

function indexLink(row: usize): void {
  let at = <usize>load<u32>(row, LINK_SOURCE_START);
  const end = <usize>load<u32>(row, LINK_SOURCE_END);
  const list = beginList();
  const firstAttribute = nextAttribute();
  let trace = at;
  let traceLength: usize = 0;
  let span = at;
  let spanLength: usize = 0;
  let key: u32 = 0;
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if ((tag & 7) == 2) {
      const last = readEnd(at, end);
      const start = after(at);
      if (tag == bytesTag(4)) key = indexAttribute(start, last, list, key);
      else if (tag == bytesTag(1)) {
        trace = start;
        traceLength = last - start;
      } else if (tag == bytesTag(2)) {
        span = start;
        spanLength = last - start;
      } else if (tag == bytesTag(3)) {
        store<u8>(row, checkText(start, last), LINK_STATE_FLAGS);
        store<u32>(row, start, LINK_STATE_OFFSET);
        store<u32>(row, last - start, LINK_STATE_LENGTH);
      } else skipUnknown(tag, at, end, LINK_FIELDS);
      at = last;
    } else if (tag == fixed32Tag(6)) {
      store<u32>(row, readFixed32(at, end), LINK_FLAGS);
      at += 4;
    } else if (tag == varintTag(5)) {
      store<u32>(row, <u32>readVarint(at, end), LINK_DROPPED_ATTRIBUTES);
      at = after(at);
    } else at = skipUnknown(tag, at, end, LINK_FIELDS);
  }
  closeMessage(at, end);
  storeTraceId(row + LINK_TRACE_ID, trace, traceLength, true);
  storeSpanId(row + LINK_SPAN_ID, span, spanLength, true);
  store<u32>(row, firstAttribute, LINK_ATTRIBUTES_FIRST);
  store<u32>(row, nextAttribute() - firstAttribute, LINK_ATTRIBUTES_COUNT);
}
