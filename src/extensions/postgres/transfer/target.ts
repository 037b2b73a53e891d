/** The database that receives copied rows: whether it is empty, and its tables at the level of the source. */
import pg from 'pg';
import { UserError } from '../../../errors.ts';
import { waitFor } from '../embedded/wait.ts';
import { createSchemaAt, MIGRATION_LOCK } from '../migrate.ts';
import { isMigration, type Migration, readMigrations, UNFINISHED_MOVE } from '../schema-state.ts';
import { type Catalogue, copyTarget, listTables } from './catalogue.ts';
import { copyIn } from './copy.ts';
import type { UnitStream } from './backup-file.ts';

export type Structure = Pick<Catalogue, 'migrations' | 'tables' | 'partitions' | 'sequences'>;

/** `absent`: no schema. `prepared`: a schema without rows. `unfinished`: a move was interrupted. `used`: has rows. */
export interface TargetState {
  readonly kind: 'absent' | 'prepared' | 'unfinished' | 'used';
  readonly migrations: readonly string[];
  /** A table with rows, when it is used. */
  readonly table: string | null;
}

/** Sessions of daemons and commands. A starting daemon waits for the lock of the migrations, then reads the marks. */
const OTHER_SESSIONS = `
  SELECT count(*)::int4 AS sessions FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'sluice%'
    AND wait_event IS DISTINCT FROM 'advisory'`;
/** Filled by migrations. */
const SEEDED = 'maintenance_state';

/** The sessions of a command that was killed end within this time. */
const LEFTOVER_MS = 3000;

/** Excludes daemons and other copies until the session ends. Throws a `UserError` when another session has the lock. */
export async function holdMigrations(client: pg.Client, refusal: UserError): Promise<void> {
  const take = async (): Promise<true | undefined> => {
    const { rows } = await client.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [MIGRATION_LOCK]);
    return rows[0]?.held === true ? true : undefined;
  };
  if ((await waitFor(take, { timeoutMs: LEFTOVER_MS })) === undefined) throw refusal;
}

export async function inspectTarget(client: pg.Client): Promise<TargetState> {
  const { rows } = await client.query<{ migrations: string | null; foreign: string | null }>(
    `SELECT to_regclass('sluice.migrations')::text AS migrations,
       (SELECT min(relname)::text FROM pg_class WHERE relnamespace = to_regnamespace('sluice') AND relkind IN ('r', 'p')) AS foreign`,
  );
  if (rows[0]?.migrations === null)
    return { kind: rows[0].foreign === null ? 'absent' : 'used', migrations: [], table: rows[0].foreign };
  const applied = await client.query<{ name: string }>('SELECT name FROM sluice.migrations ORDER BY name');
  const names = applied.rows.map(({ name }) => name);
  const migrations = names.filter(isMigration);
  if (names.includes(UNFINISHED_MOVE)) return { kind: 'unfinished', migrations, table: null };
  for (const table of await listTables(client)) {
    if (table === SEEDED) continue;
    const { rowCount } = await client.query(`SELECT FROM sluice.${pg.escapeIdentifier(table)} LIMIT 1`);
    if (rowCount !== 0) return { kind: 'used', migrations, table };
  }
  return { kind: 'prepared', migrations, table: null };
}

/** The migrations of the source. Throws a `UserError` when this version does not know them all. */
export async function knownMigrations(names: readonly string[]): Promise<readonly Migration[]> {
  const known = await readMigrations();
  const unknown = names.filter((name) => !known.some((each) => each.name === name));
  if (unknown.length === 0) return known.filter(({ name }) => names.includes(name));
  throw new UserError(
    `the data is of a newer version of sluice (${unknown.join(', ')})`,
    'Use the version that wrote it, or a newer one.',
  );
}

export function refuseUsed({ kind, table, migrations }: TargetState, structure: Structure): void {
  const fix = 'Name an empty database or an empty extensions.postgres.data_dir.';
  if (kind === 'used') throw new UserError(`the target is not empty: it has rows in sluice.${table}`, fix);
  if (kind === 'absent' || String(migrations) === String(structure.migrations)) return;
  throw new UserError(
    'the target has the schema of another version',
    kind === 'unfinished'
      ? 'Continue the move with the version that began it, or drop the schema: DROP SCHEMA sluice CASCADE;'
      : 'It has no rows. Drop the schema: DROP SCHEMA sluice CASCADE;',
  );
}

