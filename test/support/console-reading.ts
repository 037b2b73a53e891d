/** The handlers of the console's reading API on a database of the test, without a listener. */
import pg from 'pg';
import type { PostgresReader, ReaderPool } from '../../src/component/capabilities/postgres-reader.ts';
import { Database } from '../../src/extensions/postgres/database.ts';
import { exactText } from '../../src/pdata/exact-json.ts';
import { migrate } from '../../src/extensions/postgres/migrate.ts';
import { Readers } from '../../src/extensions/postgres/reader.ts';
import { ConsoleError } from '../../src/extensions/console/errors.ts';
import { RowThread } from '../../src/extensions/console/server/row-thread.ts';
import type { Reply, RequestContext, Route, ServerEvent } from '../../src/extensions/console/server/route.ts';
import { createDatabase, type Teardown } from './postgres.ts';

export interface Asking {
  readonly project?: string;
  /** Parameters of the path. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly projects?: readonly string[];
  readonly seesContent?: boolean;
  readonly signal?: AbortSignal;
  /** Instead of the reader with three connections. */
  readonly reader?: PostgresReader;
  /** What the state of the console belongs to, instead of that reader. */
  readonly people?: object;
}

type StoredTable = 'spans' | 'logs' | 'traces' | 'metric_points';

export interface Reading {
  readonly url: string;
  readonly reader: ReaderPool;
  readonly client: pg.Client;
  reply(route: Route, asking?: Asking): Promise<Reply>;
  /** The answer as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are checked by the tests.
  ask(route: Route, asking?: Asking): Promise<any>;
  /** The answer as text. */
  text(route: Route, asking?: Asking): Promise<string>;
  /** The code of the error. */
  refusal(route: Route, asking?: Asking): Promise<ConsoleError | null>;
  /** Stores rows; ids are hex. */
  insert(table: StoredTable, rows: readonly object[]): Promise<void>;
}

export async function startReading(t: Teardown): Promise<Reading> {
  const { url } = await createDatabase(t, { name: 'console-reading', prepare });
  const database = new Database().use({ connectionString: url });
  const settings = { url: '', connections: 3, timeoutMs: 30_000, applicationName: 'sluice-console' };
  const reader = new Readers(database, 'public').open(settings);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(async () => {
    await reader.close();
    await client.end();
    await database.close();
  });
  const reply = async (route: Route, asking: Asking = {}): Promise<Reply> =>
    route.handle(contextOf(asking.reader ?? reader, asking));
  const text = async (route: Route, asking: Asking = {}): Promise<string> => textOf(await reply(route, asking));
  return {
    url,
    reader,
    client,
    reply,
    text,
    ask: async (route, asking) => JSON.parse(await text(route, asking)),
    refusal: async (route, asking) => {
      try {
        await text(route, asking);
        return null;
      } catch (error) {
        if (error instanceof ConsoleError) return error;
        throw error;
      }
    },
    insert: (table, rows) => insertRows({ query: (text, values) => client.query(text, [...values]) }, table, rows),
  };
}

/** Ids in the rows are hex, as `hex` writes them; large integers are bigints. */
export async function insertRows(
  database: { query(text: string, values: readonly unknown[]): Promise<unknown> },
  table: StoredTable,
  rows: readonly object[],
): Promise<void> {
  const text = `INSERT INTO sluice.${table} SELECT * FROM json_populate_recordset(NULL::sluice.${table}, $1)`;
  await database.query(text, [exactText(rows)]);
}

async function prepare(url: string): Promise<void> {
  const database = new Database().use({ connectionString: url });
  await migrate(database, 'public');
  await database.close();
}

