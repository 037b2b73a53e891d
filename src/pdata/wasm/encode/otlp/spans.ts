/** A span as its OTLP message. */
import {
  EVENTS_BASE,
  EVENT_ATTRIBUTES_COUNT,
  EVENT_ATTRIBUTES_FIRST,
  EVENT_DROPPED_ATTRIBUTES,
  EVENT_NAME_FLAGS,
  EVENT_NAME_LENGTH,
  EVENT_NAME_OFFSET,
  EVENT_STRIDE,
  EVENT_TIME,
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
  RECORD_SPAN_ID,
  RECORD_START,
  RECORD_STATE_FLAGS,
  RECORD_STATE_LENGTH,
  RECORD_STATE_OFFSET,
  RECORD_STATUS,
  RECORD_TRACE_ID,
  DISPOSITION_KEEP,
} from '../../../layout';
import { mayPause } from '../../pause';
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
import { putAttributes } from './values';

/** Puts the fields of a Span. */
export function putSpan(record: usize): void {
  putTraceId(1, record + RECORD_TRACE_ID);
  putSpanId(2, record + RECORD_SPAN_ID);
  putOptionalText(
    3,
    load<u32>(record, RECORD_STATE_OFFSET),
    load<u32>(record, RECORD_STATE_LENGTH),
    load<u8>(record, RECORD_STATE_FLAGS),
  );
  putSpanId(4, record + RECORD_PARENT_SPAN_ID);
  putOptionalText(
    5,
    load<u32>(record, RECORD_NAME_OFFSET),
    load<u32>(record, RECORD_NAME_LENGTH),
    load<u8>(record, RECORD_NAME_FLAGS),
  );
  putNumber(6, load<u8>(record, RECORD_KIND));
  putFixed64(7, load<u64>(record, RECORD_START));
  putFixed64(8, load<u64>(record, RECORD_END));
  putAttributes(9, load<u32>(record, RECORD_ATTRIBUTES_FIRST), load<u32>(record, RECORD_ATTRIBUTES_COUNT));
  putNumber(10, load<u32>(record, RECORD_DROPPED_ATTRIBUTES));
  putEvents(load<u32>(record, RECORD_EVENTS_FIRST), load<u32>(record, RECORD_EVENTS_COUNT));
  putNumber(12, load<u32>(record, RECORD_DROPPED_EVENTS));
  putLinks(load<u32>(record, RECORD_LINKS_FIRST), load<u32>(record, RECORD_LINKS_COUNT));
  putNumber(14, load<u32>(record, RECORD_DROPPED_LINKS));
  putStatus(record);
  putFixed32(16, load<u32>(record, RECORD_FLAGS));
}

function putStatus(record: usize): void {
  const message = load<u32>(record, RECORD_MESSAGE_LENGTH);
  const code = load<u8>(record, RECORD_STATUS);
  if (message == 0 && code == 0) return;
  const status = beginMessage(15);
  putOptionalText(2, load<u32>(record, RECORD_MESSAGE_OFFSET), message, load<u8>(record, RECORD_MESSAGE_FLAGS));
  putNumber(3, code);
  endMessage(status);
}

/** The events that may be stored. */
function putEvents(first: u32, count: u32): void {
  let row = <usize>EVENTS_BASE + <usize>first * EVENT_STRIDE;
  const end = row + <usize>count * EVENT_STRIDE;
  for (; row < end; row += EVENT_STRIDE) {
    mayPause();
    if (load<u8>(row, EVENT_DISPOSITION) != DISPOSITION_KEEP) continue;
    const event = beginMessage(11);
    putFixed64(1, load<u64>(row, EVENT_TIME));
    putOptionalText(
      2,
      load<u32>(row, EVENT_NAME_OFFSET),
      load<u32>(row, EVENT_NAME_LENGTH),
      load<u8>(row, EVENT_NAME_FLAGS),
    );
    putAttributes(3, load<u32>(row, EVENT_ATTRIBUTES_FIRST), load<u32>(row, EVENT_ATTRIBUTES_COUNT));
    putNumber(4, load<u32>(row, EVENT_DROPPED_ATTRIBUTES));
    endMessage(event);
  }
}

function putLinks(first: u32, count: u32): void {
  let row = <usize>LINKS_BASE + <usize>first * LINK_STRIDE;
  const end = row + <usize>count * LINK_STRIDE;
  for (; row < end; row += LINK_STRIDE) {
    mayPause();
    const link = beginMessage(13);
    putTraceId(1, row + LINK_TRACE_ID);
    putSpanId(2, row + LINK_SPAN_ID);
    putOptionalText(
      3,
      load<u32>(row, LINK_STATE_OFFSET),
      load<u32>(row, LINK_STATE_LENGTH),
      load<u8>(row, LINK_STATE_FLAGS),
    );
    putAttributes(4, load<u32>(row, LINK_ATTRIBUTES_FIRST), load<u32>(row, LINK_ATTRIBUTES_COUNT));
    putNumber(5, load<u32>(row, LINK_DROPPED_ATTRIBUTES));
    putFixed32(6, load<u32>(row, LINK_FLAGS));
    endMessage(link);
  }
}
