/**
 * Usage documents whose buckets do not overlap: `input` is what is left of the input when every other `input_…` bucket is taken
 * out, `output` likewise. Documents that pass a provider's own usage on are no buckets and are left alone.
 */
import { countOfValue } from './numbers.ts';
import type { SentUsage } from './usage.ts';

/** More buckets than this are not looked at. */
const MAX_BUCKETS = 64;
const RAW_KEYS = ['prompt_tokens', 'input_tokens', 'promptTokens', 'inputTokens'];

/** Completes the counts when the document is one of buckets. */
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
    if (!name.startsWith(`${side}_`) || Number.isNaN(count)) continue;
    sum = (Number.isNaN(sum) ? 0 : sum) + count;
  }
  return Number.isSafeInteger(sum) ? sum : Number.NaN;
}
