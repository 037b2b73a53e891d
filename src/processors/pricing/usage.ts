/**
 * A model call's token counts and their split into disjoint buckets, each of which has one rate. Counts arrive
 * canonical (input includes cached tokens, output includes reasoning). Counts that contradict this are read as the
 * sender must have meant them.
 */

import type { ServiceTier } from '../../pdata/columns.ts';

/** Null and absent both mean "not reported". */
export interface Usage {
  /** All tokens of the prompt, cached ones included. */
  inputTokens: number | null;
  /** All generated tokens, reasoning included. */
  outputTokens: number | null;
  cacheReadTokens?: number | null;
  /** Tokens written to a cache, one-hour writes included. */
  cacheWriteTokens?: number | null;
  cacheWrite1hTokens?: number | null;
  reasoningTokens?: number | null;
  /** Audio of the prompt that was not read from a cache. */
  inputAudioTokens?: number | null;
  /** The audio among the tokens read from a cache. */
  cacheReadAudioTokens?: number | null;
  inputImageTokens?: number | null;
  outputAudioTokens?: number | null;
  outputImageTokens?: number | null;
  /** Null: the standard tier of service, or not sent. */
  serviceTier?: ServiceTier | null;
}

/** The assumptions of a derived cost; bits of `Cost.flags`. */
export const COST_FLAGS = {
  /** Cached tokens exceed input, so input cannot include them: both are billed in full. */
  cache_outside_input: 1,
  /** Reasoning, audio and image tokens exceed output, so output cannot include them: all are billed in full. */
  parts_outside_output: 2,
  /** The card has no rate of its own for audio; the text rate was used. */
  audio_at_text_rate: 4,
  /** The card has no one-hour rate for cache writes; the five-minute rate was used. */
  no_1h_rate: 8,
  /** Rates depend on the prompt's size, which was not reported: the output side stays unpriced. */
  tier_unknown: 16,
  /** A cost of 10^10 USD or more was refused. */
  over_limit: 32,
  /** The card has no rate of its own for images; the text rate was used. */
  image_at_text_rate: 64,
  /** The card has no rates for the tier of service; the standard ones were used. */
  service_at_standard_rate: 128,
} as const;
export type CostFlag = keyof typeof COST_FLAGS;

/** The names of the set bits. */
export function namesOfFlags(flags: number): CostFlag[] {
  return (Object.keys(COST_FLAGS) as CostFlag[]).filter((name) => (flags & COST_FLAGS[name]) !== 0);
}

/** A count that is a safe, non-negative integer; -1 for every other value, so that the hot path stays on numbers. */
function known(count: number | null | undefined): number {
  return typeof count === 'number' && count >= 0 && Number.isSafeInteger(count) ? count : -1;
}

/** A part of another count; zero when it is not reported. */
function part(count: number | null | undefined): number {
  const value = known(count);
  return Math.max(value, 0);
}

/** The buckets of one usage. One object serves any number of spans: `split` overwrites it. */
export class Buckets {
  inputKnown = false;
  outputKnown = false;
  /** Tokens of the whole prompt: decides the tier. */
  prompt = 0;
  input = 0;
  cacheRead = 0;
  cacheWrite = 0;
  cacheWrite1h = 0;
  inputAudio = 0;
  cacheAudioRead = 0;
  inputImage = 0;
  output = 0;
  reasoning = 0;
  outputAudio = 0;
  outputImage = 0;
  flags = 0;

  split(usage: Usage): void {
    this.flags = 0;
    this.#splitInput(usage);
    this.#splitOutput(usage);
  }

  #splitInput(usage: Usage): void {
    const total = known(usage.inputTokens);
    this.inputKnown = total >= 0;
    const read = part(usage.cacheReadTokens);
    const write1h = part(usage.cacheWrite1hTokens);
    const write = Math.max(part(usage.cacheWriteTokens), write1h);
    let plain = Math.max(total, 0) - read - write;
    if (plain < 0) {
      plain = Math.max(total, 0);
      this.flags |= COST_FLAGS.cache_outside_input;
    }
    this.prompt = plain + read + write;
    this.cacheAudioRead = Math.min(part(usage.cacheReadAudioTokens), read);
    this.cacheRead = read - this.cacheAudioRead;
    this.cacheWrite1h = write1h;
    this.cacheWrite = write - write1h;
    this.inputAudio = Math.min(part(usage.inputAudioTokens), plain);
    this.inputImage = Math.min(part(usage.inputImageTokens), plain - this.inputAudio);
    this.input = plain - this.inputAudio - this.inputImage;
  }

  #splitOutput(usage: Usage): void {
    const total = known(usage.outputTokens);
    this.outputKnown = total >= 0;
    this.reasoning = part(usage.reasoningTokens);
    this.outputAudio = part(usage.outputAudioTokens);
    this.outputImage = part(usage.outputImageTokens);
    this.output = Math.max(total, 0) - this.reasoning - this.outputAudio - this.outputImage;
    if (this.output < 0) {
      this.output = Math.max(total, 0);
      this.flags |= COST_FLAGS.parts_outside_output;
    }
  }
}
