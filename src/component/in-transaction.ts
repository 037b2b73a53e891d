/** Statements of one session as a transaction, or as a part of one. */
import type { Query } from './capabilities/postgres.ts';

/** The statements around the work. */
export interface Ends {
  readonly begin: string;
  readonly end: string;
  readonly undo: string;
}

export const TRANSACTION: Ends = { begin: 'BEGIN', end: 'COMMIT', undo: 'ROLLBACK' };
/** Within a transaction of the caller's. */
export const SAVEPOINT: Ends = { begin: 'SAVEPOINT part', end: 'RELEASE part', undo: 'ROLLBACK TO part' };

export async function inTransaction<T>(query: Query, work: () => Promise<T>, ends: Partial<Ends> = {}): Promise<T> {
  const { begin, end, undo } = { ...TRANSACTION, ...ends };
  await query(begin);
  try {
    const result = await work();
    await query(end);
    return result;
  } catch (error) {
    await query(undo).catch(() => undefined);
    throw error;
  }
}
