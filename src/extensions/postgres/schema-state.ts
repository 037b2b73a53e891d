/** The migrations of a database: whether this version knows its schema and may write to it. */
import { readdir, readFile } from 'node:fs/promises';
import { UserError } from '../../errors.ts';
import { withColumns, withQueries } from './view-columns.ts';

const FOLDER = new URL('./migrations/', import.meta.url);
/** The files of the views, in an order in which each finds what it reads. */
const VIEWS = [
  ...['records', 'usage', 'usage-of-traces', 'usage-by-time', 'traces', 'owners-of-calls', 'daily-usage'],
  ...['message-parts', 'messages'],
];
const FILE_NAME = /^(\d{4})-[a-z-]+\.sql$/;
/** A migration that is incompatible with older writers declares the lowest migration number that a writer must know. */
const MIN_WRITER = /^-- min_writer: (\d{1,4})$/m;

/**
 * Rows of `sluice.migrations` that keep every version from writing: to a database to which a move has not finished, and
 * to one whose data was moved away.
 */
export const UNFINISHED_MOVE = '9998-unfinished-move.sql';
export const MOVED_AWAY = '9999-moved-away.sql';

/** Whether a row of `sluice.migrations` names a migration, and not a version of the views or a mark. */
export const isMigration = (name: string): boolean =>
  FILE_NAME.test(name) && name !== UNFINISHED_MOVE && name !== MOVED_AWAY;

export interface Migration {
  readonly name: string;
  readonly text: string;
  readonly minWriter: number;
}

export interface SchemaState {
  readonly exists: boolean;
  /** Migrations of this version that are not applied yet, in order. */
  readonly missing: readonly Migration[];
  /** Migrations of a newer version. */
  readonly unknown: readonly string[];
  /** Whether the newer version permits this one to write. */
  readonly mayWrite: boolean;
}

type Ask = (text: string) => Promise<{ readonly rows: readonly Record<string, unknown>[] }>;

export async function readMigrations(): Promise<readonly Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => FILE_NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, FOLDER), 'utf8');
      return { name, text, minWriter: Number(MIN_WRITER.exec(text)?.[1] ?? 0) };
    }),
  );
}

/** The definitions of the readable views. */
export async function readViews(): Promise<string> {
  const texts = await Promise.all(
    VIEWS.map((name) => readFile(new URL(`./views/${name}.sql`, import.meta.url), 'utf8')),
  );
  return withQueries(withColumns(texts.join('\n')));
}

export async function readSchemaState(ask: Ask): Promise<SchemaState> {
  const known = await readMigrations();
  const { rows: tables } = await ask("SELECT to_regclass('sluice.migrations') AS found");
  if (tables[0]?.['found'] === null) return { exists: false, missing: known, unknown: [], mayWrite: true };
  // Older schemas lack the column, so whole rows are read. A row without the column requires nothing of writers.
  const { rows } = await ask('SELECT to_jsonb(m) AS row FROM sluice.migrations m ORDER BY name');
  const applied = rows.map(({ row }) => row as { readonly name: string; readonly min_writer?: number | null });
  const names = new Set(applied.map(({ name }) => name));
  const unknown = applied.filter(({ name }) => FILE_NAME.test(name) && !known.some((each) => each.name === name));
  const newest = Number.parseInt(known.at(-1)?.name ?? '0', 10);
  return {
    exists: true,
    missing: known.filter(({ name }) => !names.has(name)),
    unknown: unknown.map(({ name }) => name),
    mayWrite: unknown.every(({ min_writer: minWriter }) => (minWriter ?? Number.POSITIVE_INFINITY) <= newest),
  };
}

/** The error when a newer version, or a move, does not permit this one to write. */
export function tooNew({ unknown }: SchemaState): UserError {
  if (unknown.includes(UNFINISHED_MOVE))
    return new UserError(
      'a move to this database has not finished',
      'Run the same `sluice move` again, which continues.',
    );
  if (unknown.includes(MOVED_AWAY))
    return new UserError(
      'the data of this database was moved to another one',
      'Set extensions.postgres to that one. To use this one nevertheless, run `sluice move --undo`.',
    );
  return new UserError(
    `the database was migrated by a newer version of sluice (${unknown.join(', ')})`,
    'Start that version, or restore a backup made before the upgrade.',
  );
}
