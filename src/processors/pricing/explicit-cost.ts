/**
 * The cost that a record states itself. A value must fit the stored `numeric(18,8)`: numbers are rounded, strings must
 * already fit. Of several attributes, the first valid one in order of precedence counts.
 */
import type { StatedCandidate } from '../../component/capabilities/derivations.ts';
import { MONEY_DIGITS, MONEY_LIMIT, type Money } from '../../pdata/money.ts';
import { atScale, decimalOfNumber } from './decimal.ts';
import type { CostCandidate, StatedCosts } from './explicit-cost-keys.ts';

/** Ten integer digits and eight fractional ones; leading zeros do not count. */
const COST_TEXT = /^0*(\d{1,10})(?:\.(\d{1,8}))?$/;
/** Longer strings are not costs; the limit bounds the work on a hostile attribute. */
const COST_TEXT_LENGTH = 64;
const MONEY_UNIT = 10n ** BigInt(MONEY_DIGITS);

/**
 * The cost in whole 1e-8 USD, or null when the value is no cost: the caller then tries the next alias. A number is
 * taken at its shortest decimal, rounded half away from zero to 8 digits, then checked against 10^10. A string must be
 * plain decimal with at most 8 fractional digits: no sign, no exponent. A bigint is a count of whole dollars. Zero is a
 * valid cost.
 */
export function parseExplicitCost(value: number | string | bigint): Money | null {
  const money =
    typeof value === 'number'
      ? moneyOfNumber(value)
      : typeof value === 'string'
        ? moneyOfText(value)
        : value * MONEY_UNIT;
  return money !== null && money >= 0n && money < MONEY_LIMIT ? money : null;
}

function moneyOfNumber(value: number): Money | null {
  return Number.isFinite(value) && value >= 0 ? atScale(decimalOfNumber(value), MONEY_DIGITS) : null;
}

function moneyOfText(value: string): Money | null {
  if (value.length > COST_TEXT_LENGTH) return null;
  const match = COST_TEXT.exec(value.trim());
  if (match === null) return null;
  return BigInt(`${match[1]}${(match[2] ?? '').padEnd(MONEY_DIGITS, '0')}`);
}

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
 * Null when no candidate is valid. Two sides without a total add up to one. A sum over other records is not the cost of
 * a record with usage of its own: `ownUsage` leaves those out.
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
  for (const { attribute, value, aggregate, unpriced } of candidates) {
    if (unpriced || (aggregate && ownUsage)) continue;
    const money = parseExplicitCost(value);
    if (money !== null) return { money, attribute };
  }
  return null;
}

/** Every stated cost with its side, and why it was not used. */
export function explainStatedCosts(costs: StatedCosts, ownUsage: boolean): StatedCandidate[] {
  return (['total', 'input', 'output'] as const).flatMap((side) => {
    const used = costs[side].find((each) => firstValid([each], ownUsage) !== null);
    return costs[side].map((each) => ({
      side,
      attribute: each.attribute,
      value: String(each.value),
      reason: each === used ? null : reasonOf(each, ownUsage, used?.attribute ?? null),
    }));
  });
}

function reasonOf(candidate: CostCandidate, ownUsage: boolean, used: string | null): string {
  if (parseExplicitCost(candidate.value) === null) return 'it is no cost that can be stored';
  if (candidate.unpriced) return 'this sender states 0 for a model without a price';
  if (candidate.aggregate && ownUsage) return 'it is a sum over other records';
  return `${used ?? 'another'} comes first`;
}

function sum(input: Accepted | null, output: Accepted | null): Money | null {
  if (input === null || output === null) return null;
  const total = input.money + output.money;
  return total < MONEY_LIMIT ? total : null;
}
