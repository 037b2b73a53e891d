/**
 * Copies everything from one database into another. Nothing can be lost or stored twice: no daemon may use the source,
 * its tables are locked against writers, and at each moment at most one of the two databases accepts data. Marks in
 * `sluice.migrations`, which every version respects, prevent it: the target has one until it is complete, the source
 * has one from then on. An interrupted move continues: tables and partitions that are equal on both sides are not
 * copied again.
 */
import pg from 'pg';
import { UserError } from '../../../errors.ts';
import { endConnection } from '../connection-end.ts';
import type { Database } from '../database.ts';
import { MOVED_AWAY, readSchemaState, type SchemaState, tooNew, UNFINISHED_MOVE } from '../schema-state.ts';
import { readUnits } from './backup.ts';
import type { UnitStream } from './backup-file.ts';
import type { Report } from './progress.ts';
import { type Snapshot, withSnapshot } from './snapshot.ts';
import {
  countRows,
  finishTables,
  holdMigrations,
  inspectTarget,
  knownMigrations,
  loadUnit,
  prepareEmpty,
  prepareTables,
  refuseSessions,
  refuseUsed,
  type TargetState,
} from './target.ts';

export interface MoveResult {
  readonly rows: number;
  /** Tables and partitions that an earlier attempt had copied. */
  readonly kept: number;
}

/** Larger than every number of a migration, so that no version may write. */
const ADD_MARK = 'INSERT INTO sluice.migrations (name, min_writer) VALUES ($1, 9999)';
const REMOVE_MARK = 'DELETE FROM sluice.migrations WHERE name = $1';
/** A process id alone can be used again, and is not unique over servers. */
const SESSION = "(SELECT a.pid || ' ' || a.backend_start FROM pg_stat_activity a WHERE a.pid = pg_backend_pid())";
/** The number and the hash of all rows, in any order. */
const FINGERPRINT = 'count(*)::text AS rows, coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text AS hash';

export interface MoveTarget {
  /** Whether `open` creates the server. It holds no unfinished move then. */
  readonly isNew: boolean;
  /** Called only when the source can be moved, so that a refusal leaves no new server. */
  open(): Promise<Database>;
}

export async function move(source: Database, target: MoveTarget, report: Report): Promise<MoveResult> {
  const guard = await source.connect();
  try {
    await holdMigrations(guard, new UserError('a daemon or a migration is starting on this database', 'Stop it.'));
    const state = await inspectSource(guard, target);
    await refuseSessions(guard, 'this database');
    return await withSnapshot(source, { freeze: true }, async (snapshot) => {
      await knownMigrations(snapshot.catalogue.migrations);
      const client = await (await target.open()).connect();
      try {
        await refuseSame(guard, client);
        return await moveInto(client, { state, snapshot, report });
      } finally {
        await endConnection(client);
      }
    });
  } finally {
    await endConnection(guard);
  }
}

interface Moved {
  readonly state: SchemaState;
  readonly snapshot: Snapshot;
  readonly report: Report;
}

async function moveInto(client: pg.Client, { state: source, snapshot, report }: Moved): Promise<MoveResult> {
  await holdMigrations(
    client,
    new UserError(
      'the target is in use by a daemon or another command',
      'Stop it, or name another database with --to.',
    ),
  );
  const state = await inspectTarget(client);
  if (isMovedAway(source) && state.kind !== 'unfinished') throw tooNew(source);
  await refuseSessions(client, 'the target');
  refuseUsed(state, snapshot.catalogue);
  await prepare(client, state, snapshot);
  const result = await copyAll(client, snapshot, report);
  await refuseSessions(snapshot.client, 'this database', 1);
  if (!isMovedAway(source)) await snapshot.client.query(ADD_MARK, [MOVED_AWAY]);
  await snapshot.client.query('COMMIT');
  await client.query(REMOVE_MARK, [UNFINISHED_MOVE]);
  return result;
}

/** Lets a database be used again whose data was moved away. Returns false when it was not. */
export async function undoMove(database: Database): Promise<boolean> {
  const { rowCount } = await database.query(REMOVE_MARK, [MOVED_AWAY]);
  return rowCount === 1;
}

/** A source that is marked already may be moved to the target of a move that was interrupted in its last step. */
async function inspectSource(guard: pg.Client, { isNew }: MoveTarget): Promise<SchemaState> {
  const state = await readSchemaState((text) => guard.query(text));
  if (!state.exists) throw new UserError('this database has no tables of Sluice', 'There is nothing to move.');
  if (!state.mayWrite && (isNew || !isMovedAway(state))) throw tooNew(state);
  return state;
}

const isMovedAway = ({ unknown }: SchemaState): boolean => unknown.includes(MOVED_AWAY);

/** Whether the session of the source is seen from the target. */
async function refuseSame(guard: pg.Client, target: pg.Client): Promise<void> {
  const { rows } = await guard.query<{ session: string }>(`SELECT ${SESSION} AS session`);
  const { rowCount } = await target.query(
    `SELECT FROM pg_stat_activity a WHERE datname = current_database() AND a.pid || ' ' || a.backend_start = $1`,
    [rows[0]?.session],
  );
  if (rowCount !== 0) throw new UserError('the target is this database itself', 'Name another database with --to.');
}

async function prepare(client: pg.Client, state: TargetState, { catalogue }: Snapshot): Promise<void> {
  await client.query('BEGIN');
  if (state.kind === 'unfinished') await prepareTables(client, state, catalogue);
  else {
    await prepareEmpty(client, state, catalogue);
    await client.query(ADD_MARK, [UNFINISHED_MOVE]);
  }
  await client.query('COMMIT');
}

async function copyAll(client: pg.Client, snapshot: Snapshot, report: Report): Promise<MoveResult> {
  const expected = new Map<string, number>();
  let [rows, kept] = [0, 0];
  for (const unit of readUnits(snapshot, report)) {
    const same = await countEqual(client, snapshot.client, unit.name);
    if (same !== null && same > 0) kept++;
    const copied = same ?? (await copyUnit(client, unit, snapshot));
    expected.set(unit.name, copied);
    rows += copied;
  }
  await finishTables(client, snapshot.catalogue, expected);
  return { rows, kept };
}

/** The number of rows when both sides have the same; null when they differ. */
async function countEqual(target: pg.Client, source: pg.Client, name: string): Promise<number | null> {
  if ((await countRows(target, name)) === 0) return null;
  const [there, here] = [await fingerprint(target, name), await fingerprint(source, name)];
  return there.rows === here.rows && there.hash === here.hash ? Number(here.rows) : null;
}

async function fingerprint(client: pg.Client, name: string): Promise<{ readonly rows: string; readonly hash: string }> {
  const { rows } = await client.query<{ rows: string; hash: string }>(
    `SELECT ${FINGERPRINT} FROM sluice.${pg.escapeIdentifier(name)} t`,
  );
  return rows[0] ?? { rows: '', hash: '' };
}

/** Tables that refer to this one come later, so they are copied again. */
async function copyUnit(client: pg.Client, unit: UnitStream, { catalogue }: Snapshot): Promise<number> {
  await client.query(`BEGIN; TRUNCATE sluice.${pg.escapeIdentifier(unit.name)} CASCADE`);
  const rows = await loadUnit(client, unit, catalogue);
  await client.query('COMMIT');
  return rows;
}
