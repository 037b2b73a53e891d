/**
 * Patterns of attribute names. `{i}`, `{j}` stand for a decimal index, `{k}` for any non-empty text, `*` for any text,
 * also none. Matching is done once per distinct key, so it is written for clarity; the literal beginning rejects nearly
 * everything.
 */

/** An index above this is no list position of a real sender. */
const MAX_INDEX_DIGITS = 6;
/** Positions of the first index in `MatchedKey.order`: the second index lies below it. */
const INNER = 1_000_000;

export class KeyPattern {
  /** The literal text before the first placeholder. */
  readonly prefix: string;
  readonly #expression: RegExp;

  constructor(source: string) {
    this.prefix = source.split(/[{*]/, 1)[0] ?? '';
    const parts = source.split(/(\{[ijk]\}|\*)/);
    this.#expression = new RegExp(`^${parts.map(expressionOf).join('')}$`, 's');
  }

  static isPattern(attribute: string): boolean {
    return /\{[ijk]\}|\*/.test(attribute);
  }

  /**
   * The place of a matching key among its siblings, -1 when the key does not match: ten comes after nine, holes do not
   * matter. A pattern without indices puts everything at 0.
   */
  match(key: string): number {
    if (!key.startsWith(this.prefix)) return -1;
    const match = this.#expression.exec(key);
    if (match === null) return -1;
    const [first, second] = match.slice(1).map(Number);
    return (first ?? 0) * INNER + (second ?? 0);
  }
}

function expressionOf(part: string): string {
  if (part === '*') return '.*';
  if (part === '{k}') return '.+';
  if (part === '{i}' || part === '{j}') return `(\\d{1,${MAX_INDEX_DIGITS}})`;
  return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
