/** Loads the tuples into a real server: every column loads, and its value equals that of the NDJSON line. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Client } from 'pg';
import t from 'tap';
import { Rejection } from '../../../src/errors.ts';
import type { Batch } from '../../../src/pdata/batch.ts';
import {
  COLUMN_TYPES,
  type Column,
  type ColumnType,
  PLAIN_SPAN_COLUMNS,
  TABLE_COLUMNS,
} from '../../../src/pdata/columns.ts';
import { fieldsOf, type SharedContent } from '../../../src/pdata/shared-contents.ts';
import { COST_INPUT, DERIVED_IS_ERROR, NUMBER_LATENCY_MS, SIGNAL_TRACES } from '../../../src/pdata/layout.ts';
import { connectTo } from '../../support/connection.ts';
import { requests } from '../../support/generators.ts';
import { createDatabase } from '../../support/postgres.ts';
import { type Message, type Signal, SIGNALS } from '../../support/protos.ts';
import { LEFT_OUT, type Line, TestTables } from '../../support/tables.ts';

const SAMPLES = 40;
const COPY_HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const COPY_TRAILER = Buffer.from([0xff, 0xff]);

/** The SQL that prints a column as in a line; the server compares JSON. */
function shown({ name, type }: Column): string {
  if (type === 'trace_id' || type === 'span_id') return `encode(${name}, 'hex') AS ${name}`;
  if (type === 'timestamp') return `to_char(${name} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ${name}`;
  return `${name}::text AS ${name}`;
}

const NUMBERS: readonly ColumnType[] = ['count', 'int4', 'boolean'];

/**
 * The value of a line as the text that the server prints. Doubles are compared as numbers: both sides print their own
 * shortest form.
 */
function same(column: Column, found: string | null, line: Line): boolean {
  const said = column.name.startsWith('value_') ? line['value'] : line[column.name];
  if (found === null) return said === null || column.name.startsWith('value_');
  if (column.type === 'double') return String(Number(found)) === String(said);
  if (column.name === 'value_int') return Number(found) === said;
  if (NUMBERS.includes(column.type)) return found === String(said);
  return found === said;
}

/** Indexes a request with records; null without any. */
function indexed(tables: TestTables, signal: Signal, message: Message): Batch | null {
  try {
    const batch = tables.batch(signal, message);
    return batch.recordCount === 0 ? null : batch;
  } catch (error) {
    if (error instanceof Rejection && error.code === 'empty_payload') return null;
    throw error;
  }
}

const COSTS = [0n, 1n, -1n, 12_345_678n, 10n ** 8n, 10n ** 18n - 1n, -(10n ** 12n)];

/** Gives every span its own cost and latency. */
function addNumbers(batch: Batch): void {
  for (let record = 0; record < batch.recordCount; record++) {
    batch.records.goto(record).derived = batch.derived.create();
    batch.derived.setCost(COST_INPUT, COSTS[record % COSTS.length] ?? null);
    batch.derived.setNumber(NUMBER_LATENCY_MS, record / 3);
    batch.derived.setByte(DERIVED_IS_ERROR, record % 3);
  }
}

const DETAILS = /^(events|links|dropped\w*Count)$/;

/** The message without what only some spans have. */
function withoutDetails(message: Message): Message {
  const stripped = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(stripped);
    if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value;
    const entries = Object.entries(value).filter(([name]) => !DETAILS.test(name));
    return Object.fromEntries(entries.map(([name, inner]) => [name, stripped(inner)]));
  };
  return stripped(message) as Message;
}

const namesOf = (columns: readonly Column[]): string => columns.map(({ name }) => name).join(', ');

interface Scope {
  teardown(task: () => Promise<void>): unknown;
}

/** COPY reads from a file on the server, which must be able to open it. */
async function load(t: Scope, client: Client, table: string, bytes: Buffer): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-copy-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const path = join(folder, 'rows');
  await writeFile(path, Buffer.concat([COPY_HEADER, bytes, COPY_TRAILER]), { mode: 0o644 });
  await client.query(`COPY ${table} FROM '${path}' (FORMAT binary)`);
}

