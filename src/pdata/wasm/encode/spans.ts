/** The row of a span. */
import {
  HEADER_BASE,
  HEADER_RECORDS,
  RECORDS_BASE,
  RECORD_DERIVED,
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
  RECORD_STRIDE,
  RECORD_TRACE_ID,
} from '../../layout';
import {
  beginJson,
  beginRow,
  countColumn,
  endJson,
  endRow,
  longColumn,
  nullColumn,
  optionalTextColumn,
  spanIdColumn,
  textColumn,
  timeColumn,
  traceIdColumn,
  wordColumn,
  wordOf,
} from './columns';
import { derivedColumns } from './derived';
import {
  KIND_WORDS,
  LABEL_DROPPED_ATTRIBUTES_COUNT,
  LABEL_DROPPED_EVENTS_COUNT,
  LABEL_DROPPED_LINKS_COUNT,
  LABEL_DURATION_NS,
  LABEL_END_TIME_UNIX_NANO,
  LABEL_EVENTS,
  LABEL_FLAGS,
  LABEL_KIND,
  LABEL_LINKS,
  LABEL_NAME,
  LABEL_PARENT_SPAN_ID,
  LABEL_SPAN_ID,
  LABEL_START_TIME_UNIX_NANO,
  LABEL_STATUS,
  LABEL_STATUS_MESSAGE,
  LABEL_TRACE_ID,
  LABEL_TRACE_STATE,
  PLAIN_SPAN_FIELDS,
  SPAN_FIELDS,
  STATUS_WORDS,
} from './labels';
import { mayPause } from '../pause';
import { putEvents, putLinks } from './lists';
import { ownerColumns, sourceColumns } from './source';

/** Whether the columns after `flags` and before the resource are left out: `arePlain` holds for all records. */
let plain: bool = false;

export function setPlain(value: bool): void {
  plain = value;
}

/** Whether no span of the request has anything in the columns that plain rows leave out. */
export function arePlain(): bool {
  const count = load<u32>(HEADER_BASE, HEADER_RECORDS);
  let record: usize = RECORDS_BASE;
  for (let i: u32 = 0; i < count; i++, record += RECORD_STRIDE) {
    mayPause();
    const own = load<u32>(record, RECORD_DERIVED) | load<u32>(record, RECORD_EVENTS_COUNT);
    const dropped = load<u32>(record, RECORD_DROPPED_ATTRIBUTES) | load<u32>(record, RECORD_DROPPED_EVENTS);
    if ((own | dropped | load<u32>(record, RECORD_LINKS_COUNT) | load<u32>(record, RECORD_DROPPED_LINKS)) != 0)
      return false;
  }
  return true;
}

export function putSpan(record: usize): void {
  beginRow(plain ? PLAIN_SPAN_FIELDS : SPAN_FIELDS, '{"signal":"span"');
  ownerColumns(record);
  traceIdColumn(LABEL_TRACE_ID, record + RECORD_TRACE_ID);
  spanIdColumn(LABEL_SPAN_ID, record + RECORD_SPAN_ID);
  spanIdColumn(LABEL_PARENT_SPAN_ID, record + RECORD_PARENT_SPAN_ID);
  optionalTextColumn(
    LABEL_TRACE_STATE,
    load<u32>(record, RECORD_STATE_OFFSET),
    load<u32>(record, RECORD_STATE_LENGTH),
    load<u8>(record, RECORD_STATE_FLAGS),
  );
  textColumn(
    LABEL_NAME,
    load<u32>(record, RECORD_NAME_OFFSET),
    load<u32>(record, RECORD_NAME_LENGTH),
    load<u8>(record, RECORD_NAME_FLAGS),
  );
  wordColumn(LABEL_KIND, wordOf(KIND_WORDS, load<u8>(record, RECORD_KIND)));
  wordColumn(LABEL_STATUS, wordOf(STATUS_WORDS, load<u8>(record, RECORD_STATUS)));
  optionalTextColumn(
    LABEL_STATUS_MESSAGE,
    load<u32>(record, RECORD_MESSAGE_OFFSET),
    load<u32>(record, RECORD_MESSAGE_LENGTH),
    load<u8>(record, RECORD_MESSAGE_FLAGS),
  );
  timeColumns(record);
  countColumn(LABEL_FLAGS, load<u32>(record, RECORD_FLAGS));
  if (!plain) detailColumns(record);
  sourceColumns(record);
  endRow();
}

/** The columns that plain rows leave out. */
function detailColumns(record: usize): void {
  countColumn(LABEL_DROPPED_ATTRIBUTES_COUNT, load<u32>(record, RECORD_DROPPED_ATTRIBUTES));
  countColumn(LABEL_DROPPED_EVENTS_COUNT, load<u32>(record, RECORD_DROPPED_EVENTS));
  countColumn(LABEL_DROPPED_LINKS_COUNT, load<u32>(record, RECORD_DROPPED_LINKS));
  const events = beginJson(LABEL_EVENTS);
  putEvents(load<u32>(record, RECORD_EVENTS_FIRST), load<u32>(record, RECORD_EVENTS_COUNT));
  endJson(events);
  const links = beginJson(LABEL_LINKS);
  putLinks(load<u32>(record, RECORD_LINKS_FIRST), load<u32>(record, RECORD_LINKS_COUNT));
  endJson(links);
  derivedColumns(load<u32>(record, RECORD_DERIVED));
}

/** A span that ends before it began keeps its times; its duration is zero. */
function timeColumns(record: usize): void {
  const start = load<u64>(record, RECORD_START);
  const end = load<u64>(record, RECORD_END);
  timeColumn(LABEL_START_TIME_UNIX_NANO, start);
  timeColumn(LABEL_END_TIME_UNIX_NANO, end);
  if (end == 0) nullColumn(LABEL_DURATION_NS);
  else longColumn(LABEL_DURATION_NS, end > start ? <i64>(end - start) : 0);
}
