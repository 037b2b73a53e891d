/**
 * A consistent view of all tables of one moment, on one connection, while others read and write. The locks only prevent
 * that partitions are added or dropped meanwhile; daemons try that again later.
 */
import pg from 'pg';
import { UNDEFINED_TABLE } from '../../../component/dropped-partition.ts';
import { isLockTimeout } from '../../../component/short-locks.ts';
import { UserError } from '../../../errors.ts';
import { endConnection } from '../connection-end.ts';
import type { Database } from '../database.ts';
import { sqlstateOf } from '../sqlstate.ts';
import { type Catalogue, listTables, readCatalogue } from './catalogue.ts';

/** How long a migration or the maintenance may hold a table. */
const LOCK_TIMEOUT_MS = 30_000;
const ATTEMPTS = 5;

export interface Snapshot {
  readonly client: pg.Client;
  readonly catalogue: Catalogue;
  /** The server's version, as `18.1`. */
  readonly server: string;
  /** The time of the database at the beginning. */
  readonly takenAt: Date;
}

/** `freeze`: rows can be read but not written until the transaction ends; needs the rights of the daemon. */
export interface SnapshotOptions {
  readonly freeze: boolean;
}

/** Runs `work` within the transaction of the snapshot, which is rolled back afterwards unless `work` has ended it. */
export async function withSnapshot<T>(
  database: Database,
  options: SnapshotOptions,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const client = await database.connect();
  try {
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const names = await lockTables(client, options);
    const catalogue = await readCatalogue(client, names);
    const { rows } = await client.query<{ server: string; at: Date }>(
      "SELECT current_setting('server_version') AS server, now() AS at",
    );
    return await work({
      client,
      catalogue,
      server: rows[0]?.server ?? '',
      takenAt: rows[0]?.at ?? new Date(0),
    });
  } finally {
    await endConnection(client);
  }
}

/** LOCK takes no snapshot, so the first query after it sees everything that was committed before the locks. */
async function lockTables(client: pg.Client, { freeze }: SnapshotOptions): Promise<readonly string[]> {
  for (let attempt = 1; ; attempt++) {
    const names = await listTables(client);
    const list = names.map((name) => `sluice.${pg.escapeIdentifier(name)}`).join(', ');
    const mode = freeze ? 'SHARE' : 'ACCESS SHARE';
    try {
      await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ${freeze ? '' : ' READ ONLY'}`);
      await client.query(`LOCK TABLE ${list} IN ${mode} MODE`);
      return names;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      if (isLockTimeout(error)) throw held(freeze);
      // A table was dropped meanwhile.
      if (sqlstateOf(error) !== UNDEFINED_TABLE || attempt === ATTEMPTS) throw error;
    }
  }
}

const held = (freeze: boolean): UserError =>
  new UserError(
    `the tables could not be locked within ${LOCK_TIMEOUT_MS / 1000} s`,
    freeze ? 'Stop all daemons on this database, then try again.' : 'A migration may run. Try again later.',
  );
