/** Numbers for people, in the form of the command line: durations, counts, money. */
import type { Count } from '../../../../pdata/exact-json.ts';
import {
  shortAge,
  shortBytes,
  shortCount,
  shortDuration,
  smallCost,
  trimZeros,
} from '../../../../pdata/short-numbers.ts';
import { NS_PER_MS } from '../../../../pdata/time-units.ts';

/** The text for an unknown value; never a zero. */
export const UNKNOWN = '–';

type Known<T> = T | null | undefined;

/** A duration, from nanoseconds. */
export function took(ns: Known<string | number>): string {
  return ns === null || ns === undefined ? UNKNOWN : tookMs(Number(ns) / NS_PER_MS);
}

export const tookMs = (ms: Known<number>): string => (ms === null || ms === undefined ? UNKNOWN : shortDuration(ms));

export const age = (ms: number): string => shortAge(ms, ' ', 'min');

/** 950, 1.2k, 15k, 3.4M. Beside it, `exactly` has all digits. */
export const count = (exact: Known<Count>): string =>
  exact === null || exact === undefined ? UNKNOWN : shortCount(Number(exact));

const grouped = new Intl.NumberFormat('en');

/** 12,345. */
export const exactly = (value: Known<Count>): string =>
  value === null || value === undefined ? UNKNOWN : grouped.format(value);

const grouped2 = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Dollars from a decimal string: cents for large sums, three significant digits for small ones. */
export function cost(exact: Known<string | number>): string {
  if (exact === null || exact === undefined) return UNKNOWN;
  const value = Number(exact);
  if (value === 0) return '$0';
  if (value >= 1) return `$${grouped2.format(value)}`;
  if (value >= 0.01) return `$${trimZeros(value.toFixed(4))}`;
  return smallCost(value);
}

/** All stored digits. */
export const exactCost = (exact: Known<string>): string => (exact == null ? UNKNOWN : `$${exact}`);

/** `3.5k (3.1k cached) → 412`. `write`: `exactly` for all digits. */
export function tokens(input: Known<Count>, cached: Known<Count>, output: Known<Count>, write = count): string {
  if ((input ?? null) === null && (output ?? null) === null) return UNKNOWN;
  const read = cached === null || cached === undefined || cached === 0 ? '' : ` (${write(cached)} cached)`;
  return `${write(input)}${read} → ${write(output)}`;
}

interface TokenSums {
  readonly input_tokens: Count | null;
  readonly cache_read_tokens: Count | null;
  readonly output_tokens: Count | null;
}

export const tokensOf = (sums: TokenSums, write = count): string =>
  tokens(sums.input_tokens, sums.cache_read_tokens, sums.output_tokens, write);

/** The text of `tokensOf` with exact figures, for a title. */
export const exactTokens = (sums: TokenSums): string => tokensOf(sums, exactly);

export const bytes = (size: Known<number | string>): string =>
  size === null || size === undefined ? UNKNOWN : shortBytes(Number(size));

/** `1 span`, `2 spans`. */
export const plural = (value: number, word: string): string =>
  `${exactly(value)} ${word}${value === 1 ? '' : word.endsWith('h') ? 'es' : 's'}`;
