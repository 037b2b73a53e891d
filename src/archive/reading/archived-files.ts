/** The files of the lake with records that PostgreSQL may not have, from the ledger of the archive. */
import type { Query } from '../../component/capabilities/postgres.ts';
import { MAY_MISS } from '../../component/archived-day.ts';
import { keyOf } from '../lake-jobs.ts';
import type { LakeSignal } from '../lake-table.ts';

export interface ArchivedFile {
  readonly signal: LakeSignal;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly key: string;
  readonly records: number;
  readonly bytes: number;
  /** The earliest and the latest time of its records; null when no record has a time. */
  readonly minNs: bigint | null;
  readonly maxNs: bigint | null;
  readonly projects: readonly string[];
  /** A file of this machine, of records that are in objects only; left out: a file of the lake. */
  readonly local?: LocalFile;
}

export interface LocalFile {
  readonly path: string;
  readonly columns: ReadonlySet<string>;
}

/** A day is read from one place: while PostgreSQL has it, it is not read from the lake. */
const FILES = `
  SELECT id::text, signal, to_char(day, 'YYYY-MM-DD') AS day, records::float8 AS records, bytes::float8 AS bytes,
    min_ns::text AS min_ns, max_ns::text AS max_ns, projects
  FROM sluice.lake_jobs j WHERE state = 'published' AND ${MAY_MISS}
  ORDER BY day DESC, id`;

/** The newest day first. */
export async function archivedFiles(query: Query): Promise<readonly ArchivedFile[]> {
  const { rows } = await query(FILES);
  return rows.map((row) => {
    const [signal, day] = [row['signal'] as LakeSignal, String(row['day'])];
    const timeOf = (name: string): bigint | null => (row[name] === null ? null : BigInt(String(row[name])));
    return {
      signal,
      day,
      key: keyOf(signal, day, String(row['id'])),
      records: Number(row['records']),
      bytes: Number(row['bytes']),
      minNs: timeOf('min_ns'),
      maxNs: timeOf('max_ns'),
      projects: (row['projects'] ?? []) as readonly string[],
    };
  });
}

/** The name of the row of `sluice.maintenance_state` that says where the lake is. */
const PLACE = 'lake';

/** Where the last run of the archive wrote to; null when no run recorded it. */
export async function readPlace(query: Query): Promise<string | null> {
  const { rows } = await query("SELECT state ->> 'url' AS url FROM sluice.maintenance_state WHERE name = $1", [PLACE]);
  return (rows[0]?.['url'] ?? null) as string | null;
}

/** `url`: without credentials. */
export async function recordPlace(query: Query, url: string): Promise<void> {
  await query(
    `INSERT INTO sluice.maintenance_state VALUES ($1, jsonb_build_object('url', $2::text))
     ON CONFLICT (name) DO UPDATE SET state = excluded.state`,
    [PLACE, url],
  );
}
