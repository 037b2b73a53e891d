/** A span as its OTLP message. */
import * as layout from '../../../layout';
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
  putTraceId(1, record + layout.RECORD_TRACE_ID);
  putSpanId(2, record + layout.RECORD_SPAN_ID);
  putOptionalText(
    3,
    load<u32>(record, layout.RECORD_STATE_OFFSET),
    load<u32>(record, layout.RECORD_STATE_LENGTH),
    load<u8>(record, layout.RECORD_STATE_FLAGS),
  );
  putSpanId(4, record + layout.RECORD_PARENT_SPAN_ID);
  putOptionalText(
    5,
    load<u32>(record, layout.RECORD_NAME_OFFSET),
    load<u32>(record, layout.RECORD_NAME_LENGTH),
    load<u8>(record, layout.RECORD_NAME_FLAGS),
  );
  putNumber(6, load<u8>(record, layout.RECORD_KIND));
  putFixed64(7, load<u64>(record, layout.RECORD_START));
  putFixed64(8, load<u64>(record, layout.RECORD_END));
  putAttributes(
    9,
    load<u32>(record, layout.RECORD_ATTRIBUTES_FIRST),
    load<u32>(record, layout.RECORD_ATTRIBUTES_COUNT),
  );
  putNumber(10, load<u32>(record, layout.RECORD_DROPPED_ATTRIBUTES));
  putEvents(load<u32>(record, layout.RECORD_EVENTS_FIRST), load<u32>(record, layout.RECORD_EVENTS_COUNT));
  putNumber(12, load<u32>(record, layout.RECORD_DROPPED_EVENTS));
  putLinks(load<u32>(record, layout.RECORD_LINKS_FIRST), load<u32>(record, layout.RECORD_LINKS_COUNT));
  putNumber(14, load<u32>(record, layout.RECORD_DROPPED_LINKS));
  putStatus(record);
  putFixed32(16, load<u32>(record, layout.RECORD_FLAGS));
}

function putStatus(record: usize): void {
  const message = load<u32>(record, layout.RECORD_MESSAGE_LENGTH);
  const code = load<u8>(record, layout.RECORD_STATUS);
  if (message == 0 && code == 0) return;
  const status = beginMessage(15);
  putOptionalText(
    2,
    load<u32>(record, layout.RECORD_MESSAGE_OFFSET),
    message,
    load<u8>(record, layout.RECORD_MESSAGE_FLAGS),
  );
  putNumber(3, code);
  endMessage(status);
}

/** The events that may be stored. */
function putEvents(first: u32, count: u32): void {
  let row = <usize>layout.EVENTS_BASE + <usize>first * layout.EVENT_STRIDE;
  const end = row + <usize>count * layout.EVENT_STRIDE;
  for (; row < end; row += layout.EVENT_STRIDE) {
    mayPause();
    if (load<u8>(row, layout.EVENT_DISPOSITION) != layout.DISPOSITION_KEEP) continue;
    const event = beginMessage(11);
    putFixed64(1, load<u64>(row, layout.EVENT_TIME));
    putOptionalText(
      2,
      load<u32>(row, layout.EVENT_NAME_OFFSET),
      load<u32>(row, layout.EVENT_NAME_LENGTH),
      load<u8>(row, layout.EVENT_NAME_FLAGS),
    );
    putAttributes(3, load<u32>(row, layout.EVENT_ATTRIBUTES_FIRST), load<u32>(row, layout.EVENT_ATTRIBUTES_COUNT));
    putNumber(4, load<u32>(row, layout.EVENT_DROPPED_ATTRIBUTES));
    endMessage(event);
  }
}

function putLinks(first: u32, count: u32): void {
  let row = <usize>layout.LINKS_BASE + <usize>first * layout.LINK_STRIDE;
  const end = row + <usize>count * layout.LINK_STRIDE;
  for (; row < end; row += layout.LINK_STRIDE) {
    mayPause();
    const link = beginMessage(13);
    putTraceId(1, row + layout.LINK_TRACE_ID);
    putSpanId(2, row + layout.LINK_SPAN_ID);
    putOptionalText(
      3,
      load<u32>(row, layout.LINK_STATE_OFFSET),
      load<u32>(row, layout.LINK_STATE_LENGTH),
      load<u8>(row, layout.LINK_STATE_FLAGS),
    );
    putAttributes(4, load<u32>(row, layout.LINK_ATTRIBUTES_FIRST), load<u32>(row, layout.LINK_ATTRIBUTES_COUNT));
    putNumber(5, load<u32>(row, layout.LINK_DROPPED_ATTRIBUTES));
    putFixed32(6, load<u32>(row, layout.LINK_FLAGS));
    endMessage(link);
  }
}
