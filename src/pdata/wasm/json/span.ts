/** Spans of OTLP/JSON: a record row, and rows for events and links. */
import {
  EVENT_ATTRIBUTES_FIRST,
  EVENT_DROPPED_ATTRIBUTES,
  EVENT_NAME_FLAGS,
  EVENT_NAME_OFFSET,
  EVENT_TIME,
  FAIL_ID,
  FAIL_PAYLOAD,
  HEADER_EVENTS,
  HEADER_LINKS,
  LINK_ATTRIBUTES_FIRST,
  LINK_DROPPED_ATTRIBUTES,
  LINK_FLAGS,
  LINK_SPAN_ID,
  LINK_STATE_FLAGS,
  LINK_STATE_OFFSET,
  LINK_TRACE_ID,
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
  RECORD_MESSAGE_OFFSET,
  RECORD_NAME_FLAGS,
  RECORD_NAME_OFFSET,
  RECORD_PARENT_SPAN_ID,
  RECORD_RESOURCE,
  RECORD_SPAN_ID,
  RECORD_START,
  RECORD_STATE_FLAGS,
  RECORD_STATE_OFFSET,
  RECORD_STATUS,
  RECORD_TRACE_ID,
} from '../../layout';
import { fail } from '../fail';
import { appendEvent, appendLink, appendRecord, countOf } from '../tables';
import { readId } from './binary';
import { endOfList, firstElement, memberId, nextElement, nextMember, openMessage } from './members';
import { integerValue, readEnum, readTime, readUnsigned32 } from './number';
import {
  ATTRIBUTES,
  CODE,
  DROPPED_ATTRIBUTES_COUNT,
  DROPPED_EVENTS_COUNT,
  END_TIME_UNIX_NANO,
  EVENTS,
  EVENT_MESSAGE,
  FLAGS,
  KIND,
  LINKS,
  LINK_MESSAGE,
  NAME,
  PARENT_SPAN_ID,
  SPAN_ID,
  SPAN_MESSAGE,
  START_TIME_UNIX_NANO,
  STATUS,
  STATUS_MESSAGE,
  TIME_UNIX_NANO,
  TRACE_ID,
  TRACE_STATE,
} from './schema';
import { readTextField } from './text';
import { readAttributes } from './value';

/** The largest numbers of the enums. */
const LAST_KIND: u32 = 5;
const LAST_STATUS: u32 = 2;

export function readSpan(at: usize, owner: u64): usize {
  const begin = at;
  const row = appendRecord(at);
  store<u64>(row, owner, RECORD_RESOURCE);
  at = openMessage(at, SPAN_MESSAGE);
  while ((at = nextMember(at))) at = readSpanMember(at, row);
  if ((load<u64>(row, RECORD_TRACE_ID) | load<u64>(row, RECORD_TRACE_ID + 8)) == 0) fail(FAIL_ID, begin);
  if (load<u64>(row, RECORD_SPAN_ID) == 0) fail(FAIL_ID, begin);
  if (load<u64>(row, RECORD_START) == 0) fail(FAIL_PAYLOAD, begin);
  return endOfList;
}

function readSpanMember(at: usize, row: usize): usize {
  switch (memberId) {
    case TRACE_ID:
      return readId(at, row + RECORD_TRACE_ID, 16);
    case SPAN_ID:
      return readId(at, row + RECORD_SPAN_ID, 8);
    case PARENT_SPAN_ID:
      return readId(at, row + RECORD_PARENT_SPAN_ID, 8);
    case TRACE_STATE:
      return readTextField(at, row, RECORD_STATE_OFFSET, RECORD_STATE_FLAGS);
    case NAME:
      return readTextField(at, row, RECORD_NAME_OFFSET, RECORD_NAME_FLAGS);
    case START_TIME_UNIX_NANO:
      return readTimeField(at, row + RECORD_START);
    case END_TIME_UNIX_NANO:
      return readTimeField(at, row + RECORD_END);
    case ATTRIBUTES:
      return readAttributes(at, row + RECORD_ATTRIBUTES_FIRST);
    case EVENTS:
      return readEvents(at, row);
    case LINKS:
      return readLinks(at, row);
    case STATUS:
      return readStatus(at, row);
    case KIND: {
      at = readEnum(at, LAST_KIND);
      store<u8>(row, <u8>integerValue, RECORD_KIND);
      return at;
    }
    case FLAGS:
      return readCountField(at, row + RECORD_FLAGS);
    case DROPPED_ATTRIBUTES_COUNT:
      return readCountField(at, row + RECORD_DROPPED_ATTRIBUTES);
    case DROPPED_EVENTS_COUNT:
      return readCountField(at, row + RECORD_DROPPED_EVENTS);
    default:
      return readCountField(at, row + RECORD_DROPPED_LINKS);
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
  at = openMessage(at, STATUS_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId != CODE) {
      at = readTextField(at, row, RECORD_MESSAGE_OFFSET, RECORD_MESSAGE_FLAGS);
      continue;
    }
    at = readEnum(at, LAST_STATUS);
    store<u8>(row, <u8>integerValue, RECORD_STATUS);
  }
  return endOfList;
}

function readEvents(at: usize, row: usize): usize {
  const first = countOf(HEADER_EVENTS);
  for (let element = firstElement(at); element; ) element = nextElement(readEvent(element));
  store<u32>(row, first, RECORD_EVENTS_FIRST);
  store<u32>(row, countOf(HEADER_EVENTS) - first, RECORD_EVENTS_COUNT);
  return endOfList;
}

function readEvent(at: usize): usize {
  const row = appendEvent(at);
  at = openMessage(at, EVENT_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId == TIME_UNIX_NANO) at = readTimeField(at, row + EVENT_TIME);
    else if (memberId == NAME) at = readTextField(at, row, EVENT_NAME_OFFSET, EVENT_NAME_FLAGS);
    else if (memberId == ATTRIBUTES) at = readAttributes(at, row + EVENT_ATTRIBUTES_FIRST);
    else at = readCountField(at, row + EVENT_DROPPED_ATTRIBUTES);
  }
  return endOfList;
}

function readLinks(at: usize, row: usize): usize {
  const first = countOf(HEADER_LINKS);
  for (let element = firstElement(at); element; ) element = nextElement(readLink(element));
  store<u32>(row, first, RECORD_LINKS_FIRST);
  store<u32>(row, countOf(HEADER_LINKS) - first, RECORD_LINKS_COUNT);
  return endOfList;
}

function readLink(at: usize): usize {
  const row = appendLink(at);
  at = openMessage(at, LINK_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId == TRACE_ID) at = readId(at, row + LINK_TRACE_ID, 16);
    else if (memberId == SPAN_ID) at = readId(at, row + LINK_SPAN_ID, 8);
    else if (memberId == TRACE_STATE) at = readTextField(at, row, LINK_STATE_OFFSET, LINK_STATE_FLAGS);
    else if (memberId == ATTRIBUTES) at = readAttributes(at, row + LINK_ATTRIBUTES_FIRST);
    else if (memberId == FLAGS) at = readCountField(at, row + LINK_FLAGS);
    else at = readCountField(at, row + LINK_DROPPED_ATTRIBUTES);
  }
  return endOfList;
}
