/**
 * Checks a database for everything that Sluice needs, before anything is changed. All faults are reported at once, each
 * with its remedy.
 */
import type pg from 'pg';
import { UserError } from '../../errors.ts';
import type { PostgresOptions } from './options.ts';
import { readSchemaState, type SchemaState, tooNew } from './schema-state.ts';
import { foreignNames, foreignObjects, viewsAreCurrent } from './views.ts';

export interface Requirement {
  readonly message: string;
  /** The remedy, a sentence or lines of SQL. */
  readonly fix: string;
}

interface Facts {
  /** Quoted as in SQL. */
  readonly role: string;
  readonly database: string;
  readonly encoding: string;
  readonly temporary: boolean;
  readonly create: boolean;
  readonly connections: number;
  /** The locks that all sessions of the server can hold together, and those for each connection. */
  readonly locks: number;
  readonly locksEach: number;
}

/** Connections of one process: four to write, one to listen, four for queries, one for maintenance or a trial. */
const CONNECTIONS_PER_PROCESS = 10;
/** A process can run so many queries at once. */
const QUERIES = 4;

const FACTS = `
  SELECT quote_ident(current_user) AS role, quote_ident(current_database()) AS database,
    current_setting('server_encoding') AS encoding,
    has_database_privilege(current_database(), 'TEMPORARY') AS temporary,
    has_database_privilege(current_database(), 'CREATE') AS create,
    least(
      current_setting('max_connections')::int4 - CASE WHEN r.rolsuper THEN 0 ELSE
        current_setting('superuser_reserved_connections')::int4 + coalesce(current_setting('reserved_connections', true), '0')::int4 END,
      CASE WHEN r.rolconnlimit < 0 OR r.rolsuper THEN 1000000 ELSE r.rolconnlimit END,
      CASE WHEN d.datconnlimit < 0 OR r.rolsuper THEN 1000000 ELSE d.datconnlimit END) AS connections,
    current_setting('max_locks_per_transaction')::int4 AS "locksEach", current_setting('max_locks_per_transaction')::int4 *
      (current_setting('max_connections')::int4 + current_setting('max_prepared_transactions')::int4) AS locks
  FROM pg_roles r, pg_database d WHERE r.rolname = current_user AND d.datname = current_database()`;

const SCHEMA_RIGHTS = `
  SELECT quote_ident(nspname) AS schema, has_schema_privilege(oid, 'USAGE') AND has_schema_privilege(oid, 'CREATE') AS allowed
  FROM pg_namespace WHERE nspname = $1`;

/** What a query about all days locks: the tables and indexes of each day. */
const LOCKED = `
  SELECT count(*)::int4 AS relations FROM pg_class
  WHERE relnamespace = to_regnamespace('sluice') AND relispartition AND relname ~ '^(spans|logs)_'`;

/** The owners of objects that this user must change, and whose rights it does not have. */
const FOREIGN_OWNERS = `
  SELECT DISTINCT quote_ident(pg_get_userbyid(owner)) AS owner FROM (
    SELECT relowner AS owner FROM pg_class WHERE relnamespace = to_regnamespace('sluice') AND relkind IN ('r', 'p', 'v', 'S')
    UNION SELECT proowner FROM pg_proc WHERE pronamespace = to_regnamespace('sluice')) AS o
  WHERE NOT pg_has_role(owner, 'USAGE')`;

const FOREIGN_TABLES = `
  SELECT relname::text AS name FROM pg_class WHERE relnamespace = to_regnamespace('sluice') AND relkind IN ('r', 'p', 'v', 'm', 'f')
  ORDER BY relname LIMIT 1`;

export interface Findings {
  readonly faults: readonly Requirement[];
  readonly warnings: readonly Requirement[];
  /** Settings with which the server may lose committed data. */
  readonly unsafe: readonly string[];
}

/** `processes`: how many processes of this configuration use the database. */
export async function examine(client: pg.Client, options: PostgresOptions, processes: number): Promise<Findings> {
  const facts = (await client.query<Facts>(FACTS)).rows[0] as Facts;
  const unsafe = await unsafeSettings(client);
  const rights = await schemaRights(client, facts, 'sluice');
  const owners = await ownerFaults(client, facts);
  const faults = [
    ...encodingFaults(facts),
    ...durabilityFaults(unsafe, options.allow_unsafe),
    ...rights,
    ...(rights.length === 0 ? [] : await schemaRights(client, facts, options.views_schema)),
    ...owners,
    // The schema can be read only with the rights.
    ...(rights.length + owners.length === 0 ? await schemaFaults(client, facts, options.views_schema) : []),
  ];
  return {
    faults: faults.filter(({ fix }, index) => faults.findIndex((other) => other.fix === fix) === index),
    warnings: [...temporaryFaults(facts), ...connectionFaults(facts, processes), ...(await lockFaults(client, facts))],
    unsafe,
  };
}

/** All faults in one error; null without any. */
export function asError(faults: readonly Requirement[]): UserError | null {
  const [first] = faults;
  if (first === undefined) return null;
  if (faults.length === 1) return new UserError(first.message, first.fix);
  const lines = faults.map(({ message, fix }, index) => `  ${index + 1}. ${message}\n     ${fix}`);
  return new UserError(`the database lacks ${faults.length} things:\n${lines.join('\n')}`);
}

