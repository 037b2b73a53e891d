/**
 * Queries of the commands that show stored telemetry: read-only, on a separate connection, with a longer time limit
 * than the daemon's.
 */
import { withinStorable } from '../component/moment.ts';
import type { Statement } from '../component/capabilities/postgres.ts';
import type pg from 'pg';
import type { Config } from '../config/config.ts';
import { UserError } from '../errors.ts';
import { readTime, TIME_FORMS } from '../extensions/console/filter/moment.ts';
import { endConnection } from '../extensions/postgres/connection-end.ts';
import { cancelStatement } from '../extensions/postgres/cancel-statement.ts';
import type { Database } from '../extensions/postgres/database.ts';
import { cursorRows, type Part, type PartSource, rowParts } from '../extensions/postgres/row-parts.ts';
import { copyIn } from '../extensions/postgres/transfer/copy.ts';
import { QUERY_CANCELED, sqlstateOf } from '../extensions/postgres/sqlstate.ts';
import type { Call } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { withDatabase } from './database.ts';
import { flagOption, textOption, UsageError, type Values } from './options.ts';
import { MS_NS } from '../pdata/time-units.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface Reader {
  query(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs a FETCH and reads its rows in parts of limited size. */
  parts(text: string): AsyncIterable<Part>;
  /** Runs a `COPY … FROM STDIN` into a temporary table. Returns the number of rows. */
  copyIn(text: string, blocks: AsyncIterable<Buffer>): Promise<number>;
  /** The schema of the readable views. */
  readonly views: string;
  readonly config: Config;
}

const QUESTION_TIMEOUT_MS = 60_000;

export const READER_OPTIONS = {
  ...CONFIG_OPTIONS,
  project: textOption('NAME', 'Only this project', { short: 'p' }),
  json: flagOption('Print JSON'),
};

export function withReader<Result>(
  call: Call,
  work: (reader: Reader, database: Database) => Promise<Result>,
): Promise<Result> {
  return withDatabase(call, 'read', async (database, { config, options }) => {
    const client = await database.connect({ statementTimeoutMs: QUESTION_TIMEOUT_MS, yieldsToIngest: true });
    try {
      await client.query('SET default_transaction_read_only = on');
      const query: Reader['query'] = async (text, values = []) => (await client.query(text, [...values])).rows;
      const load: Reader['copyIn'] = (text, blocks) => copyIn(client, text, blocks);
      const parts: Reader['parts'] = (text) => partsOf(client, text);
      return await work({ query, parts, copyIn: load, views: options.views_schema, config }, database);
    } catch (error) {
      if (sqlstateOf(error) !== QUERY_CANCELED) throw error;
      throw new UserError(
        `the database took longer than ${QUESTION_TIMEOUT_MS / 1000} s to answer`,
        'Ask for less with --since or --project.',
      );
    } finally {
      await endConnection(client);
    }
  });
}

/** Each part has the time limit of a query. */
function partsOf(client: pg.ClientBase, text: string): AsyncGenerator<Part> {
  const source: PartSource = {
    use: (statement) => statement(client),
    cancel: () => void cancelStatement(client),
    abandon: () => undefined,
  };
  return rowParts(source, text, { partMs: QUESTION_TIMEOUT_MS, driverMs: 0 });
}

/**
 * The rows of a query in parts of limited size, by a cursor of this name. Within a transaction. The rest of it has no
 * time limit of the server, which would also count the time in which a part is used.
 */
export async function* rowsByCursor(
  { query, parts }: Pick<Reader, 'query' | 'parts'>,
  cursor: string,
  { text, values }: Statement,
): AsyncGenerator<readonly Row[]> {
  await query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${text}`, values);
  await query('SET LOCAL statement_timeout = 0');
  try {
    yield* cursorRows(cursor, parts);
  } finally {
    // A transaction that failed closes it too.
    await query(`CLOSE ${cursor}`).catch(() => undefined);
  }
}

/** Digits alone are a duration without its unit, unless they can be nanoseconds. */
const NO_UNIT = /^\d{1,15}$/u;

/** The time of an option, in Unix nanoseconds like the columns; null: no limit. */
export function timeOf(values: Values, name: string, nowMs: number): string | null {
  const text = values.text(name);
  if (text === undefined || text === 'all') return null;
  const ns = NO_UNIT.test(text) ? null : readTime(text, BigInt(Math.floor(nowMs)) * MS_NS);
  if (ns !== null) return String(withinStorable(ns));
  throw new UsageError(`--${name} takes a duration or a time, not "${text}"`, `as ${TIME_FORMS}; or all`);
}

export const sinceOf = (values: Values, nowMs: number): string | null => timeOf(values, 'since', nowMs);

/** A nullable column. */
export const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));
export const countOf = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(value);
/** An exact sum of integers, which may exceed a number or an int8. */
export const sumOf = (value: unknown): bigint | null =>
  value === null || value === undefined ? null : BigInt(String(value));
export const flagOf = (value: unknown): boolean | null => (value === null ? null : value === true);

/** The columns that a command reads of a row, each with its conversion. The type of the row follows from it. */
export type Shape = Readonly<Record<string, (value: unknown) => unknown>>;
export type RowOf<S extends Shape> = { readonly [Name in keyof S]: ReturnType<S[Name]> };

export const shaped = <S extends Shape>(shape: S, row: Row): RowOf<S> =>
  Object.fromEntries(Object.entries(shape).map(([name, convert]) => [name, convert(row[name])])) as RowOf<S>;
