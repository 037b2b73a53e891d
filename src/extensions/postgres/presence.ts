/** What a failed query says about the database: it is away, it is available, or unknown. */
import { sqlstateOf } from './sqlstate.ts';

export type Presence = 'away' | 'there' | 'unknown';

/** Connection exception, authorization, unknown database, resources, system error, configuration file of the server. */
const AWAY_CLASSES = new Set(['08', '28', '3D', '53', '58', 'F0']);
/** Shutdown, crash, starting up, database dropped; and a transaction that may only read, as on a standby. */
const AWAY_STATES = new Set(['57P01', '57P02', '57P03', '57P04', '57P05', '25006']);
const BROKEN_CONNECTION =
  /^(?:connection terminated unexpectedly|connection ended|client has encountered a connection error|the database is not open)/i;

export function presenceAfter(error: unknown): Presence {
  const state = sqlstateOf(error);
  if (state !== null) return AWAY_CLASSES.has(state.slice(0, 2)) || AWAY_STATES.has(state) ? 'away' : 'there';
  if (error instanceof AggregateError) return 'away';
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  // System codes (ECONNREFUSED) begin with E, as do the codes of Node.js (ERR_INVALID_ARG_TYPE).
  if (typeof code === 'string' && code.startsWith('E') && !code.startsWith('ERR_')) return 'away';
  return BROKEN_CONNECTION.test(String(message)) ? 'away' : 'unknown';
}