const asRequirement = ({ message, hint }: UserError): Requirement => ({ message, fix: hint ?? '' });

function encodingFaults({ encoding, database }: Facts): readonly Requirement[] {
  if (encoding === 'UTF8') return [];
  return [
    {
      message: `the database ${database} has the encoding ${encoding} (server_encoding), which cannot hold every text; Sluice needs UTF8`,
      fix: 'The encoding of a database cannot be changed. Make another one: createdb -E UTF8 -T template0 sluice',
    },
  ];
}

function durabilityFaults(unsafe: readonly string[], allowed: boolean): readonly Requirement[] {
  if (unsafe.length === 0 || allowed) return [];
  const off = unsafe.map((name) => `${name} = off`).join(' and ');
  return [
    {
      message: `the PostgreSQL server runs with ${off}: it can lose acknowledged data in a crash`,
      fix: 'Turn the setting on, or accept the loss with extensions.postgres.allow_unsafe: true.',
    },
  ];
}

async function ownerFaults(client: pg.Client, { role }: Facts): Promise<readonly Requirement[]> {
  const { rows } = await client.query<{ owner: string }>(FOREIGN_OWNERS);
  if (rows.length === 0) return [];
  const names = rows.map(({ owner }) => owner);
  return [
    {
      message: `tables of the schema sluice belong to ${names.join(', ')}, and ${role} has to create and drop their partitions`,
      fix: `Run as a superuser: ${names.map((name) => `GRANT ${name} TO ${role};`).join(' ')}`,
    },
  ];
}

async function schemaFaults(client: pg.Client, facts: Facts, viewsSchema: string): Promise<readonly Requirement[]> {
  const state = await readSchemaState((text) => client.query(text));
  if (!state.mayWrite) return [asRequirement(tooNew(state))];
  if (state.exists) return viewFaults(client, facts, state, viewsSchema);
  const { rows: tables } = await client.query<{ name: string }>(FOREIGN_TABLES);
  const others = tables.map(({ name }) => ({
    message: `the schema sluice holds a table of something else: ${name}`,
    fix: 'Give Sluice a database of its own, or rename that schema.',
  }));
  return [...others.slice(0, 1), ...(await viewFaults(client, facts, state, viewsSchema))];
}

async function viewFaults(
  client: pg.Client,
  facts: Facts,
  state: SchemaState,
  schema: string,
): Promise<readonly Requirement[]> {
  // A newer version or this one has created the views already.
  if (state.unknown.length > 0 && state.missing.length === 0) return [];
  if (state.exists && (await viewsAreCurrent(client, schema))) return [];
  const foreign = await foreignObjects(client, schema);
  if (foreign.length > 0) return [asRequirement(foreignNames(schema, foreign))];
  return schemaRights(client, facts, schema);
}

async function schemaRights(client: pg.Client, facts: Facts, name: string): Promise<readonly Requirement[]> {
  const { rows } = await client.query<{ schema: string; allowed: boolean }>(SCHEMA_RIGHTS, [name]);
  const [found] = rows;
  if (found?.allowed === true || (found === undefined && facts.create)) return [];
  const line =
    found === undefined
      ? `GRANT CREATE ON DATABASE ${facts.database} TO ${facts.role};`
      : `GRANT USAGE, CREATE ON SCHEMA ${found.schema} TO ${facts.role};`;
  return [
    {
      message: `permission denied: ${facts.role} may not create ${found === undefined ? `the schema ${name}` : `objects in the schema ${name}`}`,
      fix: `Run as the owner of the database: ${line} Or let the owner run \`sluice migrate\` and grant its role.`,
    },
  ];
}

function temporaryFaults({ temporary, database, role }: Facts): readonly Requirement[] {
  if (temporary) return [];
  return [
    {
      message: `${role} may not make temporary tables: spans that are sent again are stored more slowly`,
      fix: `GRANT TEMPORARY ON DATABASE ${database} TO ${role};`,
    },
  ];
}

function connectionFaults({ connections }: Facts, processes: number): readonly Requirement[] {
  const wanted = processes * CONNECTIONS_PER_PROCESS;
  if (wanted <= connections) return [];
  return [
    {
      message: `this configuration can use ${wanted} connections (${processes} × ${CONNECTIONS_PER_PROCESS}), and the database gives this user ${connections}`,
      fix: 'Raise max_connections of the server, or the CONNECTION LIMIT of the role and the database, or use fewer workers.',
    },
  ];
}

/** Without room for its locks a query fails. Storing needs few. */
async function lockFaults(client: pg.Client, { locks, locksEach }: Facts): Promise<readonly Requirement[]> {
  const { rows } = await client.query<{ relations: number }>(LOCKED);
  const wanted = QUERIES * Number(rows[0]?.relations);
  if (wanted <= locks) return [];
  const enough = 2 ** Math.ceil(Math.log2((2 * wanted * locksEach) / locks));
  return [
    {
      message: `${QUERIES} queries about all stored days lock ${wanted} tables and indexes, and the server has memory for ${locks} locks: queries can fail with "out of shared memory"`,
      fix: `Run as a superuser: ALTER SYSTEM SET max_locks_per_transaction = ${enough}; and restart the server. Or shorten the retention.`,
    },
  ];
}

/** Settings that are off, so that the server may lose committed rows in a crash. */
async function unsafeSettings(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY name",
  );
  return rows.map(({ name }) => name);
}