/** Creates the schema, if it is absent, and the partitions of the source, within the caller's transaction. */
export async function prepareTables(client: pg.Client, state: TargetState, structure: Structure): Promise<void> {
  if (state.kind === 'absent') await createSchemaAt(client, await knownMigrations(structure.migrations));
  const existing = await readPartitions(client);
  const wanted = new Map(structure.partitions.map(({ name, bound }) => [name, bound]));
  for (const { name, bound } of existing)
    if (wanted.get(name) !== bound) await client.query(`DROP TABLE sluice.${pg.escapeIdentifier(name)}`);
  const kept = new Set(existing.filter(({ name, bound }) => wanted.get(name) === bound).map(({ name }) => name));
  for (const { table, name, bound } of structure.partitions) {
    if (!kept.has(name))
      await client.query(
        `CREATE TABLE sluice.${pg.escapeIdentifier(name)} PARTITION OF sluice.${pg.escapeIdentifier(table)} ${bound}`,
      );
  }
}

/** As `prepareTables`, for a database without rows. Rows that migrations have inserted are removed. */
export async function prepareEmpty(client: pg.Client, state: TargetState, structure: Structure): Promise<void> {
  const existing =
    state.kind === 'absent' ? [] : (await listTables(client)).map((name) => `sluice.${pg.escapeIdentifier(name)}`);
  if (existing.length > 0) {
    await client.query(`LOCK TABLE ${existing.join(', ')} IN ACCESS EXCLUSIVE MODE`);
    // A writer may have committed before the lock was granted.
    refuseUsed(await inspectTarget(client), structure);
  }
  await prepareTables(client, state, structure);
  const tables = (await listTables(client)).filter((name) => structure.tables.some((table) => table.name === name));
  await client.query(`TRUNCATE ${tables.map((name) => `sluice.${pg.escapeIdentifier(name)}`).join(', ')}`);
}

/** `own`: further sessions of this command. */
export async function refuseSessions(client: pg.Client, which: string, own = 0): Promise<void> {
  let others = 0;
  const none = async (): Promise<true | undefined> => {
    // Within a transaction the list of sessions is read once.
    await client.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await client.query<{ sessions: number }>(OTHER_SESSIONS);
    others = (rows[0]?.sessions ?? 0) - own;
    return others <= 0 ? true : undefined;
  };
  if ((await waitFor(none, { timeoutMs: LEFTOVER_MS })) !== undefined) return;
  throw new UserError(
    `a daemon or a command uses ${which} (connections: ${others})`,
    'Stop all daemons on it, and run the command again.',
  );
}

/**
 * Copies the rows of a unit, and returns their number. Rejects with a `UserError` when the number of rows differs from
 * the one that the source states.
 */
export async function loadUnit(client: pg.Client, unit: UnitStream, { tables }: Structure): Promise<number> {
  const rows = await copyIn(client, `${copyTarget(unit, tables)} FROM STDIN (FORMAT binary)`, unit.blocks);
  if (rows !== unit.rows())
    throw new UserError(`sluice.${unit.name} has ${rows} rows, and the source says ${unit.rows()}`);
  return rows;
}

/** Counts what is stored now, and sets the sequences. */
export async function finishTables(
  client: pg.Client,
  { sequences }: Structure,
  expected: ReadonlyMap<string, number>,
): Promise<void> {
  for (const [name, rows] of expected) {
    const stored = await countRows(client, name);
    if (stored !== rows) throw new UserError(`sluice.${name} has ${stored} rows, and the source has ${rows}`);
    await client.query(`ANALYZE sluice.${pg.escapeIdentifier(name)}`);
  }
  for (const { name, lastValue } of sequences) {
    if (lastValue !== null)
      await client.query('SELECT setval($1::regclass, $2)', [`sluice.${pg.escapeIdentifier(name)}`, lastValue]);
  }
}

export async function countRows(client: pg.Client, name: string): Promise<number> {
  const { rows } = await client.query<{ rows: string }>(
    `SELECT count(*) AS rows FROM sluice.${pg.escapeIdentifier(name)}`,
  );
  return Number(rows[0]?.rows);
}

async function readPartitions(
  client: pg.Client,
): Promise<readonly { readonly name: string; readonly bound: string }[]> {
  const { rows } = await client.query<{ name: string; bound: string }>(
    `SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound FROM pg_class c
     WHERE c.relnamespace = 'sluice'::regnamespace AND c.relispartition AND c.relkind = 'r'`,
  );
  return rows;
}
