/** Log records. */
import * as layout from '../../layout';
import { fail } from '../fail';
import { beginList } from '../symbols';
import { appendRecord, storeRange } from '../tables';
import { indexAttribute, indexKeylessValue, nextAttribute } from './attributes';
import * as reader from './reader';
import { checkTime, knownEnum, storeSpanId, storeTraceId } from './scalars';
import { storeText } from './value';

// LogRecord { time 1, severity_number 2, severity_text 3, body 5, attributes 6, dropped_attributes 7, flags 8, trace_id
// 9, span_id 10, observed_time 11, event_name 12 }
const LOG_FIELDS: u32 = 0x1fee;

const HIGHEST_SEVERITY: u32 = 24;

/**
 * Appends a log record. Its body follows its attributes in the table, so that the attributes are adjacent. See
 * `value.ts` for a repeated body.
 */
export function indexLogRecord(at: usize, end: usize, resource: u32, scope: u32): void {
  const row = appendRecord(at);
  const list = beginList();
  const firstAttribute = nextAttribute();
  let trace = at;
  let traceLength: usize = 0;
  let span = at;
  let spanLength: usize = 0;
  let body: usize = 0;
  let bodyEnd: usize = 0;
  let key: u32 = 0;
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if ((tag & 7) == 2) {
      const last = reader.readEnd(at, end);
      const start = reader.after(at);
      if (tag == reader.bytesTag(6)) key = indexAttribute(start, last, list, key);
      else if (tag == reader.bytesTag(5)) {
        if (body) fail(layout.FAIL_PROTOBUF, at);
        body = start;
        bodyEnd = last;
      } else if (tag == reader.bytesTag(9)) {
        trace = start;
        traceLength = last - start;
      } else if (tag == reader.bytesTag(10)) {
        span = start;
        spanLength = last - start;
      } else if (!indexLogText(tag, start, last, row)) reader.skipUnknown(tag, at, end, LOG_FIELDS);
      at = last;
    } else at = indexLogScalar(tag, at, end, row);
  }
  reader.closeMessage(at, end);
  storeTraceId(row + layout.RECORD_TRACE_ID, trace, traceLength, true);
  storeSpanId(row + layout.RECORD_SPAN_ID, span, spanLength, true);
  checkTime(load<u64>(row, layout.RECORD_START), at);
  checkTime(load<u64>(row, layout.RECORD_END), at);
  storeRange(row + layout.RECORD_ATTRIBUTES_FIRST, layout.HEADER_ATTRIBUTES, firstAttribute);
  store<u32>(row, resource, layout.RECORD_RESOURCE);
  store<u32>(row, scope, layout.RECORD_SCOPE);
  if (body) store<u32>(row, indexKeylessValue(body, bodyEnd) + 1, layout.RECORD_BODY);
}

/** The texts of a log record; false when the field is not one of them. */
function indexLogText(tag: u32, start: usize, last: usize, row: usize): bool {
  if (tag == reader.bytesTag(3)) {
    storeText(row, start, last, layout.RECORD_STATE_OFFSET, layout.RECORD_STATE_FLAGS);
  } else if (tag == reader.bytesTag(12)) {
    storeText(row, start, last, layout.RECORD_NAME_OFFSET, layout.RECORD_NAME_FLAGS);
  } else return false;
  return true;
}

function indexLogScalar(tag: u32, at: usize, end: usize, row: usize): usize {
  if (tag == reader.fixed64Tag(1)) {
    store<u64>(row, reader.readFixed64(at, end), layout.RECORD_START);
    return at + 8;
  }
  if (tag == reader.fixed64Tag(11)) {
    store<u64>(row, reader.readFixed64(at, end), layout.RECORD_END);
    return at + 8;
  }
  if (tag == reader.fixed32Tag(8)) {
    store<u32>(row, reader.readFixed32(at, end), layout.RECORD_FLAGS);
    return at + 4;
  }
  if (tag == reader.varintTag(2))
    store<u8>(row, knownEnum(reader.readVarint(at, end), HIGHEST_SEVERITY), layout.RECORD_KIND);
  else if (tag == reader.varintTag(7))
    store<u32>(row, <u32>reader.readVarint(at, end), layout.RECORD_DROPPED_ATTRIBUTES);
  else return reader.skipUnknown(tag, at, end, LOG_FIELDS);
  return reader.after(at);
}
