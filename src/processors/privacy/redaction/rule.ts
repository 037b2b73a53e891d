/** One kind of text that is replaced, whoever finds it: a preset's scanner or a configured pattern. */

/** Where to replace: start and end of each stretch, in order, not overlapping, as a flat list. */
export type Stretches = readonly number[];

export interface Rule {
  /** Stands in metrics; from the configuration, never from a client. */
  readonly name: string;
  readonly replacement: string;
  /**
   * Source of an expression that a text must contain, as bytes or characters, for the rule to find anything in it; null when
   * there is no such. It must cost a bounded number of steps from each place it starts, and not name quotes, slashes or
   * backslashes, which a text may spell as escapes.
   */
  readonly hint: string | null;
  /** Whether a number may be found when it is written in decimal; null: this rule does not look at numbers. */
  readonly numbers: ((value: number) => boolean) | null;
  /** Takes time proportional to the length of the text. */
  find(text: string): Stretches;
}

export const NOTHING: Stretches = [];
