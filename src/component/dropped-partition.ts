/**
 * The partition of a past day may be dropped at any time: by retention, by a command or by a person, also between a
 * list of partitions and the statement that names one of them.
 */
import { errorCode } from '../errors.ts';

/** An SQLSTATE. */
export const UNDEFINED_TABLE = '42P01';

/**
 * Null when the partition was dropped meanwhile; its records are gone then. Not for a statement within a transaction,
 * which it would end.
 */
export async function unlessDropped<T>(partition: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (errorCode(error) === UNDEFINED_TABLE && String(error).includes(partition)) return null;
    throw error;
  }
}
