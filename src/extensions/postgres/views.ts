/**
 * The readable views, which follow the version of the program. They are replaced in place, so that rights and dependent
 * views stay. If Postgres cannot replace them, they are dropped and created again with the same rights.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { versionOf } from '../../component/version.ts';
import { UserError } from '../../errors.ts';
import { readViews } from './schema-state.ts';
import { DEPENDENT_OBJECTS_STILL_EXIST, sqlstateOf } from './sqlstate.ts';
import { changeSchema } from './transactions.ts';

/** The comment on our views: it distinguishes them from other objects with the same names. */
const MARK = 'Sluice: replaced by each version that changes it';
const DEFINITION = /^CREATE (VIEW|FUNCTION) views\.(\w+)/gm;
/** Errors of CREATE OR REPLACE: other columns, another result, another kind. */
const NOT_REPLACEABLE = new Set(['42P16', '42P13', '42809']);

export interface OwnObject {
  readonly kind: 'VIEW' | 'FUNCTION';
  readonly name: string;
}

/** The views cannot be changed because other objects depend on them. */
export class ViewsHeld extends UserError {}

interface Found extends OwnObject {
  /** The name in SQL. */
  readonly identity: string;
  readonly marked: boolean;
}

/**
 * Whether the views of this version exist, or those of a newer one. An older replica that starts again during an
 * upgrade must not bring its own views back, which the newer ones read as well.
 */
export async function viewsAreCurrent(client: pg.Client, schema: string): Promise<boolean> {
  const prefix = `views ${schema} `;
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM sluice.migrations WHERE starts_with(name, $1)',
    [prefix],
  );
  const [applied] = rows;
  if (applied === undefined) return false;
  const [hash, version = ''] = applied.name.slice(prefix.length).split(' ');
  if (isNewer(version, versionOf())) return true;
  if (hash !== hashOf(await textFor(schema))) return false;
  const found = await findObjects(
    client,
    schema,
    (await ownObjects()).map(({ name }) => name),
  );
  return found.length >= (await ownObjects()).length;
}

/** Versions before the comparison recorded none, which is older than any. A release is no older than its candidates. */
function isNewer(version: string, than: string): boolean {
  return releaseOf(version).localeCompare(releaseOf(than), 'en', { numeric: true }) > 0;
}

const releaseOf = (version: string): string => version.replace(/[-+].*$/su, '');

/** Foreign objects with the names of our views. */
export async function foreignObjects(client: pg.Client, schema: string): Promise<readonly string[]> {
  const names = (await ownObjects()).map(({ name }) => name);
  const taken = await client.query<{ identity: string }>(
    `SELECT format('%s %I.%I', CASE c.relkind WHEN 'v' THEN 'view' WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'm' THEN 'materialized view'
        WHEN 'S' THEN 'sequence' WHEN 'i' THEN 'index' ELSE 'relation' END, n.nspname, c.relname) AS identity
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = ANY ($2) AND c.relkind <> 'v'
     UNION ALL
     SELECT format('type %I.%I', n.nspname, t.typname) FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
     WHERE n.nspname = $1 AND t.typname = ANY ($2) AND t.typrelid = 0 AND t.typelem = 0`,
    [schema, names],
  );
  const found = await findObjects(client, schema, names);
  const others = (await madeBeforeMarks(client, schema, found)) ? [] : found.filter(({ marked }) => !marked);
  return [
    ...taken.rows.map(({ identity }) => identity),
    ...others.map(({ kind, identity }) => `${kind.toLowerCase()} ${identity}`),
  ];
}

export function foreignNames(schema: string, objects: readonly string[]): UserError {
  return new UserError(
    `the schema "${schema}" already holds objects of others with names of views of Sluice: ${objects.join(', ')}`,
    'Set extensions.postgres.views_schema to a schema of its own, such as sluice_views.',
  );
}

/**
 * Returns whether anything was created. Throws `ViewsHeld` and leaves the views unchanged when other objects depend on
 * them.
 */
export async function bringViews(client: pg.Client, schema: string): Promise<boolean> {
  if (await viewsAreCurrent(client, schema)) return false;
  const text = await textFor(schema);
  const name = `views ${schema} ${hashOf(text)} ${versionOf()}`;
  await changeSchema(client, async () => {
    await client.query(`SAVEPOINT replacing`);
    try {
      await client.query(text.replaceAll(/^CREATE (VIEW|FUNCTION) /gm, 'CREATE OR REPLACE $1 '));
    } catch (error) {
      if (!NOT_REPLACEABLE.has(sqlstateOf(error) ?? '')) throw error;
      await client.query('ROLLBACK TO replacing');
      await makeAgain(client, schema, text);
    }
    await dropFormer(client, schema);
    await mark(client, schema);
    await client.query("DELETE FROM sluice.migrations WHERE name LIKE 'views %'");
    await client.query('INSERT INTO sluice.migrations (name) VALUES ($1)', [name]);
  });
  return true;
}

async function ownObjects(): Promise<readonly OwnObject[]> {
  return [...(await readViews()).matchAll(DEFINITION)].map(([, kind, name]) => ({
    kind: kind === 'VIEW' ? 'VIEW' : 'FUNCTION',
    name: name ?? '',
  }));
}

