/** A table by name, exact or with a `*` at the beginning or the end: scopes, span names, operation words. */

export class NameTable<T> {
  readonly #exact = new Map<string, T>();
  readonly #open: { readonly begin: string; readonly end: string; readonly value: T }[] = [];

  add(name: string, value: T): void {
    const folded = name.toLowerCase();
    const star = folded.indexOf('*');
    if (star >= 0) this.#open.push({ begin: folded.slice(0, star), end: folded.slice(star + 1), value });
    else if (!this.#exact.has(folded)) this.#exact.set(folded, value);
  }

  get isEmpty(): boolean {
    return this.#exact.size === 0 && this.#open.length === 0;
  }

  find(name: string): T | undefined {
    const folded = name.toLowerCase();
    return (
      this.#exact.get(folded) ??
      this.#open.find(
        ({ begin, end }) =>
          folded.length >= begin.length + end.length && folded.startsWith(begin) && folded.endsWith(end),
      )?.value
    );
  }
}

/** A set of names. */
export function tableOf(names: readonly string[]): NameTable<true> {
  const table = new NameTable<true>();
  for (const name of names) table.add(name, true);
  return table;
}
