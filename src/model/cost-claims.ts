/**
 * Costs that senders state themselves, as normalization finds them and pricing judges them. Few senders do, so these are plain
 * objects beside the tables. The order in which claims are added is their order of precedence.
 */

export interface CostClaim {
  /** COST_… of layout.ts. */
  readonly cost: number;
  /** As it stood: a double, a decimal text, or an exact integer. */
  readonly value: number | string | bigint;
  /** `micro_usd`: a millionth of a dollar. */
  readonly unit: 'usd' | 'micro_usd';
  /** Where it stood, for the audit column: the name of the attribute. Never a client's text. */
  readonly source: string;
}

const NONE: readonly CostClaim[] = [];

export class CostClaims {
  readonly #byDerived = new Map<number, CostClaim[]>();

  /** `derived`: derived row + 1, as in `RecordCursor.derived`. */
  add(derived: number, claim: CostClaim): void {
    const known = this.#byDerived.get(derived);
    if (known === undefined) this.#byDerived.set(derived, [claim]);
    else known.push(claim);
  }

  of(derived: number): readonly CostClaim[] {
    return this.#byDerived.get(derived) ?? NONE;
  }
}
