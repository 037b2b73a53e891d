/** Expressions people configure. They are RE2's, because what they run over comes from outside and may be chosen to be slow. */
import { RE2JS } from 're2js';

/** Null when an expression is fine, else what is wrong with it and where. One that matches nothing at all says nothing. */
export function expressionFault(expression: string): string | null {
  try {
    return RE2JS.compile(expression).matcher('').find() ? 'it matches the empty text' : null;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /u, '') : String(error);
  }
}
