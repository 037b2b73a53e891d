/** Spans, their events and links. */
import * as layout from '../../layout';
import { fail } from '../fail';
import { beginList } from '../symbols';
import { appendEvent, appendLink, appendRecord, countOf, storeRange } from '../tables';
import { indexAttribute, nextAttribute } from './attributes';
import * as reader from './reader';
import { checkTime, knownEnum, storeSpanId, storeTraceId } from './scalars';
import { storeText } from './value';

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
  const firstEvent = countOf(layout.HEADER_EVENTS);
  const firstLink = countOf(layout.HEADER_LINKS);
  let trace = at;
  let traceLength: usize = 0;
  let span = at;
  let spanLength: usize = 0;
  let parent = at;
  let parentLength: usize = 0;
  let key: u32 = 0;
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if ((tag & 7) == 2) {
      const last = reader.readEnd(at, end);
      const start = reader.after(at);
      if (tag == reader.bytesTag(9)) key = indexAttribute(start, last, list, key);
      else if (tag == reader.bytesTag(1)) {
        trace = start;
        traceLength = last - start;
      } else if (tag == reader.bytesTag(2)) {
        span = start;
        spanLength = last - start;
      } else if (tag == reader.bytesTag(4)) {
        parent = start;
        parentLength = last - start;
      } else if (!indexSpanField(tag, start, last, row)) reader.skipUnknown(tag, at, end, SPAN_FIELDS);
      at = last;
    } else at = indexSpanScalar(tag, at, end, row);
  }
  reader.closeMessage(at, end);
  storeTraceId(row + layout.RECORD_TRACE_ID, trace, traceLength, false);
  storeSpanId(row + layout.RECORD_SPAN_ID, span, spanLength, false);
  storeSpanId(row + layout.RECORD_PARENT_SPAN_ID, parent, parentLength, true);
  checkTime(load<u64>(row, layout.RECORD_START), at);
  checkTime(load<u64>(row, layout.RECORD_END), at);
  if (load<u64>(row, layout.RECORD_START) == 0) fail(layout.FAIL_PAYLOAD, at);
  storeRange(row + layout.RECORD_ATTRIBUTES_FIRST, layout.HEADER_ATTRIBUTES, firstAttribute);
  store<u32>(row, resource, layout.RECORD_RESOURCE);
  store<u32>(row, scope, layout.RECORD_SCOPE);
  indexEvents(row, firstEvent);
  indexLinks(row, firstLink);
}

/** The rarer length-delimited fields of a span; false when the field is not one of them. */
function indexSpanField(tag: u32, start: usize, last: usize, row: usize): bool {
  if (tag == reader.bytesTag(5)) {
    storeText(row, start, last, layout.RECORD_NAME_OFFSET, layout.RECORD_NAME_FLAGS);
  } else if (tag == reader.bytesTag(3)) {
    storeText(row, start, last, layout.RECORD_STATE_OFFSET, layout.RECORD_STATE_FLAGS);
  } else if (tag == reader.bytesTag(11)) {
    const event = appendEvent(start);
    store<u32>(event, start, layout.EVENT_SOURCE_START);
    store<u32>(event, last, layout.EVENT_SOURCE_END);
  } else if (tag == reader.bytesTag(13)) {
    const link = appendLink(start);
    store<u32>(link, start, layout.LINK_SOURCE_START);
    store<u32>(link, last, layout.LINK_SOURCE_END);
  } else if (tag == reader.bytesTag(15)) indexStatus(start, last, row);
  else return false;
  return true;
}

function indexSpanScalar(tag: u32, at: usize, end: usize, row: usize): usize {
  if (tag == reader.fixed64Tag(7)) {
    store<u64>(row, reader.readFixed64(at, end), layout.RECORD_START);
    return at + 8;
  }
  if (tag == reader.fixed64Tag(8)) {
    store<u64>(row, reader.readFixed64(at, end), layout.RECORD_END);
    return at + 8;
  }
  if (tag == reader.fixed32Tag(16)) {
    store<u32>(row, reader.readFixed32(at, end), layout.RECORD_FLAGS);
    return at + 4;
  }
  if (tag == reader.varintTag(6))
    store<u8>(row, knownEnum(reader.readVarint(at, end), HIGHEST_KIND), layout.RECORD_KIND);
  else if (tag == reader.varintTag(10))
    store<u32>(row, <u32>reader.readVarint(at, end), layout.RECORD_DROPPED_ATTRIBUTES);
  else if (tag == reader.varintTag(12)) store<u32>(row, <u32>reader.readVarint(at, end), layout.RECORD_DROPPED_EVENTS);
  else if (tag == reader.varintTag(14)) store<u32>(row, <u32>reader.readVarint(at, end), layout.RECORD_DROPPED_LINKS);
  else return reader.skipUnknown(tag, at, end, SPAN_FIELDS);
  return reader.after(at);
}

