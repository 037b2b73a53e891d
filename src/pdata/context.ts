/** The data about one request: its headers, and the facts that processors add. */

import type { Sender } from '../errors.ts';

export type Signal = 'traces' | 'logs' | 'metrics';
export const SIGNALS: readonly Signal[] = ['traces', 'logs', 'metrics'];

/** The encoding of the body; error and success answers use the same. */
export type Encoding = 'protobuf' | 'json';

/**
 * The media types of OTLP/HTTP request and answer bodies (OTLP specification, "Binary Protobuf Encoding" and "JSON
 * Protobuf Encoding").
 */
export const MEDIA_TYPES = { protobuf: 'application/x-protobuf', json: 'application/json' } as const satisfies Record<
  Encoding,
  string
>;

/** The Collector's words. */
export type Transport = 'http' | 'grpc';

export type Plan = 'free' | 'paid';

/** The owner of the data. Frozen; shared by all requests with the same key while the key cache holds it. */
export interface Project {
  /** The `project` column: a slug that never changes. */
  readonly name: string;
  readonly plan: Plan;
  /** Spans per month on the free plan; null on the paid plan. */
  readonly monthlySpans: number | null;
  /** Stored privacy settings by environment name; `invalid` when the stored value cannot be decoded. */
  readonly privacy: ReadonlyMap<string, EnvironmentPrivacy> | 'invalid';
}

/** A project's own setting for one environment; it overrides the configuration. Null: the configuration decides. */
export interface EnvironmentPrivacy {
  readonly captureContent: boolean | null;
}

/** The part of a request that arrives before the body. */
export interface RequestInfo {
  readonly signal: Signal;
  readonly transport: Transport;
  /** The raw Authorization header. */
  readonly authorization: string | undefined;
}

/** The sender of a request, as the `auth` processor determined it. */
export interface Credential {
  readonly project: Project;
  /** The one environment that the key may write, trimmed and lower-cased; null: all of them. */
  readonly environment: string | null;
  /** The source of the key, for logs: the public id of a stored key, or `static:<n>`. Never the secret. */
  readonly keyId: string;
}

/** Facts that processors provide and require; the assembly checks their order once at start. */
export type Fact = 'project' | 'environment' | 'privacy' | 'derived' | 'cost';

/**
 * One request's context. Each field but `request` is written by exactly one processor, and `assemble` has checked that
 * it runs before any reader. So a missing value is an internal error, never one of the client.
 */
export class Context {
  readonly request: RequestInfo;
  #credential: Credential | null = null;

  constructor(request: RequestInfo) {
    this.request = request;
  }

  get credential(): Credential {
    if (this.#credential === null) throw new Error('the fact "project" was read before a processor provided it');
    return this.#credential;
  }

  set credential(credential: Credential) {
    this.#credential = credential;
  }

  get project(): Project {
    return this.credential.project;
  }

  /** For log lines; empty before the credential is known. */
  get sender(): Sender {
    const credential = this.#credential;
    return { project: credential?.project.name ?? null, key: credential?.keyId ?? null };
  }

  /** For code that may run before it is known, or after its lookup failed: null then. */
  get projectName(): string | null {
    return this.#credential?.project.name ?? null;
  }
}
