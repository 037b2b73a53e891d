/**
 * A bounded memory of resolved names. Two generations stand in for exact recency: what was used since the last turn is
 * kept, what was not is forgotten, and a hit on the young generation moves nothing.
 */

/** Names remembered at most, both generations together. */
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

  /** Undefined when the pair is not remembered. */
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
 * One key for both, so that no two pairs share it. It never looks like a number: the engine hashes texts of digits
 * without a secret, and a sender could choose names that meet in one place.
 */
function keyOf(provider: string, model: string): string {
  return `${provider.length}:${provider}${model}`;
}
