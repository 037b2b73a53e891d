/** A period's prices times a factor: what is borrowed at a discount, and tiers of service. Throws a `RangeError` where a rate gets too large. */
import type { PeriodDraft, TableDraft } from './card.ts';
import type { Decimal } from './decimal.ts';
import { type Rates, scaleRate } from './rates.ts';

export function scalePeriod(period: PeriodDraft, factor: Decimal): PeriodDraft {
  const rates = (stated: Rates): Rates =>
    Object.fromEntries(
      Object.entries(stated).map(([key, rate]) => {
        const scaled = scaleRate(rate, factor);
        if (scaled === null) throw new RangeError(key);
        return [key, scaled];
      }),
    );
  const table = <T extends TableDraft>(draft: T): T => ({
    ...draft,
    rates: rates(draft.rates),
    tiers: draft.tiers.map((tier) => ({ above: tier.above, rates: rates(tier.rates) })),
  });
  return { ...table(period), windows: period.windows.map(table) };
}
