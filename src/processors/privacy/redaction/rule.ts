/** One kind of text that is replaced, whoever finds it: a preset's scanner or a configured pattern. */

/** Where to replace: start and end of each stretch, in order, not overlapping, as a flat list. */
export type Stretches = readonly number[];

/** Most bytes that `Hint.rest` may look at. */
export const MAX_HINT = 600;

export interface Hint {
  /**
   * Byte by byte, each an expression of single bytes without repetitions: a text in which the rule finds anything contains one of
   * them. They may not name quotes, slashes or backslashes, which a text may spell as escapes. The rarer their bytes in prose and
   * in JSON, the less often anything has to be looked at.
   */
  readonly openings: readonly string[];
  /** What else must be found from the beginning of an opening on: an expression that looks at no more than `MAX_HINT` bytes. */
  readonly rest?: string;
}

export interface Rule {
  /** Stands in metrics; from the configuration, never from a client. */
  readonly name: string;
  readonly replacement: string;
  /** What a text must contain for the rule to find anything in it; null when there is no such. */
  readonly hint: Hint | null;
  /** Whether a number may be found when it is written in decimal; null: this rule does not look at numbers. */
  readonly numbers: ((value: number) => boolean) | null;
  /** Takes time proportional to the length of the text. */
  find(text: string): Stretches;
}

export const NOTHING: Stretches = [];
