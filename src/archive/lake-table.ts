/**
 * The tables of the archive: the columns of the SQL views with their types in Parquet, their order, and what identifies
 * a record. Both databases compute the figures from here, so that they can be compared.
 */
import type { DayColumn } from '../component/archived-day.ts';
import { type Column, type ColumnType, LOG_COLUMNS, METRIC_COLUMNS, SPAN_COLUMNS } from '../pdata/columns.ts';
import { quoted } from './duckdb.ts';
import { DAY_MS, MS_NS } from '../pdata/time-units.ts';

export type LakeSignal = 'spans' | 'logs' | 'metric_points';

/** The columns of the rows of each signal, as in the tables and in NDJSON. */
export const ROW_COLUMNS: Readonly<Record<LakeSignal, readonly Column[]>> = {
  spans: SPAN_COLUMNS,
  logs: LOG_COLUMNS,
  metric_points: METRIC_COLUMNS,
};

/** How a value arrives in COPY BINARY, after `select`. */
export type WireType = 'text' | 'int8' | 'int4' | 'double' | 'boolean' | 'micros';

export interface LakeColumn {
  readonly name: string;
  /** An expression of PostgreSQL over a row of the view. */
  readonly select: string;
  readonly wire: WireType;
  /** DuckDB's type, which decides that of Parquet. */
  readonly type: string;
}

export interface LakeTable {
  readonly signal: LakeSignal;
  readonly columns: readonly LakeColumn[];
  /** The columns by which the rows of a file are sorted. */
  readonly order: readonly string[];
  /** The column with the time of a record, in nanoseconds. */
  readonly time: string;
  /** The columns that make up the hash over the ids; of spans they are their identity. */
  readonly identity: readonly string[];
  /** The column of the day. */
  readonly key: DayColumn;
  readonly hasUsage: boolean;
}

export interface DayOfTable {
  readonly table: LakeTable;
  /** YYYY-MM-DD */
  readonly day: string;
}

/** JSON is text: engines that read Parquet have different types for JSON, or none. */
const TYPES: Readonly<Record<ColumnType, readonly [wire: WireType, type: string]>> = {
  text: ['text', 'VARCHAR'],
  json: ['text', 'VARCHAR'],
  trace_id: ['text', 'VARCHAR'],
  span_id: ['text', 'VARCHAR'],
  content_id: ['text', 'VARCHAR'],
  nanos: ['int8', 'BIGINT'],
  count64: ['int8', 'BIGINT'],
  count: ['int8', 'BIGINT'],
  int4: ['int4', 'INTEGER'],
  double: ['double', 'DOUBLE'],
  // As text: PostgreSQL's binary numeric has another form, and DuckDB reads the text exactly.
  money: ['text', 'DECIMAL(18,8)'],
  boolean: ['boolean', 'BOOLEAN'],
  timestamp: ['micros', 'TIMESTAMPTZ'],
};

const SIGNAL: LakeColumn = { name: 'signal', select: 'signal', wire: 'text', type: 'VARCHAR' };
/**
 * The view's `value` is a number of any size. A double holds each value that is not an integer, and the integers that
 * it cannot hold are in `value_int`.
 */
const VALUE: readonly LakeColumn[] = [
  { name: 'value', select: 'value::float8', wire: 'double', type: 'DOUBLE' },
  {
    name: 'value_int',
    select:
      "CASE WHEN value NOT IN ('NaN', 'Infinity', '-Infinity') AND value = trunc(value) AND value BETWEEN -9223372036854775808 AND 9223372036854775807 THEN value::int8 END",
    wire: 'int8',
    type: 'BIGINT',
  },
];

function lakeColumn({ name, type }: Column): readonly LakeColumn[] {
  if (name === 'value_int') return VALUE;
  if (name === 'value_double') return [];
  const [wire, duckType] = TYPES[type];
  return [{ name, select: selectOf(name, type), wire, type: duckType }];
}

function selectOf(name: string, type: ColumnType): string {
  if (type === 'json' || type === 'money') return `${quoted(name)}::text`;
  return type === 'timestamp' ? microsOf(name) : quoted(name);
}

const microsOf = (name: string): string => `(extract(epoch FROM ${quoted(name)}) * 1000000)::int8`;

const columnsOf = (columns: readonly Column[]): readonly LakeColumn[] => [SIGNAL, ...columns.flatMap(lakeColumn)];

export const LAKE_TABLES: readonly LakeTable[] = [
  {
    signal: 'spans',
    columns: columnsOf(SPAN_COLUMNS),
    order: ['project', 'trace_id', 'start_time_unix_nano', 'span_id'],
    time: 'start_time_unix_nano',
    identity: ['project', 'trace_id', 'span_id', 'start_time_unix_nano'],
    key: 'start_time_unix_nano',
    hasUsage: true,
  },
  {
    signal: 'logs',
    columns: columnsOf(LOG_COLUMNS),
    order: ['project', 'trace_id', 'time_unix_nano', 'observed_time_unix_nano', 'received_at'],
    time: 'coalesce(time_unix_nano, observed_time_unix_nano)',
    identity: ['project', 'trace_id', 'span_id', 'time_unix_nano', 'observed_time_unix_nano', 'received_at'],
    key: 'received_at',
    hasUsage: true,
  },
  {
    signal: 'metric_points',
    columns: columnsOf(METRIC_COLUMNS),
    order: ['project', 'name', 'time_unix_nano', 'received_at'],
    time: 'time_unix_nano',
    identity: ['project', 'name', 'start_time_unix_nano', 'time_unix_nano', 'received_at'],
    key: 'received_at',
    hasUsage: false,
  },
];

export function tableOf(signal: LakeSignal): LakeTable {
  const table = LAKE_TABLES.find((each) => each.signal === signal);
  if (table === undefined) throw new Error(`${signal} is no table of the archive`);
  return table;
}

/** The rows of a UTC day, as a condition on the view or the table. */
export function conditionOf({ key }: LakeTable, day: string): string {
  const fromMs = Date.parse(day);
  const bound = (ms: number): string =>
    key === 'received_at' ? `'${new Date(ms).toISOString()}'` : String(BigInt(ms) * MS_NS);
  return `${key} >= ${bound(fromMs)} AND ${key} < ${bound(fromMs + DAY_MS)}`;
}

/** The text that identifies a record, equal in both databases. */
export function identityIn(database: 'postgres' | 'duckdb', { identity }: LakeTable): string {
  const micros = (name: string): string => (database === 'postgres' ? microsOf(name) : `epoch_us(${quoted(name)})`);
  const parts = identity.map((name) => (name === 'received_at' ? micros(name) : quoted(name)));
  return `concat_ws('/', ${parts.map((part) => `coalesce(${part}::text, '-')`).join(', ')})`;
}

export const quoteds = (names: readonly string[]): string => names.map(quoted).join(', ');
