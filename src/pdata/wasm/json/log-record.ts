/** Log records of OTLP/JSON: a record row, and an attribute row without a key for the body. */
import {
  RECORD_ATTRIBUTES_FIRST,
  RECORD_BODY,
  RECORD_DROPPED_ATTRIBUTES,
  RECORD_END,
  RECORD_FLAGS,
  RECORD_KIND,
  RECORD_NAME_FLAGS,
  RECORD_NAME_OFFSET,
  RECORD_RESOURCE,
  RECORD_SPAN_ID,
  RECORD_START,
  RECORD_STATE_FLAGS,
  RECORD_STATE_OFFSET,
  RECORD_TRACE_ID,
} from '../../layout';
import { appendRecord } from '../tables';
import { readId } from './binary';
import { endOfList, memberId, nextMember, openMessage } from './members';
import { integerValue, readEnum } from './number';
import {
  ATTRIBUTES,
  BODY,
  EVENT_NAME,
  FLAGS,
  LOG_RECORD_MESSAGE,
  OBSERVED_TIME_UNIX_NANO,
  SEVERITY_NUMBER,
  SEVERITY_TEXT,
  SPAN_ID,
  TIME_UNIX_NANO,
  TRACE_ID,
} from './schema';
import { readCountField, readTimeField } from './span';
import { readTextField } from './text';
import { bodyRow, readAttributes, readBody } from './value';

/** The largest severity number. */
const LAST_SEVERITY: u32 = 24;

export function readLogRecord(at: usize, owner: u64): usize {
  const row = appendRecord(at);
  store<u64>(row, owner, RECORD_RESOURCE);
  at = openMessage(at, LOG_RECORD_MESSAGE);
  while ((at = nextMember(at))) at = readLogMember(at, row);
  return endOfList;
}

function readLogMember(at: usize, row: usize): usize {
  switch (memberId) {
    case TIME_UNIX_NANO:
      return readTimeField(at, row + RECORD_START);
    case OBSERVED_TIME_UNIX_NANO:
      return readTimeField(at, row + RECORD_END);
    case SEVERITY_NUMBER: {
      at = readEnum(at, LAST_SEVERITY);
      store<u8>(row, <u8>integerValue, RECORD_KIND);
      return at;
    }
    case SEVERITY_TEXT:
      return readTextField(at, row, RECORD_STATE_OFFSET, RECORD_STATE_FLAGS);
    case EVENT_NAME:
      return readTextField(at, row, RECORD_NAME_OFFSET, RECORD_NAME_FLAGS);
    case BODY: {
      at = readBody(at);
      store<u32>(row, bodyRow + 1, RECORD_BODY);
      return at;
    }
    case ATTRIBUTES:
      return readAttributes(at, row + RECORD_ATTRIBUTES_FIRST);
    case TRACE_ID:
      return readId(at, row + RECORD_TRACE_ID, 16);
    case SPAN_ID:
      return readId(at, row + RECORD_SPAN_ID, 8);
    case FLAGS:
      return readCountField(at, row + RECORD_FLAGS);
    default:
      return readCountField(at, row + RECORD_DROPPED_ATTRIBUTES);
  }
}
