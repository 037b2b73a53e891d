/** What is known about one request: what arrived in its headers, and the facts the processors find out on the way. */

import type { Sender } from '../errors.ts';

export type Signal = 'traces' | 'logs' | 'metrics';
export const SIGNALS: readonly Signal[] = ['traces', 'logs', 'metrics'];

/** The body's encoding; error and success bodies follow it. */
export type Encoding = 'protobuf' | 'json';

/** The media types of OTLP/HTTP request and answer bodies (OTLP specification, "Binary Protobuf Encoding" and "JSON Protobuf Encoding"). */
export const MEDIA_TYPES = { protobuf: 'application/x-protobuf', json: 'application/json' } as const satisfies Record<
  Encoding,
  string
>;

/** The Collector's words. */
export type Transport = 'http' | 'grpc';

export type Plan = 'free' | 'paid';

/** Whose data this is. Frozen; shared by every request of the same key while the key cache holds it. */
export interface Project {
  /** The `project` column: a slug that never changes. */
  readonly name: string;
  readonly plan: Plan;
  /** Spans a month on the free plan; null on the paid plan. */
  readonly monthlySpans: number | null;
  /** Stored privacy settings by environment name; `invalid` when what is stored cannot be decoded. */
  readonly privacy: ReadonlyMap<string, EnvironmentPrivacy> | 'invalid';
}

/** A project's own switch for one environment; it wins over the configuration. Null: the configuration decides. */
export interface EnvironmentPrivacy {
  readonly captureContent: boolean | null;
}

/** What arrived before the body. */
export interface RequestInfo {
  readonly signal: Signal;
  /** How it came, for metrics; http unless stated. */
  readonly transport?: Transport;
  /** The raw Authorization header. */
  readonly authorization: string | undefined;
}

/** Who sent a request, as the `auth` processor found out. */
export interface Credential {
  readonly project: Project;
  /** The one environment the key may write, trimmed and lower-cased; null: all of them. */
  readonly environment: string | null;
  /** Where it came from, for logs: the public id of a stored key, or `static:<n>`. Never the secret. */
  readonly keyId: string;
}

/** Facts that processors provide and require; the assembly checks their order once at start. */
export type Fact = 'project' | 'environment' | 'privacy' | 'derived' | 'cost';

/**
 * One request's context. Each field but `request` is written by exactly one processor; `assemble` has proved that it runs
 * before any reader, so a missing value is a fault of ours, never of the client.
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

  /** Null before the project is known, and when it could not be found out. */
  get projectName(): string | null {
    return this.#credential?.project.name ?? null;
  }
}
