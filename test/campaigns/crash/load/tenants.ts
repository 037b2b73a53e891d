/**
 * The projects and keys of the load: two that compete for traces, one with a key for one environment, many close to
 * their cap.
 */

export interface Tenant {
  readonly project: string;
  readonly key: string;
  /** The one environment the key may write. */
  readonly environment?: string;
  /** Spans a month; left out on the paid plan. */
  readonly cap?: number;
}

const FREE_TENANTS = 40;
/** A few dozen requests reach it, so that many requests are close to a cap. */
export const FREE_CAP = 60;

export const RIVALS: readonly Tenant[] = [tenant('alpha'), tenant('beta')];
export const SCOPED: Tenant = { ...tenant('gamma'), environment: 'staging' };
export const FREE: readonly Tenant[] = Array.from({ length: FREE_TENANTS }, (_, index) => ({
  ...tenant(`free-${index}`),
  cap: FREE_CAP,
}));
/** For cases that run concurrently and must not wait for each other's counters. */
export const ISOLATED: readonly Tenant[] = Array.from({ length: 8 }, (_, index) => tenant(`isolated-${index}`));
/** For bursts: concurrent requests over a cap that has room for a third of them. */
export const BURST_CAP = 10;
export const BURSTS: readonly Tenant[] = Array.from({ length: 60 }, (_, index) => ({
  ...tenant(`burst-${index}`),
  cap: BURST_CAP,
}));
const TENANTS: readonly Tenant[] = [...RIVALS, SCOPED, ...FREE, ...ISOLATED, ...BURSTS];

function tenant(project: string): Tenant {
  return { project, key: `crash-key-of-${project}-0123456789` };
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