/** A repeated status is merged into the first. */
function indexStatus(at: usize, end: usize, row: usize): void {
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if (tag == reader.bytesTag(2)) {
      const last = reader.readEnd(at, end);
      const start = reader.after(at);
      storeText(row, start, last, layout.RECORD_MESSAGE_OFFSET, layout.RECORD_MESSAGE_FLAGS);
      at = last;
    } else if (tag == reader.varintTag(3)) {
      store<u8>(row, knownEnum(reader.readVarint(at, end), HIGHEST_STATUS), layout.RECORD_STATUS);
      at = reader.after(at);
    } else at = reader.skipUnknown(tag, at, end, STATUS_FIELDS);
  }
  reader.closeMessage(at, end);
}

function indexEvents(row: usize, first: u32): void {
  storeRange(row + layout.RECORD_EVENTS_FIRST, layout.HEADER_EVENTS, first);
  for (let i = first; i < countOf(layout.HEADER_EVENTS); i++)
    indexEvent(<usize>layout.EVENTS_BASE + <usize>i * layout.EVENT_STRIDE);
}

function indexEvent(row: usize): void {
  let at = <usize>load<u32>(row, layout.EVENT_SOURCE_START);
  const end = <usize>load<u32>(row, layout.EVENT_SOURCE_END);
  const list = beginList();
  const firstAttribute = nextAttribute();
  let key: u32 = 0;
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if (tag == reader.bytesTag(3)) {
      const last = reader.readEnd(at, end);
      key = indexAttribute(reader.after(at), last, list, key);
      at = last;
    } else if (tag == reader.bytesTag(2)) {
      const last = reader.readEnd(at, end);
      const start = reader.after(at);
      storeText(row, start, last, layout.EVENT_NAME_OFFSET, layout.EVENT_NAME_FLAGS);
      at = last;
    } else if (tag == reader.fixed64Tag(1)) {
      store<u64>(row, reader.readFixed64(at, end), layout.EVENT_TIME);
      at += 8;
    } else if (tag == reader.varintTag(4)) {
      store<u32>(row, <u32>reader.readVarint(at, end), layout.EVENT_DROPPED_ATTRIBUTES);
      at = reader.after(at);
    } else at = reader.skipUnknown(tag, at, end, EVENT_FIELDS);
  }
  reader.closeMessage(at, end);
  checkTime(load<u64>(row, layout.EVENT_TIME), at);
  storeRange(row + layout.EVENT_ATTRIBUTES_FIRST, layout.HEADER_ATTRIBUTES, firstAttribute);
}

function indexLinks(row: usize, first: u32): void {
  storeRange(row + layout.RECORD_LINKS_FIRST, layout.HEADER_LINKS, first);
  for (let i = first; i < countOf(layout.HEADER_LINKS); i++)
    indexLink(<usize>layout.LINKS_BASE + <usize>i * layout.LINK_STRIDE);
}

function indexLink(row: usize): void {
  let at = <usize>load<u32>(row, layout.LINK_SOURCE_START);
  const end = <usize>load<u32>(row, layout.LINK_SOURCE_END);
  const list = beginList();
  const firstAttribute = nextAttribute();
  let trace = at;
  let traceLength: usize = 0;
  let span = at;
  let spanLength: usize = 0;
  let key: u32 = 0;
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if ((tag & 7) == 2) {
      const last = reader.readEnd(at, end);
      const start = reader.after(at);
      if (tag == reader.bytesTag(4)) key = indexAttribute(start, last, list, key);
      else if (tag == reader.bytesTag(1)) {
        trace = start;
        traceLength = last - start;
      } else if (tag == reader.bytesTag(2)) {
        span = start;
        spanLength = last - start;
      } else if (tag == reader.bytesTag(3)) {
        storeText(row, start, last, layout.LINK_STATE_OFFSET, layout.LINK_STATE_FLAGS);
      } else reader.skipUnknown(tag, at, end, LINK_FIELDS);
      at = last;
    } else if (tag == reader.fixed32Tag(6)) {
      store<u32>(row, reader.readFixed32(at, end), layout.LINK_FLAGS);
      at += 4;
    } else if (tag == reader.varintTag(5)) {
      store<u32>(row, <u32>reader.readVarint(at, end), layout.LINK_DROPPED_ATTRIBUTES);
      at = reader.after(at);
    } else at = reader.skipUnknown(tag, at, end, LINK_FIELDS);
  }
  reader.closeMessage(at, end);
  storeTraceId(row + layout.LINK_TRACE_ID, trace, traceLength, true);
  storeSpanId(row + layout.LINK_SPAN_ID, span, spanLength, true);
  storeRange(row + layout.LINK_ATTRIBUTES_FIRST, layout.HEADER_ATTRIBUTES, firstAttribute);
}
