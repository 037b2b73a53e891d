/** Names of environments: how requests and options write them, and how they are stored. */
import { endOfWhole } from './text.ts';

/** Longer environments are cut, so that an index over the column always fits. */
export const LONGEST_ENVIRONMENT = 255;
/**
 * Control characters, surrogate halves and line separators: terminals interpret them, or a database cannot store them.
 */
export const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/** The contract's comparison of environments: surrounding white space removed, lower case. */
export function normalizeEnvironment(environment: string): string {
  return environment.trim().toLowerCase();
}

/** The environment that a text of a sender names, as it is stored: cut, and without U+0000. Empty for a blank text. */
export function environmentNamed(text: string): string {
  const environment = normalizeEnvironment(text);
  // Spaces at the cut stay: a long name is another one than its beginning.
  const end = endOfWhole(environment, Math.min(environment.length, LONGEST_ENVIRONMENT));
  return environment.slice(0, end).replaceAll('\0', '\ufffd');
}

/** Whether an option may name it: a blank or longer one would never be the environment of a resource. */
export function canNameEnvironment(text: string): boolean {
  const name = normalizeEnvironment(text);
  return name !== '' && name === environmentNamed(name) && !UNPRINTABLE.test(name);
}

/** For names that `canNameEnvironment` refuses. */
export const ENVIRONMENT_HINT = `Use 1 to ${LONGEST_ENVIRONMENT} characters, none of them a control character.`;
