/** The row of a log record. */
import {
  ATTRIBUTE_KIND,
  ATTRIBUTE_DISPOSITION,
  KIND_NONE,
  RECORD_BODY,
  RECORD_DERIVED,
  RECORD_DROPPED_ATTRIBUTES,
  RECORD_END,
  RECORD_FLAGS,
  RECORD_KIND,
  RECORD_NAME_FLAGS,
  RECORD_NAME_LENGTH,
  RECORD_NAME_OFFSET,
  RECORD_SPAN_ID,
  RECORD_START,
  RECORD_STATE_FLAGS,
  RECORD_STATE_LENGTH,
  RECORD_STATE_OFFSET,
  RECORD_TRACE_ID,
  DISPOSITION_KEEP,
} from '../../layout';
import {
  beginJson,
  beginRow,
  countColumn,
  endJson,
  endRow,
  int4Column,
  nullColumn,
  optionalTextColumn,
  spanIdColumn,
  timeColumn,
  traceIdColumn,
} from './columns';
import { derivedColumns } from './derived';
import {
  LABEL_BODY,
  LABEL_DROPPED_ATTRIBUTES_COUNT,
  LABEL_EVENT_NAME,
  LABEL_FLAGS,
  LABEL_OBSERVED_TIME_UNIX_NANO,
  LABEL_SEVERITY_NUMBER,
  LABEL_SEVERITY_TEXT,
  LABEL_SPAN_ID,
  LABEL_TIME_UNIX_NANO,
  LABEL_TRACE_ID,
  LOG_FIELDS,
} from './labels';
import { ownerColumns, sourceColumns } from './source';
import { attributeRow, putValue } from './values';

export function putLog(record: usize): void {
  beginRow(LOG_FIELDS, '{"signal":"log"');
  ownerColumns(record);
  timeColumn(LABEL_TIME_UNIX_NANO, load<u64>(record, RECORD_START));
  timeColumn(LABEL_OBSERVED_TIME_UNIX_NANO, load<u64>(record, RECORD_END));
  int4Column(LABEL_SEVERITY_NUMBER, load<u8>(record, RECORD_KIND));
  optionalTextColumn(
    LABEL_SEVERITY_TEXT,
    load<u32>(record, RECORD_STATE_OFFSET),
    load<u32>(record, RECORD_STATE_LENGTH),
    load<u8>(record, RECORD_STATE_FLAGS),
  );
  optionalTextColumn(
    LABEL_EVENT_NAME,
    load<u32>(record, RECORD_NAME_OFFSET),
    load<u32>(record, RECORD_NAME_LENGTH),
    load<u8>(record, RECORD_NAME_FLAGS),
  );
  bodyColumn(load<u32>(record, RECORD_BODY));
  traceIdColumn(LABEL_TRACE_ID, record + RECORD_TRACE_ID);
  spanIdColumn(LABEL_SPAN_ID, record + RECORD_SPAN_ID);
  countColumn(LABEL_FLAGS, load<u32>(record, RECORD_FLAGS));
  countColumn(LABEL_DROPPED_ATTRIBUTES_COUNT, load<u32>(record, RECORD_DROPPED_ATTRIBUTES));
  derivedColumns(load<u32>(record, RECORD_DERIVED));
  sourceColumns(record);
  endRow();
}

/** Null when the body was moved to its own column or may not be stored. */
function bodyColumn(body: u32): void {
  const row = body == 0 ? <usize>0 : attributeRow(body - 1);
  if (
    row == 0 ||
    load<u8>(row, ATTRIBUTE_DISPOSITION) != DISPOSITION_KEEP ||
    load<u8>(row, ATTRIBUTE_KIND) == KIND_NONE
  ) {
    nullColumn(LABEL_BODY);
    return;
  }
  const column = beginJson(LABEL_BODY);
  putValue(row);
  endJson(column);
}
