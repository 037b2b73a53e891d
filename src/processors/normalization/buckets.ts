/**
 * Usage documents with buckets that do not overlap: `input` is the input without the tokens of every other `input_…`
 * bucket; `output` likewise. Documents that forward the usage of a provider have no such buckets and are not read here.
 */
import { countOfValue } from './numbers.ts';
import type { SentUsage } from './usage.ts';

/** Further buckets are ignored. */
const MAX_BUCKETS = 64;
const RAW_KEYS = ['prompt_tokens', 'input_tokens', 'promptTokens', 'inputTokens'];

/** Buckets of the input whose names do not begin with `input_`. */
const CACHE_BUCKETS: ReadonlySet<string> = new Set([
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_write_input_tokens',
]);
const LIFETIME = 'ephemeral';
const CACHE_WRITE_SUMS = ['input_cache_creation', 'cache_creation_input_tokens', 'input_cache_write'];

function hasCacheWrites(buckets: Readonly<Record<string, unknown>>): boolean {
  return CACHE_WRITE_SUMS.some((name) => Object.hasOwn(buckets, name));
}

/** Replaces the counts when the document has buckets. */
export function readBuckets(document: unknown, usage: SentUsage): void {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return;
  const buckets = document as Record<string, unknown>;
  if (RAW_KEYS.some((key) => Object.hasOwn(buckets, key))) return;
  const input = sumOf(buckets, 'input');
  const output = sumOf(buckets, 'output');
  if (!Number.isNaN(input)) usage.input = input;
  if (!Number.isNaN(output)) usage.output = output;
  usage.cacheProof = 'inside';
  usage.reasoningProof = 'inside';
}

function sumOf(buckets: Readonly<Record<string, unknown>>, side: string): number {
  const main = countOfValue(buckets[side]);
  let sum = main;
  for (const [name, value] of Object.entries(buckets).slice(0, MAX_BUCKETS)) {
    const count = countOfValue(value);
    if (Number.isNaN(count) || !(name.startsWith(`${side}_`) || (side === 'input' && CACHE_BUCKETS.has(name))))
      continue;
    // The buckets of cache writes by lifetime repeat their sum.
    if (name.includes(LIFETIME) && hasCacheWrites(buckets)) continue;
    sum = (Number.isNaN(sum) ? 0 : sum) + count;
  }
  return Number.isSafeInteger(sum) ? sum : Number.NaN;
}
