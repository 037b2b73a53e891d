/** A rule: what the scanner of a preset or a configured pattern finds and replaces. */

/** What to replace: start and end of each range, ascending, not overlapping, as a flat list. */
export type Ranges = readonly number[];

export interface Hint {
  /**
   * Literal prefixes, each an expression of single bytes without repetitions. Every text in which the rule finds
   * anything contains one of them. They have no quotes, slashes or backslashes, which a text may write as escapes. Rare
   * bytes make the search faster.
   */
  readonly prefixes: readonly string[];
  /**
   * A further condition on the bytes of a body that ends at `end`; the prefix begins at `from`. Reads some hundred
   * bytes at most.
   */
  readonly rest?: (bytes: Buffer, from: number, end: number) => boolean;
}

export interface Rule {
  /** A metric label; it comes from the configuration, never from a client. */
  readonly name: string;
  readonly replacement: string;
  /** What a text must contain for the rule to find anything in it; null: nothing is known. */
  readonly hint: Hint | null;
  /** Whether the rule may find a number in its decimal form; null: the rule does not apply to numbers. */
  readonly numbers: ((value: number) => boolean) | null;
  /** The character classes (see `signsOf`) and the length that a text must have for the rule to find anything. */
  readonly signs: number;
  readonly shortest: number;
  /** Takes time proportional to the length of the text. */
  find(text: string): Ranges;
  /**
   * `find` in steps, for long texts: adds to `found`. A step takes a few milliseconds for any text. Between two steps
   * the caller may remove all ranges but the last one.
   */
  search(text: string, found: number[]): Iterator<void>;
}
