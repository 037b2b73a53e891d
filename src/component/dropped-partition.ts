/**
 * The partition of a past day may be dropped at any time: by retention, by a command or by a person, also between a
 * list of partitions and the statement that names one of them.
 */

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
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    if (code === UNDEFINED_TABLE && String(message).includes(partition)) return null;
    throw error;
  }
}
