/**
 * Patterns of attribute names. `{i}`, `{j}` match a decimal index, `{k}` any non-empty text, `*` any text. A key is
 * matched once, so the code is simple; the literal prefix rejects nearly everything.
 */
import { literalPattern } from '../../pdata/literal-pattern.ts';

/** No sender has larger indexes. */
const MAX_INDEX_DIGITS = 6;
/** The factor of the first index in `KeyMatch.order`; the second index is below it. */
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
   * The order of a matching key among its siblings; -1: no match. Indexes compare as numbers and may have gaps. Without
   * indexes the order is 0.
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
  return literalPattern(part);
}
