/** The options of the pricing processor as a config file states them; `options-schema.ts` documents and checks them. */
import type { ServiceTier } from '../../pdata/columns.ts';
import type { RateKey } from './rates.ts';

export interface PricingOptions {
  readonly enabled?: boolean;
  /** `bundled`, `none`, or the path of a data file. */
  readonly catalogue?: string;
  readonly supplement?: boolean;
  readonly inclusive_rules?: readonly InclusiveRule[];
  readonly overrides?: readonly PriceEntry[];
}

export interface InclusiveRule {
  readonly scope?: string;
  readonly provider?: string;
  readonly inclusive: boolean;
}

export interface PriceEntry {
  readonly id: string;
  readonly match: { readonly provider?: string | readonly string[]; readonly model: ModelMatch };
  readonly source?: string;
  readonly checked?: string;
  readonly note?: string;
  readonly prices?: readonly EntryPrice[];
  readonly use?: { readonly provider: string; readonly model: string };
  readonly multiplier?: string | number;
  readonly service_tiers?: { readonly [tier in ServiceTier]?: { readonly multiplier: string | number } };
}

export type ModelMatch = string | readonly string[] | { readonly prefix: string } | { readonly regex: string };
export type EntryRates = { readonly [key in RateKey]?: string | number };

export interface EntryTier {
  readonly above_input_tokens: number;
  readonly rates: EntryRates;
}

export interface EntryWindow {
  readonly days?: readonly string[];
  readonly utc: string;
  readonly rates: EntryRates;
  readonly tiers?: readonly EntryTier[];
}

export interface EntryPrice {
  readonly from?: string;
  readonly until?: string;
  readonly rates: EntryRates;
  readonly tiers?: readonly EntryTier[];
  readonly windows?: readonly EntryWindow[];
}

/** Sunday first: the position is the bit of the day. */
export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
