/** Configured expressions use RE2, because they run over untrusted text that could make a backtracking engine slow. */
import { RE2JS } from 're2js';

/** The fault of an expression that would be found everywhere. */
export const MATCHES_EMPTY = 'it matches the empty text';

/** Null for a valid expression, otherwise the fault and its position. */
export function expressionFault(expression: string): string | null {
  try {
    return RE2JS.compile(expression).matcher('').find() ? MATCHES_EMPTY : null;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /u, '') : String(error);
  }
}
