/**
 * What users say of how their senders count: whether input tokens include the cached ones. It stands with the options of pricing,
 * because it decides over money; who reads the counts asks before guessing.
 */
import type { Capability } from './capability.ts';

export interface CacheCounting {
  /** True or false where a rule says so, null where the sender has to be judged by its data. */
  inclusive(scope: string | null, provider: string | null): boolean | null;
}

/** By the id of the component that brings the rules; the first answer counts. */
export const CACHE_COUNTING: Capability<Map<string, CacheCounting>> = { name: 'cache counting' };
