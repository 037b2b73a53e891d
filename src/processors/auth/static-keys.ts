/** Keys that stand in the configuration, as text or as `sha256:` hash, and the projects they stand for. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { UserError } from '../../errors.ts';
import type { Credential, Plan, Project } from '../../model/context.ts';
import { normalizeEnvironment } from '../../model/environment.ts';

export interface StaticKeyOptions {
  readonly key: string;
  readonly project: string;
  readonly environment?: string;
  readonly plan: Plan;
  readonly monthly_spans?: number;
}

const HASH_FORMAT = /^sha256:([0-9a-f]{64})$/i;

interface StaticKey {
  readonly hash: Buffer;
  readonly credential: Credential;
}

export class StaticKeys {
  /** By hash: finding one says nothing about how much of a wrong key was right. */
  readonly #keys = new Map<string, StaticKey>();

  /** Throws a `UserError` when two keys are equal, or one project is described in two ways. */
  constructor(options: readonly StaticKeyOptions[]) {
    const projects = new Map<string, Project>();
    for (const [index, option] of options.entries()) {
      const hash = hashOf(option.key);
      const credential = {
        project: projectOf(option, projects),
        environment: option.environment === undefined ? null : normalizeEnvironment(option.environment),
        keyId: `static:${index}`,
      };
      if (this.#keys.has(hash.toString('hex'))) {
        throw new UserError('two keys of the auth processor are the same', 'Remove one of them.');
      }
      this.#keys.set(hash.toString('hex'), { hash, credential });
    }
  }

  find(text: string): Credential | null {
    const hash = createHash('sha256').update(text).digest();
    const key = this.#keys.get(hash.toString('hex'));
    return key !== undefined && timingSafeEqual(key.hash, hash) ? key.credential : null;
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }
}

function hashOf(key: string): Buffer {
  const given = HASH_FORMAT.exec(key);
  return given?.[1] !== undefined ? Buffer.from(given[1], 'hex') : createHash('sha256').update(key).digest();
}

function projectOf(option: StaticKeyOptions, projects: Map<string, Project>): Project {
  const monthlySpans = option.plan === 'free' ? (option.monthly_spans ?? null) : null;
  const known = projects.get(option.project);
  if (known === undefined) {
    const project = { name: option.project, plan: option.plan, monthlySpans, privacy: new Map() };
    projects.set(option.project, project);
    return project;
  }
  if (known.plan !== option.plan || known.monthlySpans !== monthlySpans) {
    throw new UserError(
      `the keys of project "${option.project}" disagree about its plan`,
      'Give every key of a project the same plan and monthly_spans.',
    );
  }
  return known;
}
