/**
 * What lookups in the key directory answered, for a short absolute time: a revoked key is refused everywhere within its
 * life. Lookups of the same name at the same time share one query; failed lookups are not remembered. Names that were
 * never found are looked up a few at a time, so guessed keys neither delay the lookups of real ones nor push them out
 * of the cache.
 */
import { FairSlots } from '../../component/fair-slots.ts';
import type { Counter } from '../../component/meter.ts';
import { Rejection } from '../../errors.ts';

/** Found answers remembered at most; beyond, the oldest are forgotten. */
const MAX_FOUND = 10000;
/** The same for names that were not found. */
const MAX_MISSING = 2000;
/** A key that was tried before it was made works this long after it was made, even if word of the change is lost. */
const MISSING_LIFE_MS = 1000;
/** Lookups at once of names that were never found: half of the connections there are for questions. */
const UNKNOWN_SLOTS = 2;
/** So many may wait for that; further ones are told to come back. */
const UNKNOWN_WAITING = 1000;
const UNKNOWN = 'unknown';

export interface LookupLimits {
  readonly lifeMs: number;
  readonly timeoutMs: number;
  /** Whether names come from clients, who may guess. */
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
  /** Kept when they are too old to be used: they tell which names are known. */
  readonly #found = new Map<string, Entry<T>>();
  readonly #missing = new Map<string, Entry<T>>();
  readonly #pending = new Map<string, Promise<T | null>>();
  readonly #unknown = new FairSlots({
    slots: UNKNOWN_SLOTS,
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
   * What is stored under the name, null when nothing is, or a promise of either. It rejects when the lookup fails or
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

  /** What was found last, however long ago; undefined when nothing is remembered. */
  lastKnown(name: string): T | null | undefined {
    return (this.#found.get(name) ?? this.#missing.get(name))?.found;
  }

  /** Asks again for everything from now on; a lookup under way answers its askers but is not remembered. */
  clear(): void {
    this.#generation++;
    this.#missing.clear();
    this.#pending.clear();
  }

  async #lookUp(name: string): Promise<T | null> {
    const generation = this.#generation;
    try {
      const { found, sinceMs } = await this.#answerOf(name);
      if (generation === this.#generation) this.#remember(name, { found, sinceMs, generation });
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
      // The life counts from before the query: what it saw may have been changed while it ran.
      const sinceMs = this.#now();
      return { found: await this.#ask(name), sinceMs };
    };
    const isKnown = !fromClients || this.#found.has(name);
    return withTimeout(isKnown ? ask() : this.#unknown.run(UNKNOWN, ask), timeoutMs, () => {
      // The database was not asked, so nothing is known to be wrong: the client may come again.
      if (state === 'waits') {
        state = 'given up';
        return new Rejection('overloaded', { hint: 'too many unknown keys wait for their lookup' });
      }
      return new Error(`no answer within ${timeoutMs} ms`);
    });
  }

  /** A clock that was set back must not make it live longer. */
  #isFresh({ found, sinceMs, generation }: Entry<T>): boolean {
    const ageMs = this.#now() - sinceMs;
    const { lifeMs: most, fromClients } = this.#limits;
    const lifeMs = found === null && fromClients ? Math.min(most, MISSING_LIFE_MS) : most;
    return generation === this.#generation && ageMs >= 0 && ageMs < lifeMs;
  }

  #remember(name: string, entry: Entry<T>): void {
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
