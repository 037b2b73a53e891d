/**
 * An observer of how records become rows: which attribute filled which column, and how the cost came about. Only
 * `sluice explain` offers one; the daemon runs without.
 */
import type { Capability } from './capability.ts';

/** Where a value was read. */
export interface Origin {
  readonly column: string;
  /** The name of an attribute, or in words what else the value comes from. */
  readonly source: string;
  readonly isAttribute: boolean;
  /** The path inside the attribute's JSON. */
  readonly path: string | null;
  /** The dialect whose table lists the source; null: no table does. */
  readonly dialect: string | null;
}

export interface FilledColumn extends Origin {
  /** What happened to the value, for example that cached tokens were added to it. */
  readonly note: string | null;
}

/** An attribute of the record that could have filled a column. */
export interface LostCandidate extends Origin {
  readonly reason: string;
}

export interface LeftOver {
  readonly attribute: string;
  readonly note: string | null;
}

export interface Derivation {
  readonly record: number;
  readonly dialect: string | null;
  /** The sign by which the dialect was found. */
  readonly evidence: string | null;
  readonly filled: readonly FilledColumn[];
  readonly lost: readonly LostCandidate[];
  /** Attributes that no column used. */
  readonly leftOver: readonly LeftOver[];
}

export interface StatedCandidate {
  readonly side: 'total' | 'input' | 'output';
  readonly attribute: string;
  readonly value: string;
  /** Null: it was used. */
  readonly reason: string | null;
}

export interface CostDerivation {
  readonly record: number;
  /** The costs that the record states itself. */
  readonly stated: readonly StatedCandidate[];
  /** How the cost was computed, in lines of text; empty when the stated cost is used, or there is no usage. */
  readonly computed: readonly string[];
  /** The computation as data. */
  readonly price: unknown;
}

export interface Derivations {
  derived(derivation: Derivation): void;
  priced(cost: CostDerivation): void;
}

export const DERIVATIONS: Capability<Derivations> = { name: 'derivations' };
