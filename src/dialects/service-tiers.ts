/** The words of senders for service tiers with prices of their own. Other words are ignored. */
import type { ServiceTier } from '../pdata/columns.ts';

export const SERVICE_TIER_WORDS: ReadonlyMap<string, ServiceTier | 'standard'> = new Map([
  ['auto', 'standard'],
  ['default', 'standard'],
  ['standard', 'standard'],
  ['standard_only', 'standard'],
  ['on_demand', 'standard'],
  ['normal', 'standard'],
  ['batch', 'batch'],
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['scale', 'scale'],
  ['fast', 'fast'],
]);
