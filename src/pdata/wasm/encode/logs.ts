/** The row of a log record. */
import * as layout from '../../layout';
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
import * as labels from './labels';
import { ownerColumns, sourceColumns } from './source';
import { attributeRow, putValue } from './values';

export function putLog(record: usize): void {
  beginRow(labels.LOG_FIELDS, '{"signal":"log"');
  ownerColumns(record);
  timeColumn(labels.TIME_UNIX_NANO, load<u64>(record, layout.RECORD_START));
  timeColumn(labels.OBSERVED_TIME_UNIX_NANO, load<u64>(record, layout.RECORD_END));
  int4Column(labels.SEVERITY_NUMBER, load<u8>(record, layout.RECORD_KIND));
  optionalTextColumn(
    labels.SEVERITY_TEXT,
    load<u32>(record, layout.RECORD_STATE_OFFSET),
    load<u32>(record, layout.RECORD_STATE_LENGTH),
    load<u8>(record, layout.RECORD_STATE_FLAGS),
  );
  optionalTextColumn(
    labels.EVENT_NAME,
    load<u32>(record, layout.RECORD_NAME_OFFSET),
    load<u32>(record, layout.RECORD_NAME_LENGTH),
    load<u8>(record, layout.RECORD_NAME_FLAGS),
  );
  bodyColumn(load<u32>(record, layout.RECORD_BODY));
  traceIdColumn(labels.TRACE_ID, record + layout.RECORD_TRACE_ID);
  spanIdColumn(labels.SPAN_ID, record + layout.RECORD_SPAN_ID);
  countColumn(labels.FLAGS, load<u32>(record, layout.RECORD_FLAGS));
  countColumn(labels.DROPPED_ATTRIBUTES_COUNT, load<u32>(record, layout.RECORD_DROPPED_ATTRIBUTES));
  derivedColumns(load<u32>(record, layout.RECORD_DERIVED));
  sourceColumns(record);
  endRow();
}

/** Null when the body was moved to its own column or may not be stored. */
function bodyColumn(body: u32): void {
  const row = body == 0 ? <usize>0 : attributeRow(body - 1);
  if (
    row == 0 ||
    load<u8>(row, layout.ATTRIBUTE_DISPOSITION) != layout.DISPOSITION_KEEP ||
    load<u8>(row, layout.ATTRIBUTE_KIND) == layout.KIND_NONE
  ) {
    nullColumn(labels.BODY);
    return;
  }
  const column = beginJson(labels.BODY);
  putValue(row);
  endJson(column);
}
