/**
 * Builds the indexes that a migration declared on a table with much data and left out on its partitions. Each is built
 * beside ingest, without a lock that blocks writes, and then attached.
 */
import type { Query } from '../../component/capabilities/postgres.ts';
import { unlessDropped } from '../../component/dropped-partition.ts';
import { withShortLocks } from './partitions.ts';

const ATTACH_TRIES = 20;
/** A build waits for older transactions and delays no other statement. An attachment must not queue before ingest. */
const WAIT = 'SET lock_timeout = 0';
const DO_NOT_WAIT = 'SET lock_timeout = 100';

/** The newest partitions first: they are read most. `is_valid`: null if there is no index of this name. */
const MISSING = `
  SELECT w.*, i.indisvalid AS is_valid FROM (
    SELECT parent.relname::text AS index, partition.relname::text AS partition, pg_get_indexdef(parent.oid) AS definition,
      partition.relname || substr(parent.relname, length(t.relname) + 1) AS name
    FROM pg_class t
    JOIN pg_index p ON p.indrelid = t.oid
    JOIN pg_class parent ON parent.oid = p.indexrelid AND parent.relkind = 'I'
    JOIN pg_inherits h ON h.inhparent = t.oid
    JOIN pg_class partition ON partition.oid = h.inhrelid
    WHERE t.relnamespace = 'sluice'::regnamespace AND t.relkind = 'p' AND NOT t.relispartition AND NOT EXISTS (
      SELECT FROM pg_inherits attached JOIN pg_index child ON child.indexrelid = attached.inhrelid
      WHERE attached.inhparent = parent.oid AND child.indrelid = partition.oid)
  ) w
  LEFT JOIN pg_class c ON c.relnamespace = 'sluice'::regnamespace AND c.relname = w.name
  LEFT JOIN pg_index i ON i.indexrelid = c.oid
  ORDER BY w.partition DESC, w.index`;

/** Returns the names of the indexes that were built. */
export async function buildIndexes(query: Query): Promise<readonly string[]> {
  const built: string[] = [];
  for (const row of (await query(MISSING)).rows) {
    const name = await unlessDropped(String(row['partition']), () => buildIndex(query, row));
    if (name !== null) built.push(name);
  }
  return built;
}

async function buildIndex(query: Query, row: Readonly<Record<string, unknown>>): Promise<string> {
  const name = `sluice.${row['name']}`;
  await query(WAIT);
  // An interrupted build leaves an index that is not valid.
  if (row['is_valid'] === false) await query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
  if (row['is_valid'] !== true) {
    const definition = String(row['definition']).replace(/^.*? USING /u, 'USING ');
    await query(`CREATE INDEX CONCURRENTLY ${row['name']} ON sluice.${row['partition']} ${definition}`);
  }
  await query(DO_NOT_WAIT);
  await withShortLocks(ATTACH_TRIES, () => query(`ALTER INDEX sluice.${row['index']} ATTACH PARTITION ${name}`));
  return String(row['name']);
}
