/**
 * Decides when a failed entry is sent again, and when it is given up. Pure functions: the clock and the random number
 * are arguments.
 */
import { HOUR_MS } from '../../pdata/time-units.ts';

/** The Collector's names; milliseconds. */
export interface RetryOptions {
  readonly enabled: boolean;
  readonly initial_interval: number;
  readonly max_interval: number;
  readonly multiplier: number;
  readonly randomization_factor: number;
  /** 0: never given up. */
  readonly max_elapsed_time: number;
}

/** The upper limit of a remote's `Retry-After`. */
export const MAX_RETRY_AFTER_MS = HOUR_MS;

export interface Failure {
  /** Attempts so far, including this one. */
  readonly attempts: number;
  readonly nowMs: number;
  readonly firstAttemptMs: number;
  /** The remote's `Retry-After`; null when absent. */
  readonly retryAfterMs: number | null;
}

/** Unix milliseconds of the next attempt; null to give up. `chance` is in [0, 1). */
export function nextAttempt(options: RetryOptions, failure: Failure, chance: number): number | null {
  if (!options.enabled) return null;
  const asked = Math.min(failure.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  const next = failure.nowMs + Math.max(asked, backoff(options, failure.attempts, chance));
  const isOver = options.max_elapsed_time > 0 && next - failure.firstAttemptMs > options.max_elapsed_time;
  return isOver ? null : next;
}

/** A next attempt that is later than this was set by a clock that has been corrected since. */
export function longestPause({ max_interval: interval, randomization_factor: factor }: RetryOptions): number {
  return Math.max(MAX_RETRY_AFTER_MS, Math.ceil(interval * (1 + factor)));
}

function backoff(options: RetryOptions, attempts: number, chance: number): number {
  const grown = options.initial_interval * options.multiplier ** Math.max(0, attempts - 1);
  const interval = Math.min(grown, options.max_interval);
  return Math.round(interval * (1 + options.randomization_factor * (2 * chance - 1)));
}

/** The value of `Retry-After`, seconds or a date; null when it is neither. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = /[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
