/** The content of the records of a trace, a few records at a time: a trace may hold more than fits in memory. */
import { CONTENT_COLUMNS } from '../../pdata/content-columns.ts';
import { type ContentRow, readRecord, type Section } from '../../messages/read-record.ts';
import type { Reader } from '../reader.ts';
import { IN_TIMES, logsFrom, type LogRow, type SpanRow, timesOf, type TraceKey } from './trace-record.ts';

const AT_ONCE = 16;
/** The limit of each column. What follows is shown by `sluice span` only. */
const MOST_CHARACTERS = 1024 * 1024;

/** Columns that describe the content of a record. */
export const contentList = (most: number, record = 's'): string =>
  ['tool_name', 'tool_call_id', ...CONTENT_COLUMNS.map((name) => `left(${record}.${name}, ${most}) AS ${name}`)].join(
    ', ',
  );

export interface RecordContent {
  readonly record: SpanRow | LogRow;
  readonly sections: readonly Section[];
}

/** Only records with content. */
export async function* readContents(
  reader: Reader,
  key: TraceKey,
  records: readonly (SpanRow | LogRow)[],
): AsyncGenerator<RecordContent> {
  const times = await timesOf(reader, key);
  for (let at = 0; at < records.length; at += AT_ONCE) {
    const some = new Map(records.slice(at, at + AT_ONCE).map((record) => [idOf(record), record]));
    const rows = [
      ...(await reader.query(SPANS, [...times.spans, [...some.keys()]])),
      ...(await reader.query(LOGS, [...times.logs, [...some.keys()]])),
    ];
    for (const row of rows) {
      const record = some.get(String(row['id']));
      const sections = readRecord(row as unknown as ContentRow);
      if (record !== undefined && sections.length > 0) yield { record, sections };
    }
  }
}

export const idOf = (record: SpanRow | LogRow): string =>
  'row_id' in record ? record.row_id : `${record.span_id} ${record.start_time_unix_nano}`;

const SPANS = `SELECT encode(s.span_id, 'hex') || ' ' || s.start_time_unix_nano AS id, ${contentList(MOST_CHARACTERS)}
  FROM sluice.spans s WHERE ${IN_TIMES} AND encode(s.span_id, 'hex') || ' ' || s.start_time_unix_nano = ANY ($5::text[])`;
const LOGS = `SELECT l.tableoid || ' ' || l.ctid AS id, l.event_name, ${contentList(MOST_CHARACTERS, 'l')}
  ${logsFrom('$3')} AND l.tableoid || ' ' || l.ctid = ANY ($4::text[])`;
