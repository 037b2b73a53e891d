/** The row of a span. */
import {
  RECORD_DERIVED, RECORD_DROPPED_ATTRIBUTES, RECORD_DROPPED_EVENTS, RECORD_DROPPED_LINKS, RECORD_END, RECORD_EVENTS_COUNT,
  RECORD_EVENTS_FIRST, RECORD_FLAGS, RECORD_KIND, RECORD_LINKS_COUNT, RECORD_LINKS_FIRST, RECORD_MESSAGE_FLAGS,
  RECORD_MESSAGE_LENGTH, RECORD_MESSAGE_OFFSET, RECORD_NAME_FLAGS, RECORD_NAME_LENGTH, RECORD_NAME_OFFSET,
  RECORD_PARENT_SPAN_ID, RECORD_SPAN_ID, RECORD_START, RECORD_STATE_FLAGS, RECORD_STATE_LENGTH, RECORD_STATE_OFFSET,
  RECORD_STATUS, RECORD_TRACE_ID,
} from "../../layout";
import {
  beginJson, beginRow, countColumn, endJson, endRow, longColumn, nullColumn, optionalTextColumn, spanIdColumn, textColumn,
  timeColumn, traceIdColumn, wordColumn,
} from "./columns";
import { DERIVED_FIELDS, derivedColumns, wordOf } from "./derived";
import { putEvents, putLinks } from "./lists";
import { OWNER_FIELDS, SOURCE_FIELDS, ownerColumns, sourceColumns } from "./source";

const OWN_FIELDS: u32 = 17;
const KIND_WORDS: StaticArray<string> = ["unspecified", "internal", "server", "client", "producer", "consumer"];
const STATUS_WORDS: StaticArray<string> = ["unset", "ok", "error"];

export function putSpan(record: usize): void {
  beginRow(OWNER_FIELDS + OWN_FIELDS + DERIVED_FIELDS + SOURCE_FIELDS, "{\"signal\":\"span\"");
  ownerColumns(record);
  traceIdColumn(",\"trace_id\":", record + RECORD_TRACE_ID);
  spanIdColumn(",\"span_id\":", record + RECORD_SPAN_ID);
  spanIdColumn(",\"parent_span_id\":", record + RECORD_PARENT_SPAN_ID);
  optionalTextColumn(
    ",\"trace_state\":", load<u32>(record, RECORD_STATE_OFFSET), load<u32>(record, RECORD_STATE_LENGTH), load<u8>(record, RECORD_STATE_FLAGS),
  );
  textColumn(",\"name\":", load<u32>(record, RECORD_NAME_OFFSET), load<u32>(record, RECORD_NAME_LENGTH), load<u8>(record, RECORD_NAME_FLAGS));
  wordColumn(",\"kind\":", wordOf(KIND_WORDS, load<u8>(record, RECORD_KIND)));
  wordColumn(",\"status\":", wordOf(STATUS_WORDS, load<u8>(record, RECORD_STATUS)));
  optionalTextColumn(
    ",\"status_message\":", load<u32>(record, RECORD_MESSAGE_OFFSET), load<u32>(record, RECORD_MESSAGE_LENGTH), load<u8>(record, RECORD_MESSAGE_FLAGS),
  );
  timeColumns(record);
  countColumn(",\"flags\":", load<u32>(record, RECORD_FLAGS));
  countColumn(",\"dropped_attributes_count\":", load<u32>(record, RECORD_DROPPED_ATTRIBUTES));
  countColumn(",\"dropped_events_count\":", load<u32>(record, RECORD_DROPPED_EVENTS));
  countColumn(",\"dropped_links_count\":", load<u32>(record, RECORD_DROPPED_LINKS));
  const events = beginJson(",\"events\":");
  putEvents(load<u32>(record, RECORD_EVENTS_FIRST), load<u32>(record, RECORD_EVENTS_COUNT));
  endJson(events);
  const links = beginJson(",\"links\":");
  putLinks(load<u32>(record, RECORD_LINKS_FIRST), load<u32>(record, RECORD_LINKS_COUNT));
  endJson(links);
  derivedColumns(load<u32>(record, RECORD_DERIVED));
  sourceColumns(record);
  endRow();
}

/** A span that ends before it began keeps its times; its duration is zero. */
function timeColumns(record: usize): void {
  const start = load<u64>(record, RECORD_START);
  const end = load<u64>(record, RECORD_END);
  timeColumn(",\"start_time_unix_nano\":", start);
  timeColumn(",\"end_time_unix_nano\":", end);
  if (end == 0) nullColumn(",\"duration_ns\":");
  else longColumn(",\"duration_ns\":", end > start ? <i64>(end - start) : 0);
}
