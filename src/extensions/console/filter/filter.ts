/**
 * A filter as a tree of terms, and the error of a text that is no filter. The page, the API, the command line and the
 * Tempo subset share it.
 */
import type { Field } from './fields.ts';

export const MAX_FILTER_BYTES = 4096;
export const MAX_TERMS = 20;

export type Operator = '=' | '>' | '>=' | '<' | '<=' | '~';

export interface FilterValue {
  readonly text: string;
  /** Whether the value only has to begin like this. */
  readonly isPrefix: boolean;
  /** The offset in the filter, in UTF-16 units. */
  readonly at: number;
}

/** A condition on one field. Any of its values may meet it. */
export interface Term {
  readonly field: Field;
  /** The attribute of `attr.K` and `resource.K`; else empty. */
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly FilterValue[];
  readonly negated: boolean;
  readonly at: number;
}

/** All terms must hold. Terms on spans hold on one span. */
export interface Filter {
  readonly terms: readonly Term[];
}

/** A filter cannot be read. `at` is the offset of the fault, in UTF-16 units. */
export class FilterError extends Error {
  readonly at: number;
  readonly hint: string | null;

  constructor(message: string, at: number, hint: string | null = null) {
    super(message);
    this.at = at;
    this.hint = hint;
  }
}
