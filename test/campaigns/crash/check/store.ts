/** The content of a store after a scenario, in one form for Postgres and for files, so that one checker reads both. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { FolderStore } from '../../../../src/object-store/folder-store.ts';
import { PARTS, readPart } from '../../../support/stored-parts.ts';
import { NAME_ATTRIBUTE } from '../load/body.ts';

export interface StoredRecord {
  readonly signal: 'traces' | 'logs' | 'metrics';
  readonly project: string;
  readonly environment: string;
  readonly traceId: string | null;
  /** The record's name, or null when it carries none. */
  readonly record: string | null;
}

export interface OwnedTrace {
  readonly traceId: string;
  readonly project: string;
  readonly environment: string;
}

export interface UsageRow {
  readonly project: string;
  readonly spans: number;
  readonly logs: number;
  readonly metricPoints: number;
}

/** Only the ledger in Postgres has these. */
export interface LedgerRows {
  readonly markers: readonly { readonly project: string; readonly marker: string }[];
  readonly traces: readonly OwnedTrace[];
  /** Summed over the months. */
  readonly usage: readonly UsageRow[];
  /** Traces whose stored bounds are not those of their spans. */
  readonly wrongBounds: readonly string[];
  readonly deadlocks: number;
}

export interface Store {
  /** For messages: `Postgres`, `a.ndjson`. */
  readonly name: string;
  readonly records: readonly StoredRecord[];
  readonly ledger: LedgerRows | null;
}

const RECORDS = `
  SELECT 'traces' AS signal, project, environment, encode(trace_id, 'hex') AS "traceId", attributes->>'${NAME_ATTRIBUTE}' AS record FROM sluice.spans
  UNION ALL
  SELECT 'logs', project, environment, encode(trace_id, 'hex'), attributes->>'${NAME_ATTRIBUTE}' FROM sluice.logs
  UNION ALL
  SELECT 'metrics', project, environment, NULL, attributes->>'${NAME_ATTRIBUTE}' FROM sluice.metric_points`;

const MARKERS = "SELECT project, encode(key, 'hex') AS marker FROM sluice.replay_markers";

const TRACES = `SELECT encode(trace_id, 'hex') AS "traceId", project, environment FROM sluice.traces`;

const USAGE = `
  SELECT project, sum(spans)::int4 AS spans, sum(logs)::int4 AS logs, sum(metric_points)::int4 AS "metricPoints"
  FROM sluice.usage_months GROUP BY project`;

const WRONG_BOUNDS = `
  SELECT encode(trace_id, 'hex') AS trace FROM sluice.traces JOIN (
    SELECT trace_id, min(start_time_unix_nano) AS low, max(greatest(start_time_unix_nano, coalesce(end_time_unix_nano, 0))) AS high
    FROM sluice.spans GROUP BY trace_id) AS s USING (trace_id)
  WHERE first_ns IS DISTINCT FROM low OR last_ns IS DISTINCT FROM high`;

const DEADLOCKS = 'SELECT deadlocks::int4 AS n FROM pg_stat_database WHERE datname = current_database()';

export async function readPostgres(client: pg.Client): Promise<Store> {
  const { rows: records } = await client.query<StoredRecord>(RECORDS);
  const { rows: markers } = await client.query<LedgerRows['markers'][number]>(MARKERS);
  const { rows: traces } = await client.query<OwnedTrace>(TRACES);
  const { rows: usage } = await client.query<UsageRow>(USAGE);
  const { rows: bounds } = await client.query<{ trace: string }>(WRONG_BOUNDS);
  const { rows: deadlocks } = await client.query<{ n: number }>(DEADLOCKS);
  const wrongBounds = bounds.map(({ trace }) => trace);
  return {
    name: 'Postgres',
    records,
    ledger: { markers, traces, usage, wrongBounds, deadlocks: deadlocks[0]?.n ?? 0 },
  };
}

const SIGNALS: Readonly<Record<string, StoredRecord['signal']>> = { span: 'traces', log: 'logs', metric: 'metrics' };

/** The lines of the file and of its rotated files. A line that is not JSON is an error. */
export async function readNdjson(folder: string, name = 'telemetry'): Promise<Store> {
  const files = (await readdir(folder)).filter((file) => file.startsWith(name) && file.endsWith('.ndjson')).sort();
  const records: StoredRecord[] = [];
  for (const file of files) {
    const lines = (await readFile(join(folder, file), 'utf8')).split('\n').filter((line) => line !== '');
    for (const [index, line] of lines.entries()) records.push(parseLine(line, `${file}:${index + 1}`));
  }
  return { name: `${name}.ndjson`, records, ledger: null };
}

/** What the parts name. A part that cannot be read has no records, so that they are found to be lost. */
export async function readObjects(client: pg.Client, place: string): Promise<Store> {
  const store = new FolderStore(place);
  const records: StoredRecord[] = [];
  for (const row of (await client.query<Record<string, unknown>>(PARTS)).rows) {
    const part = await readPart(row, store).catch(() => null);
    if (part !== null) records.push(...part.rows.map(recordOf));
  }
  return { name: 'the objects', records, ledger: null };
}

function parseLine(line: string, place: string): StoredRecord {
  try {
    return recordOf(JSON.parse(line) as Record<string, unknown>);
  } catch {
    throw new Error(`${place} is not a line of JSON: ${line.slice(0, 80)}`);
  }
}

function recordOf(row: Record<string, unknown>): StoredRecord {
  const record = (row['attributes'] as Record<string, unknown> | null)?.[NAME_ATTRIBUTE];
  return {
    signal: SIGNALS[String(row['signal'])] ?? 'traces',
    project: String(row['project']),
    environment: String(row['environment']),
    traceId: typeof row['trace_id'] === 'string' ? row['trace_id'] : null,
    record: typeof record === 'string' ? record : null,
  };
}
