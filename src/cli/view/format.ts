/** Formats numbers for people: durations, counts, money. Programs get the exact values with --json. */
import { shortAge, shortBytes, shortCount, shortDuration, smallCost } from '../../pdata/short-numbers.ts';
import { NS_PER_MS } from '../../pdata/time-units.ts';

const SHORT_ID_DIGITS = 12;
/** The text for an unknown value; never a zero. */
export const UNKNOWN = '-';

/** A duration, from nanoseconds as a decimal string. */
export const formatTook = (ns: string | null): string =>
  ns === null ? UNKNOWN : shortDuration(Number(ns) / NS_PER_MS);

export const formatAge = (ms: number): string => shortAge(ms);

export const formatCount = (exact: number | bigint | null): string =>
  exact === null ? UNKNOWN : shortCount(Number(exact));

export const formatBytes = shortBytes;

/** Dollars from a decimal string: cents for large sums, three significant digits for small ones. */
export function formatCost(cost: string | null): string {
  if (cost === null) return UNKNOWN;
  const value = Number(cost);
  if (value === 0) return '$0';
  if (value >= 100) return `$${value.toFixed(2)}`;
  if (value >= 0.01) return `$${value.toFixed(4)}`;
  return smallCost(value);
}

/** The first digits of an id of a trace. Commands accept them instead of the id. */
export const shortId = (id: string): string => id.slice(0, SHORT_ID_DIGITS);

/** `1 span`, `2 spans`. */
export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
