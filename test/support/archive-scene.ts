/** A database with closed days, and what an archive of it holds. */
import { mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type ArchivedFile, type Session, type Work } from '../../src/archive/archive-day.ts';
import { archive } from '../../src/archive/archive.ts';
import { Duck } from '../../src/archive/duckdb.ts';
import { FolderStore } from '../../src/object-store/folder-store.ts';
import { Partitions } from '../../src/exporters/postgres/partitions.ts';
import { Database } from '../../src/extensions/postgres/database.ts';
import { LOG_COLUMNS, METRIC_COLUMNS, SPAN_COLUMNS } from '../../src/pdata/columns.ts';
import { copyIn, copyOut } from '../../src/extensions/postgres/transfer/copy.ts';
import { MIGRATED } from './migrated.ts';
import { createDatabase, type Teardown } from './postgres.ts';
import { DAY_MS } from '../../src/pdata/time-units.ts';

/** Days are opened around this moment: from 21 to 7 days ago. */
export const CLOSED_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - 14 * DAY_MS;
export const MEMORY = 256 * 2 ** 20;

export interface Scene {
  readonly url: string;
  readonly client: pg.Client;
  readonly duck: Duck;
  /** The folder of the lake, and of the jobs. */
  readonly lake: string;
  readonly folder: string;
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  connect(): Promise<pg.Client>;
  /** Creates the partitions of closed days that are missing. */
  openDays(): Promise<void>;
  /** Runs the archive to its end. */
  run(changes?: Partial<Work>): Promise<readonly ArchivedFile[]>;
  /** The files of the lake, by their keys. */
  files(): readonly string[];
  /** Resolves when a statement with this text waits for a lock, or when the work has ended. */
  untilWaiting(work: Promise<unknown>, text?: string): Promise<void>;
}

/** With the partitions of closed days. `given`: the address of a database with the schema; left out: a new one. */
export async function makeScene(t: Teardown, given?: string): Promise<Scene> {
  const url = given ?? (await createDatabase(t, MIGRATED)).url;
  const openDays = async (): Promise<void> => {
    const database = new Database().use({ connectionString: url });
    const partitions = new Partitions(database);
    for (const [name, key] of TABLES) await partitions.open({ name, key, retentionMs: 365 * DAY_MS }, CLOSED_MS);
    await database.close();
  };
  await openDays();
  const clients: pg.Client[] = [];
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query("SET TimeZone = 'UTC'");
    clients.push(client);
    return client;
  };
  const folder = mkdtempSync(join(tmpdir(), 'archive-test-'));
  const lake = join(folder, 'to');
  const duck = await Duck.open({ memoryBytes: MEMORY, folder });
  t.teardown(async () => {
    duck.close();
    for (const client of clients) await client.end();
    await rm(folder, { recursive: true, force: true });
  });
  const client = await connect();
  const store = new FolderStore(lake);
  return {
    url,
    client,
    duck,
    lake,
    folder,
    connect,
    openDays,
    query: async (text, values = []) => (await client.query(text, [...values])).rows,
    run: async (changes = {}) => {
      const session = sessionOf(await connect());
      const work: Work = { session, store, duck, folder, views: 'public', report: () => undefined, ...changes };
      const files: ArchivedFile[] = [];
      for await (const file of archive(work, { olderThanMs: 2 * DAY_MS })) files.push(file);
      return files;
    },
    files: () =>
      readdirSync(lake, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.parquet'))
        .sort(),
    untilWaiting: async (work, text = '') => {
      let isOver = false;
      const end = (): void => {
        isOver = true;
      };
      work.then(end, end);
      const waiting = `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND position($1 IN query) > 0`;
      while (!isOver && (await client.query(waiting, [text])).rows.length === 0) await pause(1);
    },
  };
}

export const TABLES = [
  ['spans', 'nanoseconds'],
  ['logs', 'timestamp'],
  ['metric_points', 'timestamp'],
] as const;

/** Drops the partitions of days, of each table the `most` earliest. */
export async function dropDays({ query }: Pick<Scene, 'query'>, most: number | null = null): Promise<void> {
  for (const [table] of TABLES)
    for (const { name } of await query(
      `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       WHERE i.inhparent = 'sluice.${table}'::regclass AND c.relname ~ '_[0-9]{8}$' ORDER BY c.relname LIMIT $1`,
      [most],
    ))
      await query(`DROP TABLE sluice.${name}`);
}

