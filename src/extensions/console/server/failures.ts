/** Turns the errors of handlers into answers. */
import { ReaderFailure } from '../../../component/capabilities/postgres-reader.ts';
import { UserError } from '../../../errors.ts';
import { ConsoleError, type ConsoleErrorCode } from '../errors.ts';

const BY_READER = {
  unavailable: 'database_unavailable',
  busy: 'busy',
  too_long: 'took_too_long',
  canceled: 'request_timeout',
} as const satisfies Record<ReaderFailure['reason'], ConsoleErrorCode>;

const BY_USER_ERROR = {
  invalid: 'body_invalid',
  exists: 'exists',
  unknown: 'not_found',
} as const satisfies Record<UserError['reason'], ConsoleErrorCode>;

/** `internal` for a fault of the console itself, which is to be logged. */
export function asConsoleError(error: unknown): ConsoleError {
  if (error instanceof ConsoleError) return error;
  if (error instanceof ReaderFailure) {
    const cause = error.cause instanceof UserError ? { message: `${error.cause.message}.` } : {};
    return new ConsoleError(BY_READER[error.reason], cause);
  }
  // Its hint names commands of the command line.
  if (error instanceof UserError) return new ConsoleError(BY_USER_ERROR[error.reason], { message: error.message });
  return new ConsoleError('internal');
}
