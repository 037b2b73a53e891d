/** Looks up stored API keys. The `postgres` extension offers it; the `auth` processor caches its answers. */
import type { Capability } from './capability.ts';
import type { Project, Credential } from '../../pdata/context.ts';

/** A stored key, with the facts that `auth` needs. */
export interface StoredKey {
  /** SHA-256 of the whole key text; `auth` compares it in constant time. */
  readonly hash: Uint8Array;
  readonly revoked: boolean;
  readonly credential: Credential;
}

export interface KeyDirectory {
  /** Null when no such key is stored. Rejects when the lookup fails; `auth` sets the time limit. */
  findKey(publicId: string): Promise<StoredKey | null>;
  /** The stored project of this name, if any. Requests with static keys use its stored privacy settings. */
  findProject(name: string): Promise<Project | null>;
  /** Whether lookups are known to fail because the database is unavailable. Left out: never. */
  isUnavailable?(): boolean;
  /**
   * Whether a lookup failed or was slow because the database is unavailable. If the failure does not show it, the
   * database is checked. `wait`: the answer is the result of that check, after a few seconds at most; `start`: what is
   * known before it. Left out: no.
   */
  isUnavailableAfter?(error: unknown, check: 'wait' | 'start'): Promise<boolean>;
  /**
   * Calls back when keys, projects or environments changed; returns a function that ends it. A missed call is safe,
   * because caches expire soon.
   */
  onChange(changed: () => void): () => void;
}

export const KEY_DIRECTORY: Capability<KeyDirectory> = { name: 'key-directory' };
