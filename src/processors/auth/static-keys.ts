/** The keys of the configuration, as text or as `sha256:` hash, and their projects. */
import { hash } from 'node:crypto';
import type { OptionFault } from '../../component/component.ts';
import type { Credential, Plan, Project } from '../../pdata/context.ts';
import { canNameEnvironment, ENVIRONMENT_HINT, normalizeEnvironment } from '../../pdata/environment.ts';

export interface StaticKeyOptions {
  readonly key: string;
  readonly project: string;
  readonly environment?: string;
  readonly plan: Plan;
  readonly monthly_spans?: number;
}

const HASH_FORMAT = /^sha256:([0-9a-f]{64})$/i;

const HASH_HINT = 'Make it with: printf %s KEY | sha256sum';

export class StaticKeys {
  /** By hash in hex: the time of a lookup does not depend on how much of a wrong key is right. */
  readonly #credentials = new Map<string, Credential>();

  /** The options were checked when the configuration was read. */
  constructor(options: readonly StaticKeyOptions[]) {
    const projects = new Map<string, Project>();
    for (const [index, option] of options.entries()) {
      const { project: name, plan, monthly_spans: monthlySpans = null } = option;
      const project = projects.get(name) ?? { name, plan, monthlySpans, privacy: new Map() };
      projects.set(name, project);
      const environment = option.environment === undefined ? null : normalizeEnvironment(option.environment);
      this.#credentials.set(hashOf(option.key), { project, environment, keyId: `static:${index}` });
    }
  }

  find(text: string): Credential | null {
    return this.#credentials.get(hash('sha256', text, 'hex')) ?? null;
  }

  get isEmpty(): boolean {
    return this.#credentials.size === 0;
  }
}

/**
 * Checks beyond the schema: equal keys, environments that no resource has, a plan without its quota, two descriptions
 * of one project.
 */
export function staticKeyFaults(options: readonly StaticKeyOptions[]): readonly OptionFault[] {
  const hashes = new Set<string>();
  const projects = new Map<string, StaticKeyOptions>();
  return options.flatMap((option, index) => {
    const { key, project, environment, plan, monthly_spans: quota } = option;
    const keyHash = hashOf(key);
    const first = projects.get(project) ?? option;
    const faults = [];
    if (/^sha256:/iu.test(key) && !HASH_FORMAT.test(key))
      faults.push(faultAt(index, 'key', 'this is not a hash: it needs 64 hex digits after sha256:', HASH_HINT));
    if (hashes.has(keyHash)) faults.push(faultAt(index, 'key', 'this key exists already', 'Remove one of them.'));
    if (environment !== undefined && !canNameEnvironment(environment))
      faults.push(faultAt(index, 'environment', 'this cannot be an environment', ENVIRONMENT_HINT));
    if (plan === 'free' && quota === undefined)
      faults.push(faultAt(index, 'plan', 'the free plan needs a monthly quota', 'Add monthly_spans.'));
    if (plan === 'paid' && quota !== undefined)
      faults.push(faultAt(index, 'monthly_spans', 'the paid plan has no quota', 'Leave it out, or add plan: free.'));
    if (first.plan !== plan || first.monthly_spans !== quota) {
      const hint = 'Give every key of a project the same plan and monthly_spans.';
      faults.push(faultAt(index, 'project', `the keys of project "${project}" disagree about its plan`, hint));
    }
    hashes.add(keyHash);
    projects.set(project, first);
    return faults;
  });
}

function faultAt(index: number, option: keyof StaticKeyOptions, message: string, hint: string): OptionFault {
  return { option: ['keys', index, option], severity: 'error', message, hint };
}

/** In lower-case hex. */
function hashOf(key: string): string {
  return HASH_FORMAT.exec(key)?.[1]?.toLowerCase() ?? hash('sha256', key, 'hex');
}