export const sessionOf = (client: pg.Client): Session => ({
  query: (text, values = []) => client.query(text, [...values]),
  copyOut: (text) => copyOut(client, text).blocks,
  copyIn: (text, blocks) => copyIn(client, text, blocks),
});

/**
 * All rows of a lake or a view, as sorted lines of JSON with the columns by name. Values are exact. With `names`, only
 * these columns, which takes less time.
 */
export async function linesOfLake(
  { duck, lake }: Pick<Scene, 'duck' | 'lake'>,
  signal: string,
  names: readonly string[] = [],
): Promise<readonly string[]> {
  const from = `read_parquet('${lake}/lake/${signal}/*/*.parquet', hive_partitioning = false)`;
  const described = await duck.rows(`DESCRIBE SELECT * FROM ${from}`);
  const wanted = described.filter((each) => names.length === 0 || names.includes(String(each['column_name'])));
  const list = wanted.map(({ column_name: name, column_type: type }) => {
    const text =
      type === 'TIMESTAMP WITH TIME ZONE' ? `strftime("${name}", '%Y-%m-%d %H:%M:%S.%f')` : `"${name}"::text`;
    return `${text} AS "${name}"`;
  });
  const rows = await duck.rows(`SELECT ${list.join(', ')} FROM ${from}`);
  return rows.map((row) => lineOf(row)).sort();
}

export async function linesOfView(
  { client }: Pick<Scene, 'client'>,
  signal: string,
  names: readonly string[] = [],
): Promise<readonly string[]> {
  const { rows: columns } = await client.query<{ name: string; type: string }>(
    `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 ORDER BY attnum`,
    [`public.${signal}`],
  );
  const wanted = columns.filter(({ name }) => names.length === 0 || names.includes(name));
  const list = wanted.map(({ name, type }) => {
    const text = type.startsWith('timestamp') ? `to_char("${name}", 'YYYY-MM-DD HH24:MI:SS.US')` : `"${name}"::text`;
    return `${text} AS "${name}"`;
  });
  const { rows } = await client.query(`SELECT ${list.join(', ')} FROM public.${signal}`);
  return rows.map((row) => lineOf(row)).sort();
}

/** The columns with JSON, of all signals. */
const JSON_COLUMNS: readonly string[] = [...SPAN_COLUMNS, ...LOG_COLUMNS, ...METRIC_COLUMNS]
  .filter(({ type }) => type === 'json')
  .map(({ name }) => name);

const DOUBLES = ['latency_ms', 'time_to_first_token_ms', 'sum', 'min', 'max'];

/** Doubles are written differently by the two databases, and `value` has two columns in the lake. */
export function lineOf({ value, value_int: exact, ...row }: Readonly<Record<string, unknown>>): string {
  const line: Record<string, unknown> = { ...row };
  for (const name of DOUBLES) if (line[name] !== null && line[name] !== undefined) line[name] = numberOf(line[name]);
  if (value !== undefined) line['value'] = numberOf(exact ?? value);
  return JSON.stringify(line);
}

/** Integers of 64 bits stay exact. */
function numberOf(value: unknown): string | null {
  if (value === null) return null;
  const text = String(value);
  if (/^-?\d{1,19}$/u.test(text)) return text;
  const number = Number(text.replace(/^(-?)inf$/iu, '$1Infinity').replace(/^nan$/iu, 'NaN'));
  if (Object.is(number, -0)) return '-0';
  return Number.isInteger(number) ? String(BigInt(number)) : String(number);
}

/** Lines of `linesOfLake` or `linesOfView`, with JSON as PostgreSQL writes it. */
export async function withPlainJson(
  { client }: Pick<Scene, 'client'>,
  lines: readonly string[],
): Promise<readonly string[]> {
  const rows = lines.map((line) => JSON.parse(line) as Record<string, string | null>);
  const places = rows.flatMap((row) =>
    JSON_COLUMNS.filter((name) => typeof row[name] === 'string').map((name) => ({ row, name })),
  );
  const { rows: plain } = await client.query(
    'SELECT value::jsonb::text AS value FROM unnest($1::text[]) WITH ORDINALITY u (value, place) ORDER BY place',
    [places.map(({ row, name }) => row[name])],
  );
  for (const [index, { row, name }] of places.entries()) row[name] = plain[index].value;
  // DuckDB reads the number -0 of JSON without its sign.
  for (const row of rows) for (const [name, value] of Object.entries(row)) if (value === '-0') row[name] = '0';
  return rows.map((row) => JSON.stringify(row)).sort();
}
