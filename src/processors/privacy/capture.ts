/**
 * Whether content of an environment may be stored: by the project's setting, else the configuration of the environment,
 * else the default.
 */
import { normalizeEnvironment } from '../../pdata/environment.ts';
import type { Project } from '../../pdata/context.ts';
import { Rejection, UserError } from '../../errors.ts';

export interface CaptureOptions {
  readonly capture_content: boolean;
  readonly environments: Readonly<Record<string, { readonly capture_content?: boolean }>>;
}

export class CaptureSettings {
  readonly #default: boolean;
  readonly #environments = new Map<string, boolean>();

  /** `place` names the option in messages. */
  constructor(options: CaptureOptions, place: string) {
    this.#default = options.capture_content;
    const given = new Map<string, string>();
    for (const [name, { capture_content }] of Object.entries(options.environments)) {
      const environment = normalizeEnvironment(name);
      const other = given.get(environment);
      if (environment === '') throw new UserError(`${place}: an environment has no name`, 'name it, or remove it');
      if (other !== undefined)
        throw new UserError(`${place}: "${other}" and "${name}" are the same environment`, 'keep one of the two');
      given.set(environment, name);
      if (capture_content !== undefined) this.#environments.set(environment, capture_content);
    }
  }

  /** True when no setting disables capture for this project. */
  isAlwaysOn(project: Project): boolean {
    const stored = storedSettings(project);
    return this.#default && this.#environments.size === 0 && stored.size === 0;
  }

  captures(project: Project, environment: string): boolean {
    const stored = storedSettings(project).get(environment)?.captureContent ?? null;
    return stored ?? this.#environments.get(environment) ?? this.#default;
  }
}

/** Throws when the stored settings cannot be read: a guess could store content that a setting forbids. */
export function storedSettings(project: Project): Exclude<Project['privacy'], 'invalid'> {
  if (project.privacy === 'invalid') throw new Rejection('privacy_configuration_invalid');
  return project.privacy;
}
