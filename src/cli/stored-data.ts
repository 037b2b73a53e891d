/** The stored data by table: oldest day, retention, next day to be dropped, size. The last lines of `sluice usage`. */
import { dayOfPartition } from '../component/archived-day.ts';
import { unlessDropped } from '../component/dropped-partition.ts';
import { formatDuration } from '../config/units.ts';
import { findExporterOptions } from '../daemon/retention.ts';
import type { RetentionPeriods } from '../exporters/postgres/retention.ts';
import { formatBytes, UNKNOWN } from './view/format.ts';
import { type Reader, textOf } from './reader.ts';
import type { Terminal } from './terminal.ts';
import { describeTable } from './view/table.ts';
import { DAY_MS } from '../pdata/time-units.ts';

type Signal = keyof RetentionPeriods;

export interface StoredData {
  readonly signal: Signal;
  /** UTC day of the oldest stored row; for usage its month; null when nothing is stored. */
  readonly oldest: string | null;
  /** As configured; null when this configuration stores no such rows in Postgres. */
  readonly retention: string | null;
  /** UTC day on which the oldest rows may be dropped; null when nothing is stored or the retention is unknown. */
  readonly next_drop: string | null;
  /** Including indexes. */
  readonly bytes: number;
}

/** Tables with daily partitions. Rows outside of all days, in the default partition, count only for the size. */
const DAILY = [
  ['spans', 'spans'],
  ['logs', 'logs'],
  ['metrics', 'metric_points'],
] as const;
/** Tables whose rows are deleted one by one. */
const WHOLE = [
  ['traces', 'traces', "min(created_at) AT TIME ZONE 'UTC'"],
  ['usage', 'usage_months', 'min(month)'],
] as const;

export async function readStoredData(reader: Pick<Reader, 'query' | 'config'>): Promise<readonly StoredData[]> {
  const retention = findExporterOptions(reader.config)?.retention ?? null;
  const stored: StoredData[] = [];
  for (const [signal, table] of DAILY) {
    const partitions = await reader.query(
      `SELECT c.relname, pg_total_relation_size(c.oid) AS bytes FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       WHERE i.inhparent = $1::regclass ORDER BY c.relname`,
      [`sluice.${table}`],
    );
    const bytes = partitions.reduce((sum, row) => sum + Number(row['bytes']), 0);
    const days = partitions.map(({ relname }) => String(relname)).filter((name) => dayOfPartition(name) !== null);
    stored.push(describe(signal, await oldestDay(reader, days), bytes, retention));
  }
  for (const [signal, table, oldest] of WHOLE) {
    const [row] = await reader.query(
      `SELECT to_char(${oldest}, 'YYYY-MM-DD') AS oldest, pg_total_relation_size('sluice.${table}') AS bytes FROM sluice.${table}`,
    );
    stored.push(describe(signal, textOf(row?.['oldest']), Number(row?.['bytes']), retention));
  }
  return stored;
}

/** From the bounds of the daily partitions: a search for the oldest row would read all rows. */
async function oldestDay({ query }: Pick<Reader, 'query'>, partitions: readonly string[]): Promise<string | null> {
  for (const name of partitions) {
    const rows = await unlessDropped(name, () => query(`SELECT FROM sluice.${name} LIMIT 1`));
    if (rows !== null && rows.length > 0) return dayOfPartition(name);
  }
  return null;
}

function describe(signal: Signal, oldest: string | null, bytes: number, periods: RetentionPeriods | null): StoredData {
  const retention = periods === null ? null : formatDuration(periods[signal]);
  return { signal, oldest, retention, next_drop: nextDrop(signal, oldest, periods), bytes };
}

/** Days and months are dropped when they have passed completely, a trace only after its records. */
function nextDrop(signal: Signal, oldest: string | null, periods: RetentionPeriods | null): string | null {
  if (oldest === null || periods === null) return null;
  const end = new Date(oldest);
  if (signal === 'usage') end.setUTCMonth(end.getUTCMonth() + 1);
  else end.setUTCDate(end.getUTCDate() + 1);
  const period = signal === 'traces' ? Math.max(periods.traces, periods.spans, periods.logs) : periods[signal];
  return new Date(Math.ceil((end.getTime() + period) / DAY_MS) * DAY_MS).toISOString().slice(0, 10);
}

export function describeStoredData(stored: readonly StoredData[], { style, tableWidth }: Terminal): string {
  const rows = stored.map(({ signal, oldest, retention, next_drop, bytes }) => [
    signal,
    oldest ?? 'none',
    retention ?? UNKNOWN,
    next_drop ?? UNKNOWN,
    formatBytes(bytes),
  ]);
  const heads = [['STORED', 'SINCE', 'KEPT', 'NEXT DROP', 'SIZE']];
  return style.dim(describeTable({ heads, rows }, { tableWidth, style: { ...style, dim: (text) => text } }));
}
