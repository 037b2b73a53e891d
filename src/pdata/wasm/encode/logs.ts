/** The row of a log record. */
import {
  ATTRIBUTE_KIND, ATTRIBUTE_VERDICT, KIND_NONE, RECORD_BODY, RECORD_DERIVED, RECORD_DROPPED_ATTRIBUTES, RECORD_END, RECORD_FLAGS, RECORD_KIND,
  RECORD_NAME_FLAGS, RECORD_NAME_LENGTH, RECORD_NAME_OFFSET, RECORD_SPAN_ID, RECORD_START, RECORD_STATE_FLAGS,
  RECORD_STATE_LENGTH, RECORD_STATE_OFFSET, RECORD_TRACE_ID, VERDICT_KEEP,
} from "../../layout";
import {
  beginJson, beginRow, countColumn, endJson, endRow, int4Column, nullColumn, optionalTextColumn, spanIdColumn, timeColumn,
  traceIdColumn,
} from "./columns";
import { DERIVED_FIELDS, derivedColumns } from "./derived";
import { OWNER_FIELDS, SOURCE_FIELDS, ownerColumns, sourceColumns } from "./source";
import { attributeRow, putValue } from "./values";

const OWN_FIELDS: u32 = 10;

export function putLog(record: usize): void {
  beginRow(OWNER_FIELDS + OWN_FIELDS + DERIVED_FIELDS + SOURCE_FIELDS, "{\"signal\":\"log\"");
  ownerColumns(record);
  timeColumn(",\"time_unix_nano\":", load<u64>(record, RECORD_START));
  timeColumn(",\"observed_time_unix_nano\":", load<u64>(record, RECORD_END));
  int4Column(",\"severity_number\":", load<u8>(record, RECORD_KIND));
  optionalTextColumn(
    ",\"severity_text\":", load<u32>(record, RECORD_STATE_OFFSET), load<u32>(record, RECORD_STATE_LENGTH), load<u8>(record, RECORD_STATE_FLAGS),
  );
  optionalTextColumn(
    ",\"event_name\":", load<u32>(record, RECORD_NAME_OFFSET), load<u32>(record, RECORD_NAME_LENGTH), load<u8>(record, RECORD_NAME_FLAGS),
  );
  bodyColumn(load<u32>(record, RECORD_BODY));
  traceIdColumn(",\"trace_id\":", record + RECORD_TRACE_ID);
  spanIdColumn(",\"span_id\":", record + RECORD_SPAN_ID);
  countColumn(",\"flags\":", load<u32>(record, RECORD_FLAGS));
  countColumn(",\"dropped_attributes_count\":", load<u32>(record, RECORD_DROPPED_ATTRIBUTES));
  derivedColumns(load<u32>(record, RECORD_DERIVED));
  sourceColumns(record);
  endRow();
}

/** A body that was moved to a column of its own, or may not be stored, is null here. */
function bodyColumn(body: u32): void {
  const row = body == 0 ? <usize>0 : attributeRow(body - 1);
  if (row == 0 || load<u8>(row, ATTRIBUTE_VERDICT) != VERDICT_KEEP || load<u8>(row, ATTRIBUTE_KIND) == KIND_NONE) {
    nullColumn(",\"body\":");
    return;
  }
  const column = beginJson(",\"body\":");
  putValue(row);
  endJson(column);
}
