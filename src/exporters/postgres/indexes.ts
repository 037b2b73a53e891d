/**
 * Builds the indexes that a migration declared on a table with much data and left out on its partitions. Each is built
 * beside ingest, without a lock that blocks writes, and then attached. An index that another one replaces is dropped
 * when all partitions have the other one.
 */
import type { Query } from '../../component/capabilities/postgres.ts';
import { unlessDropped } from '../../component/dropped-partition.ts';
import { withShortLocks } from '../../component/short-locks.ts';

const ATTACH_TRIES = 20;
/** A build waits for older transactions and delays no other statement. An attachment must not queue before ingest. */
const WAIT = 'SET lock_timeout = 0';
const DO_NOT_WAIT = 'SET lock_timeout = 100';

/** The newest partitions first: they are read most. `is_valid`: null if there is no index of this name. */
const MISSING = `
  SELECT w.*, i.indisvalid AS is_valid FROM (
    SELECT parent.relname::text AS index, partition.relname::text AS partition, pg_get_indexdef(parent.oid) AS definition,
      p.indisunique AS is_unique,
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

/** Former indexes of spans, how they are dropped, and what replaces them (migration 0019). */
const REPLACED = [
  ['spans_pkey', 'ALTER TABLE sluice.spans DROP CONSTRAINT spans_pkey', 'spans_identity'],
  ['spans_conversation', 'DROP INDEX sluice.spans_conversation', 'spans_by_conversation'],
  ['spans_response', 'DROP INDEX sluice.spans_response', 'spans_by_response'],
] as const;

/** Returns the names of the indexes that were dropped. */
export async function dropReplacedIndexes(query: Query): Promise<readonly string[]> {
  const dropped: string[] = [];
  for (const [former, drop, index] of REPLACED) {
    const { rows } = await query(
      'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND indisvalid AND to_regclass($2) IS NOT NULL',
      [`sluice.${index}`, `sluice.${former}`],
    );
    if (rows.length === 0) continue;
    await query(DO_NOT_WAIT);
    // The parent is locked first, as by each statement that writes.
    const statement = `DO $$ BEGIN LOCK TABLE ONLY sluice.spans IN ACCESS EXCLUSIVE MODE; ${drop}; END $$`;
    await withShortLocks({ tries: ATTACH_TRIES }, () => query(statement));
    dropped.push(former);
  }
  return dropped;
}

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
    const kind = row['is_unique'] === true ? 'UNIQUE INDEX' : 'INDEX';
    await query(`CREATE ${kind} CONCURRENTLY ${row['name']} ON sluice.${row['partition']} ${definition}`);
  }
  await query(DO_NOT_WAIT);
  await withShortLocks({ tries: ATTACH_TRIES }, () =>
    query(`ALTER INDEX sluice.${row['index']} ATTACH PARTITION ${name}`),
  );
  return String(row['name']);
}
