/**
 * Restores a backup into an empty database, in one transaction: after a failure, a damaged file or a kill the database
 * is as empty as before, and the command can be run again.
 */
import type { Database } from '../database.ts';
import { UserError } from '../../../errors.ts';
import { endConnection } from '../connection-end.ts';
import type { BackupReader } from './backup-file.ts';
import { type Report, watched } from './progress.ts';
import {
  finishTables,
  holdMigrations,
  inspectTarget,
  loadUnit,
  prepareEmpty,
  refuseSessions,
  refuseUsed,
} from './target.ts';
import type pg from 'pg';

export interface RestoreOptions {
  readonly report: Report;
  /** The size of the file; null when it is a stream. */
  readonly fileBytes: number | null;
}

export interface RestoreResult {
  readonly rows: number;
  /** Tables of the backup that are not Sluice's. Their rows are left out. */
  readonly skipped: readonly string[];
}

/** The migrations of the backup are known to this version. */
export async function restore(
  database: Database,
  backup: BackupReader,
  options: RestoreOptions,
): Promise<RestoreResult> {
  const client = await database.connect();
  try {
    await holdMigrations(
      client,
      new UserError('a daemon or another command is preparing this database', 'Stop it, and try again.'),
    );
    const state = await inspectTarget(client);
    if (state.kind === 'unfinished')
      throw new UserError(
        'a move to this database has not finished',
        'Name another database, or run the same `sluice move` again.',
      );
    refuseUsed(state, backup.header);
    await refuseSessions(client, 'the target');
    await client.query('BEGIN');
    await prepareEmpty(client, state, backup.header);
    const result = await loadAll(client, backup, options);
    await client.query('COMMIT');
    return result;
  } finally {
    await endConnection(client);
  }
}

/** Reads the whole file without a database, and checks every checksum. Returns the number of rows. */
export async function checkBackup(backup: BackupReader, options: RestoreOptions): Promise<number> {
  let rows = 0;
  for await (const unit of backup.units()) {
    for await (const _ of reported(unit, rows, backup, options));
    rows += unit.rows();
  }
  return rows;
}

async function loadAll(client: pg.Client, backup: BackupReader, options: RestoreOptions): Promise<RestoreResult> {
  const { rows: tables } = await client.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'sluice'::regnamespace AND relkind = 'r'",
  );
  const existing = new Set(tables.map(({ name }) => name));
  const loaded = new Map<string, number>();
  const skipped: string[] = [];
  let rows = 0;
  for await (const unit of backup.units()) {
    const blocks = reported(unit, rows, backup, options);
    if (existing.has(unit.name)) {
      loaded.set(unit.name, await loadUnit(client, { ...unit, blocks }, backup.header));
      rows += unit.rows();
    } else {
      for await (const _ of blocks);
      skipped.push(unit.name);
    }
  }
  await finishTables(client, backup.header, loaded);
  return { rows, skipped };
}

function reported(
  unit: { readonly name: string; readonly blocks: AsyncIterable<Buffer> },
  rows: number,
  backup: BackupReader,
  { report, fileBytes }: RestoreOptions,
): AsyncGenerator<Buffer> {
  return watched(unit.blocks, () => {
    const share = fileBytes === null ? null : backup.position / fileBytes;
    report({ unit: unit.name, rows, bytes: backup.position, share });
  });
}
