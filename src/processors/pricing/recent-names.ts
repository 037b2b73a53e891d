/**
 * A bounded cache of resolved names in two generations, which approximates LRU: when the young one is full it becomes
 * the old one, and entries of the old one that were not used again are dropped. A hit in the young generation moves
 * nothing.
 */

/** The most names, both generations together. */
export const RECENT_NAMES = 4_096;

export class RecentNames<V> {
  readonly #half: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(capacity: number = RECENT_NAMES) {
    this.#half = Math.max(1, Math.floor(capacity / 2));
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Undefined: the pair is not cached. */
  get(provider: string, model: string): V | undefined {
    const key = keyOf(provider, model);
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const older = this.#old.get(key);
    if (older !== undefined) this.#add(key, older);
    return older;
  }

  set(provider: string, model: string, value: V): void {
    this.#add(keyOf(provider, model), value);
  }

  #add(key: string, value: V): void {
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}

/**
 * One key for each pair. It is never a text of digits: the engine hashes those without a secret, and a sender could
 * choose names that collide.
 */
function keyOf(provider: string, model: string): string {
  return `${provider.length}:${provider}${model}`;
}
