/** The usage of a model call, read from the numbers of its derived row. */
import type { Batch } from '../../pdata/batch.ts';
import { SERVICE_TIERS } from '../../pdata/columns.ts';
import * as layout from '../../pdata/layout.ts';
import type { Usage } from './usage.ts';

/** False when no token count is known. */
export function readUsage({ derived }: Batch, usage: Required<Usage>): boolean {
  usage.inputTokens = numberOrNull(derived.number(layout.NUMBER_INPUT_TOKENS));
  usage.outputTokens = numberOrNull(derived.number(layout.NUMBER_OUTPUT_TOKENS));
  if (usage.inputTokens === null && usage.outputTokens === null) return false;
  usage.cacheReadTokens = numberOrNull(derived.number(layout.NUMBER_CACHE_READ_TOKENS));
  usage.cacheWriteTokens = numberOrNull(derived.number(layout.NUMBER_CACHE_WRITE_TOKENS));
  usage.cacheWrite1hTokens = numberOrNull(derived.number(layout.NUMBER_CACHE_WRITE_1H_TOKENS));
  usage.reasoningTokens = numberOrNull(derived.number(layout.NUMBER_REASONING_TOKENS));
  usage.cacheReadAudioTokens = numberOrNull(derived.number(layout.NUMBER_AUDIO_CACHE_READ_TOKENS));
  usage.inputAudioTokens = freshAudio(derived.number(layout.NUMBER_AUDIO_INPUT_TOKENS), usage.cacheReadAudioTokens);
  usage.outputAudioTokens = numberOrNull(derived.number(layout.NUMBER_AUDIO_OUTPUT_TOKENS));
  usage.inputImageTokens = numberOrNull(derived.number(layout.NUMBER_IMAGE_INPUT_TOKENS));
  usage.outputImageTokens = numberOrNull(derived.number(layout.NUMBER_IMAGE_OUTPUT_TOKENS));
  usage.serviceTier = SERVICE_TIERS[derived.number(layout.NUMBER_SERVICE_TIER)] ?? null;
  return true;
}

/** Senders that count cached audio include it in the audio count. */
const freshAudio = (all: number, cached: number | null): number | null =>
  Number.isNaN(all) ? null : Math.max(all - (cached ?? 0), 0);
const numberOrNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

export function emptyUsage(): Required<Usage> {
  return {
    inputTokens: null,
    outputTokens: null,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    cacheWrite1hTokens: null,
    reasoningTokens: null,
    inputAudioTokens: null,
    cacheReadAudioTokens: null,
    inputImageTokens: null,
    outputAudioTokens: null,
    outputImageTokens: null,
    serviceTier: null,
  };
}
