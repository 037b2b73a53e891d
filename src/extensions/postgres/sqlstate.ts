/** SQLSTATE codes by their names in PostgreSQL, and what a failure means for the requests of a group. */
import { LOCK_TIMEOUT } from '../../component/short-locks.ts';
import { errorCode } from '../../errors.ts';

export type Meaning =
  /** The same group may be retried at once: a deadlock, a serialization failure, a lock timeout. */
  | 'retry'
  /** A value of one request does not fit: find this request and refuse it; the others can be stored. */
  | 'data'
  /** A span that is stored already. */
  | 'duplicate'
  /** A constraint that no request can violate: the schema was changed. */
  | 'constraint'
  /** The data is not known to be wrong: answer 503. */
  | 'unavailable';

/** The code of notices, and of lines of the log. */
export const SUCCESSFUL_COMPLETION = '00000';
/** By a time limit, or by an administrator. */
export const QUERY_CANCELED = '57014';
/** A row for the default partition while its day's partition is created. The next attempt uses the new partition. */
const PARTITION_CHANGED = '23514';
const SERIALIZATION_FAILURE = '40001';
export const DEADLOCK_DETECTED = '40P01';
const RETRY = new Set([SERIALIZATION_FAILURE, DEADLOCK_DETECTED, LOCK_TIMEOUT, QUERY_CANCELED, PARTITION_CHANGED]);
export const UNIQUE_VIOLATION = '23505';
export const FOREIGN_KEY_VIOLATION = '23503';
export const INSUFFICIENT_PRIVILEGE = '42501';
/** A setting that the server does not support. */
export const INVALID_PARAMETER_VALUE = '22023';
/** Also when there is no room for a lock. */
export const OUT_OF_MEMORY = '53200';
/** Other objects depend on the object. */
export const DEPENDENT_OBJECTS_STILL_EXIST = '2BP01';
/** On a standby, or by a role that may not write. */
export const READ_ONLY_SQL_TRANSACTION = '25006';
const CONSTRAINT_CLASS = '23';
/** Data exception, program limit. */
const DATA_CLASSES = new Set(['22', '54']);

export function sqlstateOf(error: unknown): string | null {
  const code = errorCode(error);
  // System codes can have five letters too (EPIPE); no class of SQLSTATE begins with E.
  return /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : null;
}

/** For `catch`: throws another error instead of one of this state. */
export const replaceError =
  (state: string, other: () => Error) =>
  (error: unknown): never => {
    throw sqlstateOf(error) === state ? other() : error;
  };

export function meaningOf(error: unknown): Meaning {
  const state = sqlstateOf(error);
  if (state === null) return 'unavailable';
  if (RETRY.has(state)) return 'retry';
  if (state === UNIQUE_VIOLATION) return 'duplicate';
  if (state.startsWith(CONSTRAINT_CLASS)) return 'constraint';
  return DATA_CLASSES.has(state.slice(0, 2)) ? 'data' : 'unavailable';
}

/** Whether the connection is lost or unreliable: any failure that is not the server's answer to a statement. */
export function isConnectionFailure(error: unknown): boolean {
  const state = sqlstateOf(error);
  return state === null || ['08', '57', '25'].includes(state.slice(0, 2));
}
