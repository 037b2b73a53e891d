/** One kind of text that is replaced: what a preset's scanner or a configured pattern finds. */

/** Where to replace: start and end of each stretch, in order, not overlapping, as a flat list. */
export type Stretches = readonly number[];

export interface Hint {
  /**
   * Byte by byte, each an expression of single bytes without repetitions: a text in which the rule finds anything contains one of
   * them. They may not name quotes, slashes or backslashes, which a text may spell as escapes. The rarer their bytes in prose and
   * in JSON, the less often anything has to be looked at.
   */
  readonly openings: readonly string[];
  /** Whether what else must be there is: an opening begins at `from`, the body ends at `end`. Looks at some hundred bytes at most. */
  readonly rest?: (bytes: Buffer, from: number, end: number) => boolean;
}

export interface Rule {
  /** Stands in metrics; from the configuration, never from a client. */
  readonly name: string;
  readonly replacement: string;
  /** What a text must contain for the rule to find anything in it; null when there is no such. */
  readonly hint: Hint | null;
  /** Whether a number may be found when it is written in decimal; null: this rule does not look at numbers. */
  readonly numbers: ((value: number) => boolean) | null;
  /** The kinds of characters (see `signsOf`) a text must have, and how many characters, for the rule to find anything. */
  readonly signs: number;
  readonly shortest: number;
  /** Takes time proportional to the length of the text. */
  find(text: string): Stretches;
  /** The same in steps, for long texts: adds to `found`. A step takes some milliseconds, whatever the text. */
  search(text: string, found: number[]): Iterator<void>;
}
