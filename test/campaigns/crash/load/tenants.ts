/** The projects and keys of the load: two that compete, one with a key for one environment, and many close to their cap. */

export interface Tenant {
  readonly project: string;
  readonly key: string;
  /** The one environment the key may write. */
  readonly environment?: string;
  /** Spans a month; left out on the paid plan. */
  readonly cap?: number;
}

const FREE_TENANTS = 40;
/** A few dozen requests reach it, so that senders meet there again and again. */
export const FREE_CAP = 60;

export const RIVALS: readonly Tenant[] = [tenant('alpha'), tenant('beta')];
export const SCOPED: Tenant = { ...tenant('gamma'), environment: 'staging' };
export const FREE: readonly Tenant[] = Array.from({ length: FREE_TENANTS }, (_, index) => ({
  ...tenant(`free-${index}`),
  cap: FREE_CAP,
}));
/** For cases that are held side by side, and must not wait for each other's counters. */
export const LANES: readonly Tenant[] = Array.from({ length: 8 }, (_, index) => tenant(`lane-${index}`));
/** For volleys: all at once over a cap that has room for a third of them. */
export const VOLLEY_CAP = 10;
export const VOLLEYS: readonly Tenant[] = Array.from({ length: 60 }, (_, index) => ({
  ...tenant(`volley-${index}`),
  cap: VOLLEY_CAP,
}));
export const TENANTS: readonly Tenant[] = [...RIVALS, SCOPED, ...FREE, ...LANES, ...VOLLEYS];

function tenant(project: string): Tenant {
  return { project, key: `fire-key-of-${project}-0123456789` };
}

/** The keys as the `auth` processor takes them. */
export function keysYaml(): string {
  const lines = TENANTS.map(({ project, key, environment, cap }) => {
    const scope = environment === undefined ? '' : `, environment: ${environment}`;
    const plan = cap === undefined ? '' : `, plan: free, monthly_spans: ${cap}`;
    return `      - { key: ${key}, project: ${project}${scope}${plan} }`;
  });
  return lines.join('\n');
}
