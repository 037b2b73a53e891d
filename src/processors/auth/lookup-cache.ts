/**
 * What lookups in the key directory answered, for a short absolute time: a revoked key is refused everywhere within its life.
 * Lookups of the same name at the same time share one query; failed lookups are not remembered.
 */

import type { Counter } from '../../component/meter.ts';

/** Answers remembered at most, found and not found together; beyond, the oldest are forgotten. */
const MAX_ENTRIES = 10000;

interface Entry<T> {
  readonly found: T | null;
  readonly sinceMs: number;
}

export interface CacheCounters {
  readonly hits: Counter;
  readonly misses: Counter;
}

export class LookupCache<T> {
  readonly #ask: (name: string) => Promise<T | null>;
  readonly #lifeMs: number;
  readonly #timeoutMs: number;
  readonly #now: () => number;
  readonly #hits: Counter;
  readonly #misses: Counter;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #pending = new Map<string, Promise<T | null>>();
  #generation = 0;

  constructor(
    ask: (name: string) => Promise<T | null>,
    limits: { readonly lifeMs: number; readonly timeoutMs: number },
    now: () => number,
    counters: CacheCounters,
  ) {
    this.#ask = ask;
    this.#lifeMs = limits.lifeMs;
    this.#timeoutMs = limits.timeoutMs;
    this.#now = now;
    this.#hits = counters.hits;
    this.#misses = counters.misses;
  }

  /** What is stored under the name, null when nothing is, or a promise of either; it rejects when the lookup fails or takes too long. */
  find(name: string): T | null | Promise<T | null> {
    const entry = this.#entries.get(name);
    if (entry !== undefined && this.#isFresh(entry)) {
      this.#hits.add(1);
      return entry.found;
    }
    this.#misses.add(1);
    const pending = this.#pending.get(name) ?? this.#lookUp(name);
    this.#pending.set(name, pending);
    return pending;
  }

  /** What was found last, however long ago; undefined when nothing is remembered. */
  lastKnown(name: string): T | null | undefined {
    return this.#entries.get(name)?.found;
  }

  /** Forgets everything; a lookup under way answers its askers but is not remembered. */
  clear(): void {
    this.#generation++;
    this.#entries.clear();
    this.#pending.clear();
  }

  async #lookUp(name: string): Promise<T | null> {
    const generation = this.#generation;
    const started = this.#now();
    try {
      const found = await withTimeout(this.#ask(name), this.#timeoutMs);
      // The life counts from before the query: what it saw may have been changed while it ran.
      if (generation === this.#generation) this.#remember(name, { found, sinceMs: started });
      return found;
    } finally {
      if (generation === this.#generation) this.#pending.delete(name);
    }
  }

  /** A clock that was set back must not make it live longer. */
  #isFresh({ sinceMs }: Entry<T>): boolean {
    const ageMs = this.#now() - sinceMs;
    return ageMs >= 0 && ageMs < this.#lifeMs;
  }

  #remember(name: string, entry: Entry<T>): void {
    this.#entries.delete(name);
    this.#entries.set(name, entry);
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
