/** Longer environments are cut, so that an index over the column always fits. */
export const LONGEST_ENVIRONMENT = 255;

/** The contract's comparison of environments: surrounding white space removed, lower case. */
export function normalizeEnvironment(environment: string): string {
  return environment.trim().toLowerCase();
}