const textFor = async (schema: string): Promise<string> => (await readViews()).replaceAll(/\bviews\./g, `${schema}.`);

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Views and functions of a schema: those with these names, or, without names, all that carry our mark. */
async function findObjects(
  client: pg.Client,
  schema: string,
  names: readonly string[] | null,
): Promise<readonly Found[]> {
  const { rows } = await client.query<Found>(
    `SELECT * FROM (
       SELECT 'VIEW' AS kind, c.relname::text AS name, format('%I.%I', n.nspname, c.relname) AS identity,
         coalesce(obj_description(c.oid, 'pg_class') = $3, false) AS marked
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'v'
       UNION ALL
       SELECT 'FUNCTION', p.proname::text, p.oid::regprocedure::text, coalesce(obj_description(p.oid, 'pg_proc') = $3, false)
       FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1
     ) AS object WHERE CASE WHEN $2::text[] IS NULL THEN marked ELSE name = ANY ($2) END`,
    [schema, names, MARK],
  );
  return rows;
}

interface Grant {
  readonly name: string;
  /** Null: of the whole object. */
  readonly column: string | null;
  readonly line: string;
}

/** Versions before the mark replaced every view of these names, and recorded it. */
async function madeBeforeMarks(client: pg.Client, schema: string, found: readonly Found[]): Promise<boolean> {
  if (found.some(({ marked }) => marked)) return false;
  const { rows } = await client.query("SELECT to_regclass('sluice.migrations') IS NOT NULL AS migrated");
  if (rows[0]?.migrated !== true) return false;
  const { rowCount } = await client.query('SELECT FROM sluice.migrations WHERE name LIKE $1', [`views ${schema} %`]);
  return rowCount !== 0;
}

async function makeAgain(client: pg.Client, schema: string, text: string): Promise<void> {
  const names = (await ownObjects()).map(({ name }) => name);
  const old = await findObjects(client, schema, names);
  const grants = await grantsOn(client, schema, names);
  await drop(client, old);
  await client.query(text);
  await giveBack(client, schema, grants);
}

/** Objects of an earlier version that this version no longer has. */
async function dropFormer(client: pg.Client, schema: string): Promise<void> {
  const names = new Set((await ownObjects()).map(({ name }) => name));
  await drop(
    client,
    (await findObjects(client, schema, null)).filter(({ name }) => !names.has(name)),
  );
}

/** Without CASCADE, so that dependent objects of others are never dropped. */
async function drop(client: pg.Client, objects: readonly Found[]): Promise<void> {
  const views = objects.filter(({ kind }) => kind === 'VIEW');
  const functions = objects.filter(({ kind }) => kind === 'FUNCTION');
  try {
    if (views.length > 0) await client.query(`DROP VIEW ${views.map(({ identity }) => identity).join(', ')}`);
    if (functions.length > 0)
      await client.query(`DROP FUNCTION ${functions.map(({ identity }) => identity).join(', ')}`);
  } catch (error) {
    if (sqlstateOf(error) !== DEPENDENT_OBJECTS_STILL_EXIST) throw error;
    const { detail = '' } = error as { readonly detail?: string };
    throw new ViewsHeld(
      `the views of Sluice change, and objects of yours depend on them: ${detail.replaceAll('\n', '; ')}`,
      'Drop those, run `sluice migrate`, and make them again. Until then the former views stay.',
    );
  }
}

/** The rights of other roles, of whole objects and of columns. */
async function grantsOn(client: pg.Client, schema: string, names: readonly string[]): Promise<readonly Grant[]> {
  const { rows } = await client.query<Grant>(
    `SELECT c.name, c."column", format('GRANT %s%s ON %s%I.%I TO %s%s', a.privilege_type, ' (' || quote_ident(c."column") || ')', c.kind,
       n.nspname, c.name, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
       CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS line
     FROM (
       SELECT relname AS name, NULL AS "column", relnamespace AS namespace, relowner AS owner, relacl AS acl, '' AS kind FROM pg_class
       UNION ALL
       SELECT r.relname, a.attname, r.relnamespace, r.relowner, a.attacl, '' FROM pg_attribute a JOIN pg_class r ON r.oid = a.attrelid
       UNION ALL
       SELECT proname, NULL, pronamespace, proowner, proacl, 'FUNCTION ' FROM pg_proc
     ) c JOIN pg_namespace n ON n.oid = c.namespace, aclexplode(c.acl) a
     WHERE n.nspname = $1 AND c.name = ANY ($2) AND a.grantee <> c.owner`,
    [schema, names],
  );
  return rows;
}

/** Grants on a column are repeated only where the column still exists. */
async function giveBack(client: pg.Client, schema: string, grants: readonly Grant[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT format('%s.%s', r.relname, a.attname) AS name FROM pg_attribute a JOIN pg_class r ON r.oid = a.attrelid
     WHERE r.relnamespace = $1::regnamespace AND a.attnum > 0 AND NOT a.attisdropped`,
    [schema],
  );
  const columns = new Set(rows.map(({ name }) => name));
  for (const { name, column, line } of grants) {
    if (column === null || columns.has(`${name}.${column}`)) await client.query(line);
  }
}

async function mark(client: pg.Client, schema: string): Promise<void> {
  const names = (await ownObjects()).map(({ name }) => name);
  for (const { kind, identity } of await findObjects(client, schema, names))
    await client.query(`COMMENT ON ${kind} ${identity} IS '${MARK}'`);
}