/** Creates the tables of resources and scopes again, with these contents. */
async function loadContents(t: Scope, client: Client, contents: readonly SharedContent[]): Promise<void> {
  await client.query(`
    DROP TABLE IF EXISTS resources, scopes;
    CREATE TABLE resources (id bytea PRIMARY KEY, project text, body jsonb);
    CREATE TABLE scopes (id bytea PRIMARY KEY, project text, name text, version text, attributes jsonb)`);
  for (const kind of ['resource', 'scope'] as const) {
    const tuples = contents
      .filter((content) => content.kind === kind)
      .map((content) => {
        const fields = fieldsOf(content);
        const head = Buffer.alloc(6);
        head.writeInt16BE(fields.length + 1, 0);
        head.writeInt32BE(16, 2);
        return Buffer.concat([head, Buffer.from(content.id, 'latin1'), ...fields]);
      });
    await load(t, client, `${kind}s`, Buffer.concat(tuples));
  }
}

t.test('the server has the values of the lines', async (t) => {
  const tables = new TestTables();
  const { url } = await createDatabase(t);
  const client = await connectTo(t, url);
  for (const signal of SIGNALS) {
    const samples: Message[] = fc.sample(requests(signal), { numRuns: SAMPLES, seed: 11 });
    const messages = samples.map((message, index) => (index % 4 === 0 ? withoutDetails(message) : message));
    const [parts, plainParts]: [Buffer[], Buffer[]] = [[], []];
    const [fullTexts, plainTexts]: [string[], string[]] = [[], []];
    const contents = new Map<string, SharedContent>();
    let columns: readonly Column[] = [];
    for (const [index, message] of messages.entries()) {
      const batch = indexed(tables, signal, message);
      if (batch === null) continue;
      columns = TABLE_COLUMNS[batch.signal];
      if (signal === SIGNAL_TRACES && index % 4 > 0) addNumbers(batch);
      const rows = tables.copy(batch);
      (rows.isPlain ? plainParts : parts).push(Buffer.concat(rows.chunks));
      for (const content of rows.contents ?? [])
        contents.set(content.id, { ...content, bytes: Buffer.from(content.bytes) });
      rows.release();
      (rows.isPlain ? plainTexts : fullTexts).push(...tables.text(batch).trimEnd().split('\n'));
    }
    const texts = [...fullTexts, ...plainTexts];
    const lines = texts.map((text) => JSON.parse(text) as Line);
    const table = `t${signal}`;
    const definitions = columns.map(({ name, type }) => `${name} ${COLUMN_TYPES[type].table}`);
    await client.query(`CREATE TABLE ${table} (${definitions.join(', ')}, n serial)`);
    await load(t, client, `${table} (${namesOf(columns)})`, Buffer.concat(parts));
    if (signal === SIGNAL_TRACES) {
      t.ok(plainTexts.length > 0, 'some spans leave columns out');
      for (const [name, value] of Object.entries(LEFT_OUT))
        if (value !== null)
          await client.query(`ALTER TABLE ${table} ALTER ${name} SET DEFAULT '${JSON.stringify(value)}'`);
      await load(t, client, `${table} (${namesOf(PLAIN_SPAN_COLUMNS)})`, Buffer.concat(plainParts));
    }
    const plain = columns.filter(({ type }) => type !== 'json' && type !== 'content_id');
    const { rows } = await client.query(`SELECT ${plain.map(shown).join(', ')} FROM ${table} ORDER BY n`);
    t.equal(rows.length, lines.length);
    t.ok(lines.length > 0);
    for (const [index, line] of lines.entries()) {
      const wrong = plain.filter((column) => !same(column, rows[index][column.name], line));
      t.same(wrong, [], `row ${index} of ${table}`);
    }
    await loadContents(t, client, [...contents.values()]);
    const view = `(SELECT t.*, r.body AS resource, s.name AS scope_name, s.version AS scope_version, s.attributes AS scope_attributes
      FROM ${table} t JOIN resources r ON r.id = t.resource_id LEFT JOIN scopes s ON s.id = t.scope_id)`;
    const jsons = columns.flatMap(({ name, type }) => (type === 'json' ? [name] : []));
    for (const name of [...jsons, 'resource', 'scope_name', 'scope_version', 'scope_attributes']) {
      const said =
        name === 'scope_name' || name === 'scope_version' ? `json ->> '${name}'` : `NULLIF(json -> '${name}', 'null')`;
      // The server reads the line's JSON as it read the tuple's, so that no digit is lost here.
      const result = await client.query(
        `SELECT count(*)::int AS looked, count(*) FILTER (WHERE ${name} IS DISTINCT FROM ${said})::int AS wrong
         FROM ${view} v JOIN unnest($1::jsonb[]) WITH ORDINALITY AS line (json, i) ON n = i`,
        [texts],
      );
      t.strictSame(result.rows, [{ looked: lines.length, wrong: 0 }], `${name} of ${table}`);
    }
  }
});
