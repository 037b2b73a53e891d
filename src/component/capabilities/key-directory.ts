/** Looking up API keys where they are stored. The `postgres` extension offers it; the `auth` processor caches its answers. */
import type { Capability } from './capability.ts';
import type { Project, Credential } from '../../pdata/context.ts';

/** A stored key as `auth` needs it. */
export interface StoredKey {
  /** SHA-256 of the whole key text; `auth` compares it in constant time. */
  readonly hash: Uint8Array;
  readonly revoked: boolean;
  readonly credential: Credential;
}

export interface KeyDirectory {
  /** Null when no such key is stored. Rejects when the lookup fails; `auth` sets the time limit. */
  findKey(publicId: string): Promise<StoredKey | null>;
  /** The stored project of this name, if any: static keys use its stored privacy settings. */
  findProject(name: string): Promise<Project | null>;
  /** Whether it is known that nothing can be looked up, because the database is away. Left out: never. */
  isAway?(): boolean;
  /** Whether a lookup failed, or took too long, because the database is away. Answers soon; left out: no. */
  isAwayAfter?(error: unknown): Promise<boolean>;
  /** Calls back when keys, projects or environments changed; returns how to stop. Missing it is safe: cache lives are short. */
  onChange(changed: () => void): () => void;
}

export const KEY_DIRECTORY: Capability<KeyDirectory> = { name: 'key-directory' };
