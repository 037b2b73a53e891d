/**
 * Money is a bigint in units of 1e-8 US dollars, the unit of the stored `numeric(18,8)` columns, so amounts are never
 * rounded twice.
 */
export type Money = bigint;

/** Fractional digits of the stored cost columns. */
export const MONEY_DIGITS = 8;
/** Exclusive bound: a cost has at most ten integer digits. */
export const MONEY_LIMIT: Money = 10n ** 18n;

/** `12345678900n` → `"123.45678900"`: always eight digits, as Postgres prints `numeric(18,8)`. */
export function formatMoney(money: Money): string {
  const digits = money.toString().padStart(MONEY_DIGITS + 1, '0');
  return `${digits.slice(0, -MONEY_DIGITS)}.${digits.slice(-MONEY_DIGITS)}`;
}
