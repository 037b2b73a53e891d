/**
 * Stored rows as texts: 64-bit integers, money and JSON keep every digit, which the values of a database driver do not.
 * `StoredText` has the columns of the views; commands write it as NDJSON, CSV or OTLP.
 */
import { type Column, LOG_COLUMNS, METRIC_COLUMNS, SPAN_COLUMNS } from './columns.ts';
import type { Signal } from './context.ts';
import { compactJson, compactJsonInPieces } from './exact-json.ts';

/** By name of the column. Every value is what Postgres writes for it, ids in hex, times of arrival in RFC 3339. */
export type StoredText = Readonly<Record<string, string | null>>;

/** The characters of all texts of the rows. */
export function lengthOf(rows: readonly Readonly<Record<string, unknown>>[]): number {
  let length = 0;
  for (const row of rows) for (const value of Object.values(row)) if (typeof value === 'string') length += value.length;
  return length;
}

export const STORED_COLUMNS: Readonly<Record<Signal, readonly Column[]>> = {
  traces: SPAN_COLUMNS,
  logs: LOG_COLUMNS,
  metrics: METRIC_COLUMNS,
};
/** The table of each signal, which is also the word of `sluice.lake_jobs` and `sluice.parts` for it. */
export const SIGNAL_TABLES: Readonly<Record<Signal, string>> = {
  traces: 'spans',
  logs: 'logs',
  metrics: 'metric_points',
};
export const SIGNAL_WORDS: Readonly<Record<Signal, string>> = { traces: 'span', logs: 'log', metrics: 'metric' };
/** Rows refer to their resource `r` and scope `c`; rows of earlier versions contain them. */
export const SHARED_COLUMNS: Readonly<Record<string, string>> = {
  resource: 'coalesce(s.resource, r.body)',
  scope_name: 'coalesce(s.scope_name, c.name)',
  scope_version: 'coalesce(s.scope_version, c.version)',
  scope_attributes: 'coalesce(s.scope_attributes, c.attributes)',
};
export const SHARED_JOINS =
  'LEFT JOIN sluice.resources r ON r.id = s.resource_id LEFT JOIN sluice.scopes c ON c.id = s.scope_id';

/**
 * The select list and the tables of `StoredText`: the rows are `s`, of `source`. `instead` has SQL for columns that are
 * not read as they are, by name.
 */
export function storedTextQuery(
  signal: Signal,
  instead: Readonly<Record<string, string>> = {},
  source = `sluice.${SIGNAL_TABLES[signal]}`,
): { readonly list: string; readonly from: string } {
  return {
    list: STORED_COLUMNS[signal]
      .map((column) => `${instead[column.name] ?? expressionOf(column)} AS ${column.name}`)
      .join(', '),
    from: `${source} s ${SHARED_JOINS}`,
  };
}

function expressionOf({ name, type }: Column): string {
  const value = SHARED_COLUMNS[name] ?? `s.${name}`;
  if (type === 'text') return value;
  if (type === 'trace_id' || type === 'span_id') return `encode(${value}, 'hex')`;
  if (type === 'timestamp') return `to_char(${value} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  return `(${value})::text`;
}

/** The names of the line: the two columns of a metric's value are one. */
export function lineNames(signal: Signal): readonly string[] {
  const names = STORED_COLUMNS[signal].map(({ name }) => name).filter((name) => name !== 'value_double');
  return ['signal', ...names.map((name) => (name === 'value_int' ? 'value' : name))];
}

/** One line of NDJSON with the names, order and types of the `file` exporter. */
export const jsonLine = (signal: Signal, row: StoredText): string => [...jsonLineInPieces(signal, row)].join('');

/** `jsonLine` in pieces, each of which takes a few milliseconds. */
export function* jsonLineInPieces(signal: Signal, row: StoredText): Generator<string> {
  yield `{"signal":"${SIGNAL_WORDS[signal]}"`;
  for (const column of STORED_COLUMNS[signal]) {
    const text = row[column.name] ?? null;
    if (column.name === 'value_double') continue;
    if (column.name === 'value_int') {
      const { value_double: double = null } = row;
      yield `,"value":${text ?? (double === null ? 'null' : doubleOf(double))}`;
    } else if (column.type === 'json' && text !== null) {
      yield `,"${column.name}":`;
      yield* compactJsonInPieces(text);
    } else yield `,${jsonField(column, row)}`;
  }
  yield '}';
}

export function jsonField(column: Pick<Column, 'name' | 'type'>, row: StoredText): string {
  return `"${column.name}":${jsonOf(column.type, row[column.name] ?? null)}`;
}

function jsonOf(type: Column['type'], text: string | null): string {
  if (text === null) return 'null';
  switch (type) {
    case 'json':
      return compactJson(text);
    case 'double':
      return doubleOf(text);
    case 'count':
    case 'int4':
    case 'boolean':
      return text;
    default:
      return JSON.stringify(text);
  }
}

/** Postgres writes the shortest digits; JSON has no word for what is not finite. */
const doubleOf = (text: string): string => (/^-?[\d.]/u.test(text) ? text : JSON.stringify(text));
