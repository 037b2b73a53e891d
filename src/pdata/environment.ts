import { endOfWhole } from './text.ts';

/** Longer environments are cut, so that an index over the column always fits. */
export const LONGEST_ENVIRONMENT = 255;

/** The contract's comparison of environments: surrounding white space removed, lower case. */
export function normalizeEnvironment(environment: string): string {
  return environment.trim().toLowerCase();
}

/** The environment that a text of a sender names, as it is stored: cut, and without U+0000. Empty for a blank text. */
export function environmentNamed(text: string): string {
  const environment = normalizeEnvironment(text);
  const end = endOfWhole(environment, Math.min(environment.length, LONGEST_ENVIRONMENT));
  return environment.slice(0, end).replaceAll('\0', '\ufffd');
}
