/** The contract's comparison of environments: surrounding white space removed, lower case. */
export function normalizeEnvironment(environment: string): string {
  return environment.trim().toLowerCase();
}
