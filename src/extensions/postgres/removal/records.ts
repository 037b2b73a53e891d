/**
 * Removes records of a project, an environment or a period, beside ingest: batch by batch, each a transaction of its
 * own, so that no request waits long and an interrupted run can be repeated. Replay markers and the counters of months
 * stay. Shared resources and scopes stay until the maintenance removes them: daemons remember which ones are stored.
 */
import { inTransaction } from '../../../component/in-transaction.ts';
import type { PostgresDatabase, Query, SessionLimits } from '../../../component/capabilities/postgres.ts';
import { unlessDropped } from '../../../component/dropped-partition.ts';
import { HOUR_MS, MS_NS } from '../../../pdata/time-units.ts';

/** Null: all. */
export interface Selection {
  readonly project: string | null;
  readonly environment: string | null;
  /** Spans that began, and log records and metric points that arrived, before this time. */
  readonly beforeMs: number | null;
}

export interface Removed {
  readonly spans: number;
  readonly logs: number;
  readonly metricPoints: number;
}

type Table = 'spans' | 'logs' | 'metric_points';

const TABLES = { spans: 'spans', logs: 'logs', metricPoints: 'metric_points' } as const;
/** A batch is a megabyte of the table's own pages, plus their large values. */
const BATCH_PAGES = 128;
const TRACES_PER_BATCH = 500;
/** Counting reads whole tables. A batch is far shorter. */
export const REMOVAL_LIMITS: SessionLimits = { statementTimeoutMs: HOUR_MS, lockTimeoutMs: 5_000 };

export async function countRecords(query: Query, selection: Selection): Promise<Removed> {
  const count = async (table: Table): Promise<number> => {
    const [condition, values] = conditionOf(selection, timeOf(table));
    const { rows } = await query(`SELECT count(*)::float8 AS n FROM sluice.${table} WHERE ${condition}`, values);
    return Number(rows[0]?.['n']);
  };
  return { spans: await count('spans'), logs: await count('logs'), metricPoints: await count('metric_points') };
}

/** `report` gets the number of removed records after each batch. */
export async function removeRecords(
  database: Pick<PostgresDatabase, 'session'>,
  selection: Selection,
  report: (records: number) => void,
): Promise<Removed> {
  return database.session(REMOVAL_LIMITS, async (query) => {
    const removed = { spans: 0, logs: 0, metricPoints: 0 };
    let sum = 0;
    for (const [key, table] of Object.entries(TABLES)) {
      for await (const count of removeFrom(query, table, conditionOf(selection, timeOf(table)))) {
        removed[key as keyof Removed] += count;
        report((sum += count));
      }
    }
    await removeEmptyTraces(query, selection);
    return removed;
  });
}

/**
 * Yields the number of rows of each batch. Rows that arrive later are left out, but not those that the maintenance
 * moves: it moves them from the default partition, which is the first here, and into partitions that are listed then.
 */
async function* removeFrom(query: Query, table: Table, condition: Condition): AsyncGenerator<number, void> {
  const read = new Set<string>();
  for (;;) {
    const next = (await partitionsOf(query, table)).find(({ id }) => !read.has(id));
    if (next === undefined) return;
    read.add(next.id);
    yield* removeFromPartition(query, next, condition);
  }
}

async function* removeFromPartition(
  query: Query,
  { id, name }: Partition,
  [condition, values]: Condition,
): AsyncGenerator<number, void> {
  const { rows } = await query(
    `SELECT (pg_relation_size($1::oid) / current_setting('block_size')::int8)::float8 AS pages`,
    [id],
  );
  // Null when it was dropped meanwhile.
  const pages = Number(rows[0]?.['pages'] ?? 0);
  for (let page = 0; page < pages; page += BATCH_PAGES) {
    const range = `ctid >= '(${page},0)' AND ctid < '(${page + BATCH_PAGES},0)'`;
    const statement = `DELETE FROM sluice.${name} WHERE ${range} AND ${condition}`;
    const result = await unlessDropped(name, () => query(statement, values));
    if (result === null) return;
    yield result.rowCount ?? 0;
  }
}

/**
 * Releases the ids of traces of which nothing is stored. The first query locks them. A trace that was claimed before is
 * no longer empty in the second query.
 */
async function removeEmptyTraces(query: Query, { project, environment, beforeMs }: Selection): Promise<void> {
  const values = [project, environment, nanoseconds(beforeMs)];
  for (let last = ''; ; ) {
    const { rows } = await query(
      `SELECT encode(trace_id, 'hex') AS id FROM sluice.traces
       WHERE ($1::text IS NULL OR project = $1) AND ($2::text IS NULL OR environment = $2)
         AND ($3::int8 IS NULL OR first_ns IS NULL OR first_ns < $3) AND trace_id > decode($4, 'hex')
       ORDER BY trace_id LIMIT ${TRACES_PER_BATCH}`,
      [...values, last],
    );
    const ids = rows.map(({ id }) => String(id));
    if (ids.length === 0) return;
    last = ids.at(-1) ?? '';
    await inTransaction(query, async () => {
      const empty = await query(
        `SELECT encode(id, 'hex') AS id FROM sluice.empty_traces(ARRAY(SELECT decode(u, 'hex') FROM unnest($1::text[]) u)) id`,
        [ids],
      );
      await query(
        `DELETE FROM sluice.traces WHERE trace_id IN (
           SELECT sluice.empty_traces(ARRAY(SELECT decode(u, 'hex') FROM unnest($1::text[]) u)))`,
        [empty.rows.map(({ id }) => id)],
      );
    });
  }
}

interface Partition {
  /** Another one when a partition was made again under its name. */
  readonly id: string;
  readonly name: string;
}

async function partitionsOf(query: Query, table: Table): Promise<readonly Partition[]> {
  const { rows } = await query(
    `SELECT c.oid::text AS id, c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = $1::regclass ORDER BY c.relname <> $2, c.relname`,
    [`sluice.${table}`, `${table}_default`],
  );
  return rows.map(({ id, name }) => ({ id: String(id), name: String(name) }));
}

/** Whether a table is divided by the beginning of a span or by the arrival of a record. */
const timeOf = (table: Table): 'start' | 'arrival' => (table === 'spans' ? 'start' : 'arrival');

/** An SQL condition and its parameters. */
type Condition = readonly [text: string, values: readonly unknown[]];

function conditionOf({ project, environment, beforeMs }: Selection, time: 'start' | 'arrival'): Condition {
  const values: unknown[] = [];
  const texts = ['true'];
  const add = (column: string, operator: string, value: unknown): void => {
    values.push(value);
    texts.push(`${column} ${operator} $${values.length}`);
  };
  if (project !== null) add('project', '=', project);
  if (environment !== null) add('environment', '=', environment);
  if (beforeMs !== null && time === 'start') add('start_time_unix_nano', '<', nanoseconds(beforeMs));
  if (beforeMs !== null && time === 'arrival') add('received_at', '<', new Date(beforeMs).toISOString());
  return [texts.join(' AND '), values];
}

const nanoseconds = (ms: number | null): string | null => (ms === null ? null : String(BigInt(ms) * MS_NS));
