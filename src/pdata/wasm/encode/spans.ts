/** The row of a span. */
import * as layout from '../../layout';
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
import * as labels from './labels';
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
  const count = load<u32>(layout.HEADER_BASE, layout.HEADER_RECORDS);
  let record: usize = layout.RECORDS_BASE;
  for (let i: u32 = 0; i < count; i++, record += layout.RECORD_STRIDE) {
    mayPause();
    const own = load<u32>(record, layout.RECORD_DERIVED) | load<u32>(record, layout.RECORD_EVENTS_COUNT);
    const dropped =
      load<u32>(record, layout.RECORD_DROPPED_ATTRIBUTES) | load<u32>(record, layout.RECORD_DROPPED_EVENTS);
    if (
      (own | dropped | load<u32>(record, layout.RECORD_LINKS_COUNT) | load<u32>(record, layout.RECORD_DROPPED_LINKS)) !=
      0
    )
      return false;
  }
  return true;
}

export function putSpan(record: usize): void {
  beginRow(plain ? labels.PLAIN_SPAN_FIELDS : labels.SPAN_FIELDS, '{"signal":"span"');
  ownerColumns(record);
  traceIdColumn(labels.TRACE_ID, record + layout.RECORD_TRACE_ID);
  spanIdColumn(labels.SPAN_ID, record + layout.RECORD_SPAN_ID);
  spanIdColumn(labels.PARENT_SPAN_ID, record + layout.RECORD_PARENT_SPAN_ID);
  optionalTextColumn(
    labels.TRACE_STATE,
    load<u32>(record, layout.RECORD_STATE_OFFSET),
    load<u32>(record, layout.RECORD_STATE_LENGTH),
    load<u8>(record, layout.RECORD_STATE_FLAGS),
  );
  textColumn(
    labels.NAME,
    load<u32>(record, layout.RECORD_NAME_OFFSET),
    load<u32>(record, layout.RECORD_NAME_LENGTH),
    load<u8>(record, layout.RECORD_NAME_FLAGS),
  );
  wordColumn(labels.KIND, wordOf(labels.KIND_WORDS, load<u8>(record, layout.RECORD_KIND)));
  wordColumn(labels.STATUS, wordOf(labels.STATUS_WORDS, load<u8>(record, layout.RECORD_STATUS)));
  optionalTextColumn(
    labels.STATUS_MESSAGE,
    load<u32>(record, layout.RECORD_MESSAGE_OFFSET),
    load<u32>(record, layout.RECORD_MESSAGE_LENGTH),
    load<u8>(record, layout.RECORD_MESSAGE_FLAGS),
  );
  timeColumns(record);
  countColumn(labels.FLAGS, load<u32>(record, layout.RECORD_FLAGS));
  if (!plain) detailColumns(record);
  sourceColumns(record);
  endRow();
}

/** The columns that plain rows leave out. */
function detailColumns(record: usize): void {
  countColumn(labels.DROPPED_ATTRIBUTES_COUNT, load<u32>(record, layout.RECORD_DROPPED_ATTRIBUTES));
  countColumn(labels.DROPPED_EVENTS_COUNT, load<u32>(record, layout.RECORD_DROPPED_EVENTS));
  countColumn(labels.DROPPED_LINKS_COUNT, load<u32>(record, layout.RECORD_DROPPED_LINKS));
  const events = beginJson(labels.EVENTS);
  putEvents(load<u32>(record, layout.RECORD_EVENTS_FIRST), load<u32>(record, layout.RECORD_EVENTS_COUNT));
  endJson(events);
  const links = beginJson(labels.LINKS);
  putLinks(load<u32>(record, layout.RECORD_LINKS_FIRST), load<u32>(record, layout.RECORD_LINKS_COUNT));
  endJson(links);
  derivedColumns(load<u32>(record, layout.RECORD_DERIVED));
}

/** A span that ends before it began keeps its times; its duration is zero. */
function timeColumns(record: usize): void {
  const start = load<u64>(record, layout.RECORD_START);
  const end = load<u64>(record, layout.RECORD_END);
  timeColumn(labels.START_TIME_UNIX_NANO, start);
  timeColumn(labels.END_TIME_UNIX_NANO, end);
  if (end == 0) nullColumn(labels.DURATION_NS);
  else longColumn(labels.DURATION_NS, end > start ? <i64>(end - start) : 0);
}
