/** Log records of OTLP/JSON: a record row, and an attribute row without a key for the body. */
import * as layout from '../../layout';
import { appendRecord } from '../tables';
import { readId } from './binary';
import { endOfList, memberId, nextMember, openMessage } from './members';
import { integerValue, readEnum } from './number';
import * as schema from './schema';
import { readCountField, readTimeField } from './span';
import { readTextField } from './text';
import { bodyRow, readAttributes, readBody } from './value';

/** The largest severity number. */
const LAST_SEVERITY: u32 = 24;

export function readLogRecord(at: usize, owner: u64): usize {
  const row = appendRecord(at);
  store<u64>(row, owner, layout.RECORD_RESOURCE);
  at = openMessage(at, schema.LOG_RECORD_MESSAGE);
  while ((at = nextMember(at))) at = readLogMember(at, row);
  return endOfList;
}

function readLogMember(at: usize, row: usize): usize {
  switch (memberId) {
    case schema.TIME_UNIX_NANO:
      return readTimeField(at, row + layout.RECORD_START);
    case schema.OBSERVED_TIME_UNIX_NANO:
      return readTimeField(at, row + layout.RECORD_END);
    case schema.SEVERITY_NUMBER: {
      at = readEnum(at, LAST_SEVERITY);
      store<u8>(row, <u8>integerValue, layout.RECORD_KIND);
      return at;
    }
    case schema.SEVERITY_TEXT:
      return readTextField(at, row, layout.RECORD_STATE_OFFSET, layout.RECORD_STATE_FLAGS);
    case schema.EVENT_NAME:
      return readTextField(at, row, layout.RECORD_NAME_OFFSET, layout.RECORD_NAME_FLAGS);
    case schema.BODY: {
      at = readBody(at);
      store<u32>(row, bodyRow + 1, layout.RECORD_BODY);
      return at;
    }
    case schema.ATTRIBUTES:
      return readAttributes(at, row + layout.RECORD_ATTRIBUTES_FIRST);
    case schema.TRACE_ID:
      return readId(at, row + layout.RECORD_TRACE_ID, 16);
    case schema.SPAN_ID:
      return readId(at, row + layout.RECORD_SPAN_ID, 8);
    case schema.FLAGS:
      return readCountField(at, row + layout.RECORD_FLAGS);
    default:
      return readCountField(at, row + layout.RECORD_DROPPED_ATTRIBUTES);
  }
}
