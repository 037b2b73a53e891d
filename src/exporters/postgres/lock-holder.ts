/** The session that holds a lock for which maintenance waits: usually one with a long transaction that reads. */
import type { Query } from '../../component/capabilities/postgres.ts';
import type { Partition, PartitionedTable } from './partitions.ts';

export interface LockHolder {
  /** For a message. */
  readonly text: string;
  /** The statement that ends it; null when there is none. */
  readonly end: string | null;
  /** Whether it holds the whole table, so that no other day can be dropped either. */
  readonly holdsTable: boolean;
}

/** The times of sessions of other roles are visible to members of `pg_read_all_stats` only. */
const HOLDERS = `
  SELECT l.pid, p.gid, coalesce(nullif(a.application_name, ''), a.usename) AS name,
    extract(epoch FROM now() - coalesce(a.xact_start, p.prepared))::int AS seconds,
    bool_or(l.relation = $1::regclass) AS holds_table
  FROM pg_locks l
  LEFT JOIN pg_stat_activity a ON a.pid = l.pid
  LEFT JOIN pg_prepared_xacts p ON l.pid IS NULL AND l.virtualtransaction = '-1/' || p.transaction
  WHERE l.locktype = 'relation' AND l.granted AND l.relation IN ($1::regclass, to_regclass($2))
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.pid IS DISTINCT FROM pg_backend_pid()
  GROUP BY 1, 2, 3, 4 ORDER BY seconds DESC NULLS LAST LIMIT 1`;

/** The one with the oldest transaction; null when it has ended. */
export async function lockHolder(
  query: Query,
  { name: table }: PartitionedTable,
  { name }: Partition,
): Promise<LockHolder | null> {
  const { rows } = await query(HOLDERS, [`sluice.${table}`, `sluice.${name}`]);
  const [row] = rows;
  if (row === undefined) return null;
  const age = row['seconds'] === null ? '' : `, for ${Math.round(Number(row['seconds']) / 60)} min`;
  const session = {
    text: `session ${row['pid']} (${row['name']}${age})`,
    end: `SELECT pg_terminate_backend(${row['pid']})`,
  };
  const prepared = { text: `the prepared transaction ${row['gid']}`, end: null };
  return { ...(row['pid'] === null ? prepared : session), holdsTable: row['holds_table'] === true };
}
