/** Entries by attribute name: exact names first, then patterns. A name is looked up once. */
import { KeyPattern } from './key-pattern.ts';

export interface KeyMatch<T> {
  readonly entry: T;
  /** The order of a flattened key among its siblings; 0 for exact names. */
  readonly order: number;
}

export class KeyIndex<T> {
  readonly #exact = new Map<string, T[]>();
  /** By first segment: a name and its pattern have the same one. */
  readonly #patterns = new Map<string, { readonly pattern: KeyPattern; readonly entry: T }[]>();

  /** `attribute` is a name or a pattern. Entries are found in the order in which they were added. */
  add(attribute: string, entry: T): void {
    const head = headOf(attribute);
    const patterns = this.#patterns.get(head) ?? [];
    this.#patterns.set(head, patterns);
    if (KeyPattern.isPattern(attribute)) {
      patterns.push({ pattern: new KeyPattern(attribute), entry });
      return;
    }
    const known = this.#exact.get(attribute);
    if (known === undefined) this.#exact.set(attribute, [entry]);
    else known.push(entry);
  }

  find(key: string): KeyMatch<T>[] {
    const patterns = this.#patterns.get(headOf(key));
    if (patterns === undefined) return [];
    const matches = (this.#exact.get(key) ?? []).map((entry) => ({ entry, order: 0 }));
    for (const { pattern, entry } of patterns) {
      const order = pattern.match(key);
      if (order >= 0) matches.push({ entry, order });
    }
    return matches;
  }
}

/** The first segment of a name. It distinguishes most names of other telemetry. */
function headOf(key: string): string {
  const end = key.search(HEAD_END);
  return end < 0 ? key : key.slice(0, end);
}
const HEAD_END = /[.:{*]/;
