/** Redacted keys. One that equals another key, redacted or not, gets a number. */
export class UniqueKeys {
  readonly #names: Set<string>;
  /** By redacted key: the last number. */
  readonly #counts = new Map<string, number>();

  /** `names`: the keys beside which the redacted ones are stored. */
  constructor(names: Set<string>) {
    this.#names = names;
  }

  unique(key: string): string {
    let count = this.#counts.get(key) ?? 0;
    let name: string;
    do {
      count++;
      name = count === 1 ? key : `${key}#${count}`;
    } while (this.#names.has(name));
    this.#counts.set(key, count);
    this.#names.add(name);
    return name;
  }
}
