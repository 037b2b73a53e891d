/** Statements of one session as a transaction. */
import type { Query } from './capabilities/postgres.ts';

export async function inTransaction<T>(query: Query, work: () => Promise<T>, begin = 'BEGIN'): Promise<T> {
  await query(begin);
  try {
    const result = await work();
    await query('COMMIT');
    return result;
  } catch (error) {
    await query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
