/**
 * What key lookups answered, for a short absolute time: a revoked key is refused everywhere within its life. Lookups of the
 * same key at the same time share one query; failed lookups are not remembered.
 */
import type { KeyDirectory, StoredKey } from '../../component/directory.ts';

/** Keys remembered at most, known and unknown together; beyond, the oldest are forgotten. */
const MAX_ENTRIES = 10000;

interface Entry {
  readonly key: StoredKey | null;
  readonly expiresMs: number;
}

export class KeyCache {
  readonly #directory: KeyDirectory;
  readonly #lifeMs: number;
  readonly #timeoutMs: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Promise<StoredKey | null>>();
  #generation = 0;
  hits = 0;
  misses = 0;

  constructor(
    directory: KeyDirectory,
    limits: { readonly lifeMs: number; readonly timeoutMs: number },
    now: () => number,
  ) {
    this.#directory = directory;
    this.#lifeMs = limits.lifeMs;
    this.#timeoutMs = limits.timeoutMs;
    this.#now = now;
  }

  /** The stored key, null when there is none, or a promise of either; rejects when the lookup fails or takes too long. */
  find(publicId: string): StoredKey | null | Promise<StoredKey | null> {
    const entry = this.#entries.get(publicId);
    if (entry !== undefined && entry.expiresMs > this.#now()) {
      this.hits++;
      return entry.key;
    }
    this.misses++;
    const pending = this.#pending.get(publicId) ?? this.#lookUp(publicId);
    this.#pending.set(publicId, pending);
    return pending;
  }

  /** Forgets everything; a lookup under way answers its askers but is not remembered. */
  clear(): void {
    this.#generation++;
    this.#entries.clear();
    this.#pending.clear();
  }

  async #lookUp(publicId: string): Promise<StoredKey | null> {
    const generation = this.#generation;
    const started = this.#now();
    try {
      const key = await withTimeout(this.#directory.findKey(publicId), this.#timeoutMs);
      // The life counts from before the query: what it saw may have been changed while it ran.
      if (generation === this.#generation) this.#remember(publicId, { key, expiresMs: started + this.#lifeMs });
      return key;
    } finally {
      if (generation === this.#generation) this.#pending.delete(publicId);
    }
  }

  #remember(publicId: string, entry: Entry): void {
    this.#entries.delete(publicId);
    this.#entries.set(publicId, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES) break;
      this.#entries.delete(oldest);
    }
  }
}

function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
