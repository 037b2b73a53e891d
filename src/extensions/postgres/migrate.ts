/**
 * Brings the schema `sluice` up to this version: numbered SQL files, each in its own transaction, under an advisory lock so
 * that replicas starting together do it once. The views are made anew whenever their file changed.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { UserError } from '../../errors.ts';
import type { Database } from './database.ts';

const FOLDER = new URL('./migrations/', import.meta.url);
/** An arbitrary number that every version of Sluice agrees on. */
const LOCK = 7238094612;
const FILE_NAME = /^(\d{4})-[a-z-]+\.sql$/;
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const VIEWS = [
  'conversations',
  'usage_daily',
  'traces',
  'counted_usage',
  'model_calls',
  'tool_steps',
  'retrievals',
  'steps',
  'spans',
  'logs',
  'metric_points',
];

/** What was applied: file names, and `views` when they were remade. Empty when the schema was current. */
export async function migrate(database: Database, viewsSchema: string): Promise<readonly string[]> {
  if (!SCHEMA_NAME.test(viewsSchema))
    throw new UserError(
      `"${viewsSchema}" cannot be the schema of the views`,
      'Use lower-case letters, digits and underscores.',
    );
  const client = await database.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    await ensureSchema(client, 'sluice');
    await client.query(
      'CREATE TABLE IF NOT EXISTS sluice.migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    const applied = [...(await applyFiles(client)), ...(await applyViews(client, viewsSchema))];
    await preferViews(client, viewsSchema);
    return applied;
  } finally {
    await client.end();
  }
}

async function applyFiles(client: pg.Client): Promise<readonly string[]> {
  const files = (await readdir(FOLDER)).filter((name) => FILE_NAME.test(name)).sort();
  const { rows } = await client.query<{ name: string }>('SELECT name FROM sluice.migrations');
  const applied = new Set(rows.map(({ name }) => name));
  const unknown = [...applied].filter((name) => FILE_NAME.test(name) && !files.includes(name));
  if (unknown.length > 0) {
    throw new UserError(
      `the database was migrated by a newer version of sluice (${unknown.join(', ')})`,
      'Start that version, or restore a backup made before the upgrade.',
    );
  }
  const missing = files.filter((name) => !applied.has(name));
  for (const name of missing) {
    await inTransaction(client, async () => {
      await client.query(await readFile(new URL(name, FOLDER), 'utf8'));
      await client.query('INSERT INTO sluice.migrations (name) VALUES ($1)', [name]);
    });
  }
  return missing;
}

/** The views hold no data: when their text or their schema changed they are dropped and made again. */
async function applyViews(client: pg.Client, schema: string): Promise<readonly string[]> {
  const text = (await readFile(new URL('views.sql', FOLDER), 'utf8')).replaceAll(/\bviews\./g, `${schema}.`);
  const name = `views ${schema} ${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  const { rowCount } = await client.query('SELECT FROM sluice.migrations WHERE name = $1', [name]);
  if (rowCount === 1) return [];
  await refuseForeignRelations(client, schema);
  await inTransaction(client, async () => {
    await ensureSchema(client, schema);
    for (const view of VIEWS) await client.query(`DROP VIEW IF EXISTS ${schema}.${view}`);
    await client.query(`DROP FUNCTION IF EXISTS ${schema}.has_rollup_above(text, bytea, bytea)`);
    await client.query(text);
    await client.query("DELETE FROM sluice.migrations WHERE name LIKE 'views %'");
    await client.query('INSERT INTO sluice.migrations (name) VALUES ($1)', [name]);
  });
  return ['views'];
}

/** IF NOT EXISTS would ask for the right to make schemas even where somebody has made this one for a user without it. */
async function ensureSchema(client: pg.Client, name: string): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [name]);
  if (rowCount === 0) await client.query(`CREATE SCHEMA ${name}`);
}

/**
 * Postgres looks first into a schema named like the user. For a user called `sluice` that would be the bare tables, where
 * everybody expects the views.
 */
async function preferViews(client: pg.Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT current_database() AS name WHERE current_user = 'sluice'",
  );
  const [database] = rows;
  if (database === undefined) return;
  const path = schema === 'public' ? 'public' : `${schema}, public`;
  await client.query(
    `ALTER ROLE sluice IN DATABASE "${database.name.replaceAll('"', '""')}" SET search_path TO ${path}`,
  );
}

/** A table of somebody else's must not be taken for a view of ours. */
async function refuseForeignRelations(client: pg.Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ relname: string }>(
    `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname = ANY ($2) AND c.relkind <> 'v'`,
    [schema, VIEWS],
  );
  if (rows.length === 0) return;
  throw new UserError(
    `the schema "${schema}" already holds tables of these names: ${rows.map(({ relname }) => relname).join(', ')}`,
    'Set extensions.postgres.views_schema to a schema of its own.',
  );
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN');
  try {
    await work();
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
