/**
 * A place of objects belongs to one database, because objects that no part of the database names are removed. An object
 * with a fixed key names the database. A copy of the database on another server does not take over the place by itself:
 * it lacks the parts that were stored after the copy.
 */
import type { PostgresDatabase } from '../../component/capabilities/postgres.ts';
import { UserError } from '../../errors.ts';
import { type ObjectStore, readObject, StoreError } from '../../object-store/object-store.ts';
import { PREFIX } from './object-key.ts';

const OWNER_KEY = `${PREFIX}owner.json`;
/** The cluster and the database in it. */
const IDENTITY = `
  SELECT (SELECT system_identifier FROM pg_control_system())::text || '/' || oid::text AS identity
  FROM pg_database WHERE datname = current_database()`;

/**
 * Resolves when the place can be written and belongs to this database. An unused place belongs to it from now on.
 * Rejects with the error of the store or the database, or with a `UserError` when the place belongs to another
 * database.
 */
export async function claimPlace(store: ObjectStore, database: Pick<PostgresDatabase, 'query'>): Promise<void> {
  const { rows } = await database.query(IDENTITY);
  const own = JSON.stringify({ database: rows[0]?.['identity'] });
  try {
    // A store checks the right to write before it reports that the key is taken.
    await store.put(OWNER_KEY, Buffer.from(own), { ifAbsent: true });
    return;
  } catch (error) {
    if (!(error instanceof StoreError) || error.fault !== 'exists') throw error;
  }
  if ((await readObject(store, OWNER_KEY)).toString() === own) return;
  throw new UserError(
    `${store.url} has the objects of another database`,
    `If that database does not use them any more, remove the object ${OWNER_KEY}; otherwise choose another place.`,
  );
}
