/** Errors on their way between processes: what a person can mend stays so. */
import { UserError } from '../../errors.ts';
import type { Fault } from './messages.ts';

export function faultOf(error: unknown): Fault {
  if (error instanceof UserError) return { message: error.message, hint: error.hint, isMistake: true };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message, hint: null, isMistake: false };
}

export function errorOf({ message, hint, isMistake }: Fault): Error {
  return isMistake ? new UserError(message, hint) : new Error(message);
}
