/** What a failed query says about the database: available, unavailable, or unknown. */
import { READ_ONLY_SQL_TRANSACTION, sqlstateOf } from './sqlstate.ts';
import { errorCode } from '../../errors.ts';

export type Availability = 'unavailable' | 'available' | 'unknown';

/** Connection exception, authorization, unknown database, resources, system error, configuration file of the server. */
const UNAVAILABLE_CLASSES = new Set(['08', '28', '3D', '53', '58', 'F0']);
/** Shutdown, crash, starting up, database dropped; and a transaction that may only read, as on a standby. */
const UNAVAILABLE_STATES = new Set(['57P01', '57P02', '57P03', '57P04', '57P05', READ_ONLY_SQL_TRANSACTION]);
const BROKEN_CONNECTION =
  /^(?:connection terminated unexpectedly|connection ended|client has encountered a connection error|the database is not open)/i;

export function availabilityAfter(error: unknown): Availability {
  const state = sqlstateOf(error);
  if (state !== null)
    return UNAVAILABLE_CLASSES.has(state.slice(0, 2)) || UNAVAILABLE_STATES.has(state) ? 'unavailable' : 'available';
  if (error instanceof AggregateError) return 'unavailable';
  const code = errorCode(error);
  // System codes (ECONNREFUSED) begin with E, as do the codes of Node.js (ERR_INVALID_ARG_TYPE).
  if (code.startsWith('E') && !code.startsWith('ERR_')) return 'unavailable';
  return error instanceof Error && BROKEN_CONNECTION.test(error.message) ? 'unavailable' : 'unknown';
}