function contextOf(reader: PostgresReader, asking: Asking): RequestContext {
  const { project = 'demo', path = {}, query = {}, seesContent = true } = asking;
  const { signal = new AbortController().signal } = asking;
  const values = Object.entries(query).map(([name, value]) => [name, String(value)]);
  const context = {
    archived: async () => null,
    archivedDays: async () => null,
    archivedFrom: null,
    leftOut: null,
    caller: { by: 'cookie', id: '1', name: 'Ada', role: 'viewer', projects: asking.projects ?? null, seesContent },
    parameter: (name: string) => (name === 'project' ? project : (path[name] ?? '')),
    project,
    query: new URLSearchParams(Object.fromEntries(values)),
    headers: asking.headers ?? {},
    body: {},
    signal,
    reader: {
      views: reader.views,
      query: (text: string, parameters: readonly unknown[] = []) => reader.query(text, parameters, signal),
      prepared: (text: string, parameters: readonly unknown[] = []) => reader.prepared(text, parameters, signal),
      stream: (text: string, parameters: readonly unknown[] = []) => reader.stream(text, parameters, signal),
    },
    people: asking.people ?? reader,
    administration: { listProjects: () => Promise.resolve([{ name: project }]) },
    rowThread: new RowThread(),
    logger: { info: () => undefined, warn: () => undefined },
    now: () => Date.now(),
  };
  // Handlers that read use neither administration nor people.
  return context as unknown as RequestContext;
}

export async function textOf(reply: Reply): Promise<string> {
  switch (reply.kind) {
    case 'json':
      return JSON.stringify(reply.value);
    case 'json_text':
    case 'text':
      return reply.text;
    case 'lines':
    case 'download': {
      const pieces: string[] = [];
      for await (const piece of reply.pieces)
        pieces.push(typeof piece === 'string' ? piece : Buffer.from(piece).toString());
      return pieces.join('');
    }
    default:
      throw new Error(`no text in ${reply.kind}`);
  }
}

export function eventsOf(reply: Reply): AsyncIterator<ServerEvent> {
  if (reply.kind !== 'events') throw new Error(`no events in ${reply.kind}`);
  return reply.events[Symbol.asyncIterator]();
}

let made = 0;
const NOTHING = { project: 'demo', environment: 'default', received_at: '2026-11-20T12:00:00Z', attributes: {} };
export const BASE_NS = 1_795_132_800_000_000_000n;

/** Ids as the driver of JSON reads them. */
export const hex = (number: number, bytes: number): string => `\\x${number.toString(16).padStart(bytes * 2, '0')}`;

export interface SpanFields {
  readonly trace: number;
  readonly at?: number;
  readonly [column: string]: unknown;
}

/** A span that begins `at` milliseconds after `BASE_NS`. */
export function spanRow({ trace, at = 0, ...columns }: SpanFields): object {
  made += 1;
  const start = BASE_NS + BigInt(at) * 1_000_000n;
  return {
    ...NOTHING,
    trace_id: hex(trace, 16),
    span_id: hex(made, 8),
    name: 'work',
    status: 'unset',
    start_time_unix_nano: String(start),
    end_time_unix_nano: String(start + 5_000_000n),
    duration_ns: '5000000',
    resource: {},
    ...columns,
  };
}

export function logRow(columns: Readonly<Record<string, unknown>>): object {
  return { ...NOTHING, resource: {}, time_unix_nano: String(BASE_NS), ...columns };
}

/** Stores spans with the rows of their traces. */
export async function store(reading: Reading, spans: readonly object[]): Promise<void> {
  await reading.insert('spans', spans);
  await reading.client.query(`INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns)
    SELECT trace_id, project, min(environment), min(start_time_unix_nano), max(start_time_unix_nano)
    FROM sluice.spans GROUP BY 1, 2 ON CONFLICT (trace_id) DO UPDATE SET first_ns = excluded.first_ns, last_ns = excluded.last_ns`);
}

/** A metric point `at` milliseconds after `BASE_NS`. */
export function metricRow({
  at = 0,
  ...columns
}: {
  readonly at?: number;
  readonly [column: string]: unknown;
}): object {
  return { ...NOTHING, resource: {}, time_unix_nano: String(BASE_NS + BigInt(at) * 1_000_000n), ...columns };
}
