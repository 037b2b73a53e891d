/**
 * A bounded memory of resolved names. Two generations stand in for exact recency: what was used since the last turn is kept,
 * what was not is forgotten, and a hit on the young generation moves nothing.
 */

/** Names remembered at most, both generations together. */
export const RECENT_NAMES = 4_096;

type Generation<V> = Map<string, Map<string, V>>;

export class RecentNames<V> {
  readonly #half: number;
  #young: Generation<V> = new Map();
  #old: Generation<V> = new Map();
  #youngCount = 0;
  #oldCount = 0;

  constructor(capacity: number = RECENT_NAMES) {
    this.#half = Math.max(1, Math.floor(capacity / 2));
  }

  get size(): number {
    return this.#youngCount + this.#oldCount;
  }

  /** Undefined when the pair is not remembered. */
  get(provider: string, model: string): V | undefined {
    const value = this.#young.get(provider)?.get(model);
    if (value !== undefined) return value;
    const older = this.#old.get(provider)?.get(model);
    if (older !== undefined) this.set(provider, model, older);
    return older;
  }

  set(provider: string, model: string, value: V): void {
    if (this.#youngCount >= this.#half) {
      this.#old = this.#young;
      this.#oldCount = this.#youngCount;
      this.#young = new Map();
      this.#youngCount = 0;
    }
    let models = this.#young.get(provider);
    if (models === undefined) this.#young.set(provider, (models = new Map()));
    if (!models.has(model)) this.#youngCount++;
    models.set(model, value);
  }
}
