/**
 * Whether content of an environment may be stored: by the project's setting, else the configuration of the environment,
 * else the default.
 */
import type { OptionFault } from '../../component/component.ts';
import { canNameEnvironment, ENVIRONMENT_HINT, normalizeEnvironment } from '../../pdata/environment.ts';
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
      if (!canNameEnvironment(name))
        throw new UserError(`${place}: ${JSON.stringify(name)} cannot be an environment`, ENVIRONMENT_HINT);
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

/** What the constructor refuses, for `sluice validate`. */
export function captureFaults(options: CaptureOptions, place: string): readonly OptionFault[] {
  try {
    new CaptureSettings(options, place);
    return [];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [{ option: ['environments'], severity: 'error', message: error.message, hint: error.hint }];
  }
}

/** Throws when the stored settings cannot be read: a guess could store content that a setting forbids. */
export function storedSettings(project: Project): Exclude<Project['privacy'], 'invalid'> {
  if (project.privacy === 'invalid') throw new Rejection('privacy_configuration_invalid');
  return project.privacy;
}
