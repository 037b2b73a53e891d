/** Choosing among the costs a sender states: for each side the first claim that is valid, in order of precedence. */
import type { CostClaim } from '../../model/cost-claims.ts';
import { COST_INPUT, COST_OUTPUT, COST_TOTAL } from '../../model/layout.ts';
import { MONEY_LIMIT, type Money } from '../../model/money.ts';
import { parseExplicitCost } from './explicit-cost.ts';

export interface StatedCost {
  readonly input: Money | null;
  readonly output: Money | null;
  readonly total: Money | null;
  /** The attribute that decided the total, or else a side. */
  readonly source: string;
}

/** 1e-8 USD in a millionth of a dollar. */
const MONEY_PER_MICRO = 100n;
const MICROS_PER_USD = 1e6;

/** Null when no claim is valid. Two sides without a total add up to one. */
export function statedCost(claims: readonly CostClaim[]): StatedCost | null {
  const total = firstValid(claims, COST_TOTAL);
  const input = firstValid(claims, COST_INPUT);
  const output = firstValid(claims, COST_OUTPUT);
  const source = total?.source ?? input?.source ?? output?.source;
  if (source === undefined) return null;
  return {
    input: input?.money ?? null,
    output: output?.money ?? null,
    total: total?.money ?? sum(input, output),
    source,
  };
}

function firstValid(
  claims: readonly CostClaim[],
  cost: number,
): { readonly money: Money; readonly source: string } | null {
  for (const claim of claims) {
    if (claim.cost !== cost) continue;
    const money = claim.unit === 'usd' ? parseExplicitCost(claim.value) : moneyOfMicros(claim.value);
    if (money !== null) return { money, source: claim.source };
  }
  return null;
}

function moneyOfMicros(value: CostClaim['value']): Money | null {
  if (
    typeof value === 'bigint' ||
    Number.isSafeInteger(value) ||
    (typeof value === 'string' && /^\d{1,18}$/.test(value))
  ) {
    const money = BigInt(value) * MONEY_PER_MICRO;
    return money >= 0n && money < MONEY_LIMIT ? money : null;
  }
  return typeof value === 'number' ? parseExplicitCost(value / MICROS_PER_USD) : null;
}

function sum(input: { readonly money: Money } | null, output: { readonly money: Money } | null): Money | null {
  if (input === null || output === null) return null;
  const total = input.money + output.money;
  return total < MONEY_LIMIT ? total : null;
}
