/** A log record as its OTLP message. */
import * as layout from '../../../layout';
import { attributeRow } from '../values';
import {
  beginMessage,
  endMessage,
  putFixed32,
  putFixed64,
  putNumber,
  putOptionalText,
  putSpanId,
  putTraceId,
} from './fields';
import { putAttributes, putValueMember, valueMayLeave } from './values';

/** Puts the fields of a LogRecord. */
export function putLog(record: usize): void {
  putFixed64(1, load<u64>(record, layout.RECORD_START));
  putNumber(2, load<u8>(record, layout.RECORD_KIND));
  putOptionalText(
    3,
    load<u32>(record, layout.RECORD_STATE_OFFSET),
    load<u32>(record, layout.RECORD_STATE_LENGTH),
    load<u8>(record, layout.RECORD_STATE_FLAGS),
  );
  putBody(load<u32>(record, layout.RECORD_BODY));
  putAttributes(
    6,
    load<u32>(record, layout.RECORD_ATTRIBUTES_FIRST),
    load<u32>(record, layout.RECORD_ATTRIBUTES_COUNT),
  );
  putNumber(7, load<u32>(record, layout.RECORD_DROPPED_ATTRIBUTES));
  putFixed32(8, load<u32>(record, layout.RECORD_FLAGS));
  putTraceId(9, record + layout.RECORD_TRACE_ID);
  putSpanId(10, record + layout.RECORD_SPAN_ID);
  putFixed64(11, load<u64>(record, layout.RECORD_END));
  putOptionalText(
    12,
    load<u32>(record, layout.RECORD_NAME_OFFSET),
    load<u32>(record, layout.RECORD_NAME_LENGTH),
    load<u8>(record, layout.RECORD_NAME_FLAGS),
  );
}

function putBody(body: u32): void {
  if (body == 0 || !valueMayLeave(attributeRow(body - 1))) return;
  const value = beginMessage(5);
  putValueMember(attributeRow(body - 1));
  endMessage(value);
}
