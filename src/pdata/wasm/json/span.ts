/** Spans of OTLP/JSON: a record row, and rows for events and links. */
import * as layout from '../../layout';
import { fail, failId } from '../fail';
import { appendEvent, appendLink, appendRecord, countOf, storeRange } from '../tables';
import { readId } from './binary';
import { endOfList, firstElement, memberId, nextElement, nextMember, openMessage } from './members';
import { integerValue, readEnum, readTime, readUnsigned32 } from './number';
import * as schema from './schema';
import { readTextField } from './text';
import { readAttributes } from './value';

/** The largest numbers of the enums. */
const LAST_KIND: u32 = 5;
const LAST_STATUS: u32 = 2;

export function readSpan(at: usize, owner: u64): usize {
  const begin = at;
  const row = appendRecord(at);
  store<u64>(row, owner, layout.RECORD_RESOURCE);
  at = openMessage(at, schema.SPAN_MESSAGE);
  while ((at = nextMember(at))) at = readSpanMember(at, row);
  if ((load<u64>(row, layout.RECORD_TRACE_ID) | load<u64>(row, layout.RECORD_TRACE_ID + 8)) == 0) failId(begin, 0);
  if (load<u64>(row, layout.RECORD_SPAN_ID) == 0) failId(begin, 0);
  if (load<u64>(row, layout.RECORD_START) == 0) fail(layout.FAIL_PAYLOAD, begin);
  return endOfList;
}

function readSpanMember(at: usize, row: usize): usize {
  switch (memberId) {
    case schema.TRACE_ID:
      return readId(at, row + layout.RECORD_TRACE_ID, 16);
    case schema.SPAN_ID:
      return readId(at, row + layout.RECORD_SPAN_ID, 8);
    case schema.PARENT_SPAN_ID:
      return readId(at, row + layout.RECORD_PARENT_SPAN_ID, 8);
    case schema.TRACE_STATE:
      return readTextField(at, row, layout.RECORD_STATE_OFFSET, layout.RECORD_STATE_FLAGS);
    case schema.NAME:
      return readTextField(at, row, layout.RECORD_NAME_OFFSET, layout.RECORD_NAME_FLAGS);
    case schema.START_TIME_UNIX_NANO:
      return readTimeField(at, row + layout.RECORD_START);
    case schema.END_TIME_UNIX_NANO:
      return readTimeField(at, row + layout.RECORD_END);
    case schema.ATTRIBUTES:
      return readAttributes(at, row + layout.RECORD_ATTRIBUTES_FIRST);
    case schema.EVENTS:
      return readEvents(at, row);
    case schema.LINKS:
      return readLinks(at, row);
    case schema.STATUS:
      return readStatus(at, row);
    case schema.KIND: {
      at = readEnum(at, LAST_KIND);
      store<u8>(row, <u8>integerValue, layout.RECORD_KIND);
      return at;
    }
    case schema.FLAGS:
      return readCountField(at, row + layout.RECORD_FLAGS);
    case schema.DROPPED_ATTRIBUTES_COUNT:
      return readCountField(at, row + layout.RECORD_DROPPED_ATTRIBUTES);
    case schema.DROPPED_EVENTS_COUNT:
      return readCountField(at, row + layout.RECORD_DROPPED_EVENTS);
    default:
      return readCountField(at, row + layout.RECORD_DROPPED_LINKS);
  }
}

/** Reads a timestamp to `target`. */
export function readTimeField(at: usize, target: usize): usize {
  at = readTime(at);
  store<u64>(target, integerValue);
  return at;
}

/** Reads an unsigned 32-bit integer to `target`. */
export function readCountField(at: usize, target: usize): usize {
  at = readUnsigned32(at);
  store<u32>(target, <u32>integerValue);
  return at;
}

function readStatus(at: usize, row: usize): usize {
  at = openMessage(at, schema.STATUS_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId != schema.CODE) {
      at = readTextField(at, row, layout.RECORD_MESSAGE_OFFSET, layout.RECORD_MESSAGE_FLAGS);
      continue;
    }
    at = readEnum(at, LAST_STATUS);
    store<u8>(row, <u8>integerValue, layout.RECORD_STATUS);
  }
  return endOfList;
}

function readEvents(at: usize, row: usize): usize {
  const first = countOf(layout.HEADER_EVENTS);
  for (let element = firstElement(at); element; ) element = nextElement(readEvent(element));
  storeRange(row + layout.RECORD_EVENTS_FIRST, layout.HEADER_EVENTS, first);
  return endOfList;
}

function readEvent(at: usize): usize {
  const row = appendEvent(at);
  at = openMessage(at, schema.EVENT_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId == schema.TIME_UNIX_NANO) at = readTimeField(at, row + layout.EVENT_TIME);
    else if (memberId == schema.NAME) at = readTextField(at, row, layout.EVENT_NAME_OFFSET, layout.EVENT_NAME_FLAGS);
    else if (memberId == schema.ATTRIBUTES) at = readAttributes(at, row + layout.EVENT_ATTRIBUTES_FIRST);
    else at = readCountField(at, row + layout.EVENT_DROPPED_ATTRIBUTES);
  }
  return endOfList;
}

function readLinks(at: usize, row: usize): usize {
  const first = countOf(layout.HEADER_LINKS);
  for (let element = firstElement(at); element; ) element = nextElement(readLink(element));
  storeRange(row + layout.RECORD_LINKS_FIRST, layout.HEADER_LINKS, first);
  return endOfList;
}

function readLink(at: usize): usize {
  const row = appendLink(at);
  at = openMessage(at, schema.LINK_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId == schema.TRACE_ID) at = readId(at, row + layout.LINK_TRACE_ID, 16);
    else if (memberId == schema.SPAN_ID) at = readId(at, row + layout.LINK_SPAN_ID, 8);
    else if (memberId == schema.TRACE_STATE)
      at = readTextField(at, row, layout.LINK_STATE_OFFSET, layout.LINK_STATE_FLAGS);
    else if (memberId == schema.ATTRIBUTES) at = readAttributes(at, row + layout.LINK_ATTRIBUTES_FIRST);
    else if (memberId == schema.FLAGS) at = readCountField(at, row + layout.LINK_FLAGS);
    else at = readCountField(at, row + layout.LINK_DROPPED_ATTRIBUTES);
  }
  return endOfList;
}
