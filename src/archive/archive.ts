/** A run of the archive: the days that have ended, one job after the other, with one run at a time on a database. */
import { IS_OF_TABLES, LAKE_LOCK } from '../component/archived-day.ts';
import { UserError } from '../errors.ts';
import { type ArchivedFile, archiveDay, type Session, type Work } from './archive-day.ts';
import type { Origin } from './lake-jobs.ts';
import { expectedBytes, type OpenDay, openDays } from './open-days.ts';
import { conditionOf, LAKE_TABLES } from './lake-table.ts';
import { quoted } from './duckdb.ts';
import { finishErasures } from './erasure.ts';
import { expireFiles } from './expiry.ts';
import { adoptFiles, requireKnownFiles } from './unknown-files.ts';
import { recordPlace } from './reading/archived-files.ts';
import { LEFTOVER_MS } from '../object-store/object-store.ts';

/** Held by the session, so that it ends with the connection. */
const LOCK = `SELECT pg_try_advisory_lock(${LAKE_LOCK}) AS held`;
const UNLOCK = `SELECT pg_advisory_unlock(${LAKE_LOCK})`;

interface Rule {
  /** A query that finds something of the other origin with the same records. */
  readonly repeats: string;
  readonly message: string;
  readonly hint: string;
}

/** A lake may have records of both origins, but each record once. */
const RULES: Readonly<Record<Origin, Rule>> = {
  tables: {
    repeats: `SELECT FROM sluice.lake_jobs WHERE NOT ${IS_OF_TABLES} AND in_tables LIMIT 1`,
    message: 'the lake of this database has the records of its objects: the archive would write them again',
    hint: 'Run `sluice compact` instead, and remove exporters.postgres.archive.',
  },
  parts: {
    repeats: `SELECT FROM sluice.parts p LEFT JOIN sluice.compactions c ON c.id = p.compaction
      WHERE p.in_tables AND c.published_at IS NULL AND EXISTS (SELECT FROM sluice.lake_jobs WHERE ${IS_OF_TABLES}) LIMIT 1`,
    message:
      'the lake of this database has files of `sluice archive`, and objects have records of the same tables: they would be in it twice',
    hint: 'Run `sluice archive` instead, which writes these records too. Then DELETE FROM sluice.parts WHERE in_tables, and use the exporter `objects` without `postgres`.',
  },
};

export interface Selection {
  /** Days that ended this long ago, by the clock of the database. */
  readonly olderThanMs: number;
  /** Files of days that ended this long ago are removed; null: none. */
  readonly keepMs?: number | null;
  /** Files that this database does not know are recorded first. Otherwise they are refused. */
  readonly adopts?: boolean;
}

/** What a run would do. */
export interface PlannedFile {
  readonly signal: string;
  readonly day: string;
  /** An upper limit when the day was archived before. */
  readonly records: number;
  readonly expected_bytes: number;
  /** Whether the day has files already. */
  readonly late: boolean;
}

/**
 * Archives all days, and removes old files and what interrupted puts left. Yields each file when it is recorded;
 * `expired` gets each file that was removed.
 */
export async function* archive(
  work: Work,
  selection: Selection,
  expired: (file: ArchivedFile) => Promise<void> = async () => undefined,
): AsyncGenerator<ArchivedFile> {
  await lockArchive(work.session, 'tables');
  try {
    if (selection.adopts === true) yield* adoptFiles(work);
    await requireKnownFiles(work, 'tables');
    await recordPlace(work.session.query, work.store.url);
    await finishErasures(work);
    for (const day of await listDays(work.session, selection)) {
      const file = await archiveDay(work, day);
      if (file !== null) yield file;
    }
    // Erasures that were requested during the run.
    await finishErasures(work);
    for await (const file of expireFiles(work, selection.keepMs ?? null)) await expired(file);
    await work.store.sweep('', LEFTOVER_MS);
  } finally {
    await unlockArchive(work.session);
  }
}

/** Waits for other commands and daemons. The session's limit for locks does not apply: they may work for hours. */
export const waitForArchive = ({ query }: Session): Promise<unknown> =>
  query(`SET LOCAL lock_timeout = 0; SELECT pg_advisory_lock(${LAKE_LOCK})`);

/** Excludes other processes that change or restore the lake of this database. */
export async function lockArchive(session: Session, origin: Origin): Promise<void> {
  if ((await session.query(LOCK)).rows[0]?.['held'] !== true)
    throw new UserError('another command is at work on the lake of this database', 'Wait until it has ended.');
  try {
    await requireOrigin(session, origin);
  } catch (error) {
    await unlockArchive(session);
    throw error;
  }
}

/** Rejects when the records would be in the lake twice. */
export async function requireOrigin({ query }: Session, origin: Origin): Promise<void> {
  const { repeats, message, hint } = RULES[origin];
  if ((await query(repeats)).rows.length > 0) throw new UserError(message, hint);
}

/** The lock also ends with the connection. */
export const unlockArchive = ({ query }: Session): Promise<unknown> => query(UNLOCK).catch(() => undefined);

export async function planned(session: Session, views: string, selection: Selection): Promise<readonly PlannedFile[]> {
  const files: PlannedFile[] = [];
  for (const day of await listDays(session, selection)) {
    const isLate = day.late !== null;
    const { rows } = isLate
      ? { rows: [{ count: day.late }] }
      : await session.query(
          `SELECT count(*)::float8 AS count FROM ${quoted(views)}.${day.table.signal} WHERE ${conditionOf(day.table, day.day)}`,
        );
    const bytes = isLate ? 0 : expectedBytes(day);
    const records = Number(rows[0]?.['count']);
    files.push({ signal: day.table.signal, day: day.day, records, expected_bytes: bytes, late: isLate });
  }
  return files;
}

async function listDays({ query }: Session, { olderThanMs }: Selection): Promise<readonly OpenDay[]> {
  const { rows } = await query('SELECT (extract(epoch FROM now()) * 1000)::float8 AS now');
  const beforeMs = Number(rows[0]?.['now']) - olderThanMs;
  const days: OpenDay[] = [];
  for (const table of LAKE_TABLES) days.push(...(await openDays(query, table, beforeMs)));
  return days;
}
