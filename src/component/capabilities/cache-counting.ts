/**
 * Configured rules about how senders count: whether input tokens include the cached ones. The rules are options of
 * pricing, because they affect costs; `normalization` asks for them before it guesses.
 */
import type { Capability } from './capability.ts';

export interface CacheCounting {
  /** True or false when a rule applies; null when the data of the sender must decide. */
  inclusive(scope: string | null, provider: string | null): boolean | null;
}

/** By the id of the component that has the rules. The first answer counts. */
export const CACHE_COUNTING: Capability<Map<string, CacheCounting>> = { name: 'cache counting' };
