/**
 * Brings the schema `sluice` up to this version: numbered SQL files, each in its own transaction, under an advisory
 * lock, so that of several starting replicas one migrates. The views follow when their file changed.
 */
import pg from 'pg';
import { endConnection } from './connection-end.ts';
import { UserError } from '../../errors.ts';
import type { Database } from './database.ts';
import { type Migration, readSchemaState, tooNew } from './schema-state.ts';
import { changeSchema } from './transactions.ts';
import { bringViews, foreignNames, foreignObjects } from './views.ts';

/** An advisory lock; an arbitrary number that all versions of Sluice use. */
export const MIGRATION_LOCK = 7238094612;
const CREATE_MIGRATIONS =
  'CREATE TABLE IF NOT EXISTS sluice.migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())';
/**
 * Null: written by a version that did not know the column. A version that does not know this migration must not write
 * then.
 */
const ADD_MIN_WRITER = 'ALTER TABLE sluice.migrations ADD COLUMN min_writer int4';
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/** Returns what was applied: file names, and `views` when they were replaced. Empty when the schema was current. */
export async function migrate(database: Database, viewsSchema: string): Promise<readonly string[]> {
  if (!SCHEMA_NAME.test(viewsSchema))
    throw new UserError(
      `"${viewsSchema}" cannot be the schema of the views`,
      'Use lower-case letters, digits and underscores.',
    );
  const client = await database.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const state = await readSchemaState((text) => client.query(text));
    if (!state.mayWrite) throw tooNew(state);
    // A newer version has migrated the schema and the views further than this version knows.
    if (state.unknown.length > 0 && state.missing.length === 0) return [];
    await refuseForeignObjects(client, viewsSchema);
    await ensureSchema(client, 'sluice');
    await client.query(CREATE_MIGRATIONS);
    await ensureMinWriter(client);
    for (const migration of state.missing) await changeSchema(client, () => applyMigration(client, migration));
    await ensureSchema(client, viewsSchema);
    const views = (await bringViews(client, viewsSchema)) ? ['views'] : [];
    await preferViews(client, viewsSchema);
    return [...state.missing.map(({ name }) => name), ...views];
  } finally {
    await endConnection(client);
  }
}

/** Creates the schema at the level of these migrations, within the caller's transaction. */
export async function createSchemaAt(client: pg.Client, migrations: readonly Migration[]): Promise<void> {
  await ensureSchema(client, 'sluice');
  await client.query(CREATE_MIGRATIONS);
  await client.query(ADD_MIN_WRITER);
  for (const migration of migrations) await applyMigration(client, migration);
}

async function applyMigration(client: pg.Client, { name, text, minWriter }: Migration): Promise<void> {
  await client.query(text);
  await client.query('INSERT INTO sluice.migrations (name, min_writer) VALUES ($1, $2)', [name, minWriter]);
}

/** IF NOT EXISTS would require the right to create schemas even if the schema exists. */
async function ensureSchema(client: pg.Client, name: string): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [name]);
  if (rowCount === 0) await client.query(`CREATE SCHEMA ${name}`);
}

async function ensureMinWriter(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(
    "SELECT FROM pg_attribute WHERE attrelid = 'sluice.migrations'::regclass AND attname = 'min_writer' AND NOT attisdropped",
  );
  if (rowCount !== 0) return;
  await changeSchema(client, async () => {
    await client.query(ADD_MIN_WRITER);
  });
}

/**
 * Postgres searches a schema named like the user first. For a user called `sluice` that would be the bare tables
 * instead of the views.
 */
async function preferViews(client: pg.Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT current_database() AS name WHERE current_user = 'sluice'",
  );
  const [database] = rows;
  if (database === undefined) return;
  const path = schema === 'public' ? 'public' : `${schema}, public`;
  await client.query(`ALTER ROLE sluice IN DATABASE ${pg.escapeIdentifier(database.name)} SET search_path TO ${path}`);
}

/** Other objects with these names must neither be taken for our views nor be replaced. */
async function refuseForeignObjects(client: pg.Client, schema: string): Promise<void> {
  const objects = await foreignObjects(client, schema);
  if (objects.length > 0) throw foreignNames(schema, objects);
}
