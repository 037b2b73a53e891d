/**
 * Removes objects that no part names: their requests were refused, or not answered. Only objects that are older than a
 * day by the clock of the store are removed, because a request is committed within a few minutes after its put.
 */
import type { PostgresDatabase } from '../../component/capabilities/postgres.ts';
import { LEFTOVER_MS, type ObjectStore } from '../../object-store/object-store.ts';
import { idOf, PREFIX } from './object-key.ts';

const CLOCK_KEY = `${PREFIX}clock`;
const BATCH = 1000;
/** Claims the run of a day. A clock that was set back delays the run by at most a day. */
const CLAIM = `
  INSERT INTO sluice.maintenance_state AS m VALUES ('objects', jsonb_build_object('swept', extract(epoch FROM now())::float8))
  ON CONFLICT (name) DO UPDATE SET state = m.state || excluded.state
  WHERE abs((excluded.state ->> 'swept')::float8 - (m.state ->> 'swept')::float8) >= 86400`;
const NAMED = 'SELECT DISTINCT object_id FROM sluice.parts WHERE object_id = ANY ($1::bytea[])';

interface Place {
  readonly store: ObjectStore;
  readonly database: Pick<PostgresDatabase, 'query'>;
}

/** Whether this process is to remove the orphans of this day. */
export async function claimDay({ database }: Pick<Place, 'database'>): Promise<boolean> {
  return (await database.query(CLAIM)).rowCount === 1;
}

export interface OrphanLimits {
  /** Younger objects stay. */
  readonly orphanMs: number;
  readonly signal: AbortSignal;
}

/** Returns the number of removed objects. The place must belong to this database. */
export async function removeOrphans(place: Place, { orphanMs, signal }: OrphanLimits): Promise<number> {
  const { store } = place;
  const youngest = (await timeOf(store)) - orphanMs;
  let removed = 0;
  let batch: string[] = [];
  for await (const { key, modified } of store.list(PREFIX)) {
    signal.throwIfAborted();
    if (idOf(key) === null || modified.getTime() > youngest) continue;
    batch.push(key);
    if (batch.length < BATCH) continue;
    removed += await removeUnnamed(batch, place);
    batch = [];
  }
  if (batch.length > 0) removed += await removeUnnamed(batch, place);
  await store.sweep(PREFIX, LEFTOVER_MS);
  return removed;
}

/** Unix milliseconds by the clock that dates objects. */
async function timeOf(store: ObjectStore): Promise<number> {
  await store.put(CLOCK_KEY, Buffer.from('\n'));
  const info = await store.head(CLOCK_KEY);
  if (info === null) throw new Error(`${CLOCK_KEY} is gone`);
  return info.modified.getTime();
}

async function removeUnnamed(keys: readonly string[], { store, database }: Place): Promise<number> {
  const ids = keys.map((key) => idOf(key) as Buffer);
  const { rows } = await database.query(NAMED, [ids]);
  const named = new Set(rows.map(({ object_id: id }) => (id as Buffer).toString('hex')));
  const orphans = keys.filter((_, index) => !named.has((ids[index] as Buffer).toString('hex')));
  if (orphans.length > 0) await store.delete(orphans);
  return orphans.length;
}
