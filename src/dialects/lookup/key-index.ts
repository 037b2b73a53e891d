/** Finds what is known about an attribute name: exact names first, then patterns. Asked once per distinct name. */
import { KeyPattern } from './key-pattern.ts';

export interface KeyMatch<T> {
  readonly entry: T;
  /** The place of a flattened key among its siblings; 0 for exact names. */
  readonly order: number;
}

export class KeyIndex<T> {
  readonly #exact = new Map<string, T[]>();
  /** By the first segment of their names: a name has the first segment of its pattern. */
  readonly #patterns = new Map<string, { readonly pattern: KeyPattern; readonly entry: T }[]>();

  /** `attribute` is a name or a pattern. Entries come back in the order they were added. */
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

/** The first segment of a name: most names of other telemetry are told apart by it alone. */
function headOf(key: string): string {
  for (let at = 0; at < key.length; at++) if (HEAD_ENDS.includes(key.charAt(at))) return key.slice(0, at);
  return key;
}
const HEAD_ENDS = '.:{*';
