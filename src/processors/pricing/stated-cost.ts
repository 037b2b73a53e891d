/** Choosing among the costs a record states: for each side the first candidate that is a valid cost, in order of precedence. */
import type { CostCandidate, StatedCosts } from './explicit-cost-keys.ts';
import { MONEY_LIMIT, type Money } from '../../pdata/money.ts';
import { parseExplicitCost } from './explicit-cost.ts';

export interface StatedCost {
  readonly input: Money | null;
  readonly output: Money | null;
  readonly total: Money | null;
  /** The attribute that decided the total, or else a side. */
  readonly attribute: string;
}

interface Accepted {
  readonly money: Money;
  readonly attribute: string;
}

/**
 * Null when no candidate is valid. Two sides without a total add up to one. A sum over other records is not the cost of a
 * record with usage of its own: `ownUsage` leaves those out.
 */
export function chooseStatedCost(costs: StatedCosts, ownUsage: boolean): StatedCost | null {
  const total = firstValid(costs.total, ownUsage);
  const input = firstValid(costs.input, ownUsage);
  const output = firstValid(costs.output, ownUsage);
  const attribute = (total ?? input ?? output)?.attribute;
  if (attribute === undefined) return null;
  return {
    input: input?.money ?? null,
    output: output?.money ?? null,
    total: total?.money ?? sum(input, output),
    attribute,
  };
}

function firstValid(candidates: readonly CostCandidate[], ownUsage: boolean): Accepted | null {
  for (const { attribute, value, aggregate } of candidates) {
    if (aggregate && ownUsage) continue;
    const money = parseExplicitCost(value);
    if (money !== null) return { money, attribute };
  }
  return null;
}

function sum(input: Accepted | null, output: Accepted | null): Money | null {
  if (input === null || output === null) return null;
  const total = input.money + output.money;
  return total < MONEY_LIMIT ? total : null;
}
