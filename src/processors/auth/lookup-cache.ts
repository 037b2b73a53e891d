/**
 * A cache of lookups in the key directory. Entries live for a short absolute time, so a revoked key is refused
 * everywhere within that time. Concurrent lookups of one name share a query; failed lookups are not cached. Lookups of
 * names that were never found have a small concurrency limit, so guessed keys neither delay the lookups of real keys
 * nor evict them from the cache.
 */
import type { Counter } from '../../component/meter.ts';
import { Slots } from '../../component/slots.ts';
import { Rejection } from '../../errors.ts';

/** The most found answers; then the oldest are evicted. */
const MAX_FOUND = 10000;
/** The limit of cached names that were not found. */
const MAX_MISSING = 2000;
/** A key that was used before it was created works this long after its creation, even if the notification is lost. */
const MISSING_LIFE_MS = 1000;
/** Concurrent lookups of names that were never found: half of the connections for queries. */
const UNKNOWN_SLOTS = 2;
/** Lookups that may wait for it; further ones are refused with `overloaded`. */
const UNKNOWN_WAITING = 1000;

export interface LookupLimits {
  readonly lifeMs: number;
  readonly timeoutMs: number;
  /** Whether names come from clients, which may guess. */
  readonly fromClients: boolean;
}

interface Entry<T> {
  readonly found: T | null;
  readonly sinceMs: number;
  readonly generation: number;
}

export interface CacheCounters {
  readonly hits: Counter;
  readonly misses: Counter;
}

export class LookupCache<T> {
  readonly #ask: (name: string) => Promise<T | null>;
  readonly #limits: LookupLimits;
  readonly #now: () => number;
  readonly #hits: Counter;
  readonly #misses: Counter;
  /** Also kept after their time, because they show which names exist. */
  readonly #found = new Map<string, Entry<T>>();
  readonly #missing = new Map<string, Entry<T>>();
  readonly #pending = new Map<string, Promise<T | null>>();
  readonly #unknown = new Slots({
    atOnce: UNKNOWN_SLOTS,
    mostWaiting: UNKNOWN_WAITING,
    what: 'the lookup of an unknown key',
  });
  #generation = 0;

  constructor(
    ask: (name: string) => Promise<T | null>,
    limits: LookupLimits,
    now: () => number,
    counters: CacheCounters,
  ) {
    this.#ask = ask;
    this.#limits = limits;
    this.#now = now;
    this.#hits = counters.hits;
    this.#misses = counters.misses;
  }

  /**
   * The stored value of the name, null when there is none, or a promise of either. It rejects when the lookup fails or
   * takes too long, and with `overloaded` when too many unknown names wait.
   */
  find(name: string): T | null | Promise<T | null> {
    const entry = this.#found.get(name) ?? this.#missing.get(name);
    if (entry !== undefined && this.#isFresh(entry)) {
      this.#hits.add(1);
      return entry.found;
    }
    this.#misses.add(1);
    const pending = this.#pending.get(name) ?? this.#lookUp(name);
    this.#pending.set(name, pending);
    return pending;
  }

  /** The last found value of any age; undefined: none is cached. */
  lastKnown(name: string): T | null | undefined {
    return (this.#found.get(name) ?? this.#missing.get(name))?.found;
  }

  /** Invalidates everything. A lookup in progress still answers its callers, and is cached as invalid. */
  clear(): void {
    this.#generation++;
    this.#missing.clear();
    this.#pending.clear();
  }

  async #lookUp(name: string): Promise<T | null> {
    const generation = this.#generation;
    try {
      const { found, sinceMs } = await this.#answerOf(name);
      this.#remember(name, { found, sinceMs, generation });
      return found;
    } finally {
      if (generation === this.#generation) this.#pending.delete(name);
    }
  }

  #answerOf(name: string): Promise<{ found: T | null; sinceMs: number }> {
    const { timeoutMs, fromClients } = this.#limits;
    let state: 'waits' | 'asked' | 'given up' = 'waits';
    const ask = async (): Promise<{ found: T | null; sinceMs: number }> => {
      if (state === 'given up') return { found: null, sinceMs: 0 };
      state = 'asked';
      // The time counts from before the query: the value may change while it runs.
      const sinceMs = this.#now();
      return { found: await this.#ask(name), sinceMs };
    };
    const isKnown = !fromClients || this.#found.has(name);
    return withTimeout(isKnown ? ask() : this.#unknown.run(ask), timeoutMs, () => {
      // No query was made, so the key may be valid: the client can send again.
      if (state === 'waits') {
        state = 'given up';
        return new Rejection('overloaded', { hint: 'too many unknown keys wait for their lookup' });
      }
      return new Error(`no answer within ${timeoutMs} ms`);
    });
  }

  /** A clock that was set back does not extend the time. */
  #isFresh({ found, sinceMs, generation }: Entry<T>): boolean {
    const ageMs = this.#now() - sinceMs;
    const { lifeMs: most, fromClients } = this.#limits;
    const lifeMs = found === null && fromClients ? Math.min(most, MISSING_LIFE_MS) : most;
    return generation === this.#generation && ageMs >= 0 && ageMs < lifeMs;
  }

  /** An invalid answer still shows that the name exists, unless a later lookup has answered. */
  #remember(name: string, entry: Entry<T>): void {
    const other = this.#found.get(name) ?? this.#missing.get(name);
    if (entry.generation < (other?.generation ?? 0)) return;
    this.#found.delete(name);
    this.#missing.delete(name);
    if (entry.found === null) keep(this.#missing, name, entry, MAX_MISSING);
    else keep(this.#found, name, entry, MAX_FOUND);
  }
}

function keep<T>(entries: Map<string, T>, name: string, entry: T, most: number): void {
  entries.set(name, entry);
  for (const oldest of entries.keys()) {
    if (entries.size <= most) break;
    entries.delete(oldest);
  }
}

function withTimeout<T>(promise: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), timeoutMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
