/**
 * An index of price entries by what they match. Names and prefixes are looked up and all expressions run as one
 * automaton, so the cost of a new name hardly depends on the length of the list.
 */
import { matchingWhole, type PatternSet } from './name-pattern.ts';

/** What an entry matches: some names, all names with a prefix, or the names that an expression matches as a whole. */
export type EntryMatch =
  | { readonly names: readonly string[] }
  | { readonly prefix: string }
  | { readonly expression: string };

export class EntryIndex<T extends { readonly matches: EntryMatch }> {
  readonly #entries: readonly T[];
  /** Positions in the list, ascending. */
  readonly #byName = new Map<string, number[]>();
  readonly #byPrefix = new Map<string, number[]>();
  readonly #prefixLengths: readonly number[];
  /** The positions of entries with expressions, and the set of these, in the same order. */
  readonly #expressions: readonly number[];
  readonly #matching: PatternSet;

  constructor(entries: readonly T[]) {
    this.#entries = entries;
    const expressions: [position: number, expression: string][] = [];
    for (const [position, { matches }] of entries.entries()) {
      if ('names' in matches) for (const name of new Set(matches.names)) note(this.#byName, name, position);
      else if ('prefix' in matches) note(this.#byPrefix, matches.prefix, position);
      else expressions.push([position, matches.expression]);
    }
    this.#prefixLengths = [...new Set([...this.#byPrefix.keys()].map(({ length }) => length))];
    this.#expressions = expressions.map(([position]) => position);
    this.#matching = matchingWhole(expressions.map(([, expression]) => expression));
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** The first entry of the list that matches one of the names and is accepted. */
  find(names: readonly string[], accepts: (entry: T) => boolean): T | null {
    let best = this.#entries.length;
    const look = (positions: readonly number[] | undefined): void => {
      if (positions === undefined) return;
      for (const position of positions) {
        if (position >= best) return;
        if (accepts(this.#entries[position] as T)) best = position;
      }
    };
    for (const name of names) {
      look(this.#byName.get(name));
      for (const length of this.#prefixLengths)
        if (length <= name.length) look(this.#byPrefix.get(name.slice(0, length)));
    }
    if (this.#expressions.length > 0)
      for (const name of names) look(this.#matching(name).map((index) => this.#expressions[index] as number));
    return this.#entries[best] ?? null;
  }
}

function note(positions: Map<string, number[]>, key: string, position: number): void {
  const known = positions.get(key);
  if (known === undefined) positions.set(key, [position]);
  else known.push(position);
}
