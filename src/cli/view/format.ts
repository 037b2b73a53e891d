/** Formats numbers for people: durations, counts, money. Programs get the exact values with --json. */

const NS_PER_MS = 1_000_000;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const SMALL_DIGITS = 3;
/** The text for an unknown value; never a zero. */
export const UNKNOWN = '-';

/** A duration, from nanoseconds as a decimal string. */
export function formatTook(ns: string | null): string {
  if (ns === null) return UNKNOWN;
  const ms = Number(ns) / NS_PER_MS;
  if (ms === 0) return '0';
  if (ms < 1) return `${Math.max(1, Math.round(ms * 1000))}µs`;
  if (ms < 10) return `${trim(ms.toFixed(1))}ms`;
  if (ms < SECOND_MS) return `${Math.round(ms)}ms`;
  if (ms < MINUTE_MS) return `${trim((ms / SECOND_MS).toFixed(ms < 10 * SECOND_MS ? 2 : 1))}s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m${two(Math.floor((ms % MINUTE_MS) / SECOND_MS))}s`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)}h${two(Math.floor((ms % HOUR_MS) / MINUTE_MS))}m`;
  return `${Math.floor(ms / DAY_MS)}d${two(Math.floor((ms % DAY_MS) / HOUR_MS))}h`;
}

/** An age in its largest unit; "now" when the clock of the sender is ahead. */
export function formatAge(ms: number): string {
  if (ms < SECOND_MS) return 'now';
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)}s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)}h`;
  return `${Math.floor(ms / DAY_MS)}d`;
}

/** 950, 1.2k, 15k, 3.4M. */
export function formatCount(exact: number | bigint | null): string {
  if (exact === null) return UNKNOWN;
  const count = Number(exact);
  for (const [size, letter] of [
    [1e18, 'E'],
    [1e15, 'P'],
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const) {
    if (count >= size) return `${trim((count / size).toFixed(count < 10 * size ? 1 : 0))}${letter}`;
  }
  return String(count);
}

/** 8 KiB, 1.2 MiB, 34 GiB. */
export function formatBytes(bytes: number): string {
  for (const [size, unit] of [
    [2 ** 40, 'TiB'],
    [2 ** 30, 'GiB'],
    [2 ** 20, 'MiB'],
    [2 ** 10, 'KiB'],
  ] as const) {
    if (bytes >= size) return `${trim((bytes / size).toFixed(bytes < 10 * size ? 1 : 0))} ${unit}`;
  }
  return `${bytes} B`;
}

/** Dollars from a decimal string: cents for large sums, three significant digits for small ones. */
export function formatCost(cost: string | null): string {
  if (cost === null) return UNKNOWN;
  const value = Number(cost);
  if (value === 0) return '$0';
  if (value >= 100) return `$${value.toFixed(2)}`;
  if (value >= 0.01) return `$${value.toFixed(4)}`;
  const zeros = Math.floor(-Math.log10(value));
  return `$${trim(value.toFixed(Math.min(8, zeros + SMALL_DIGITS)))}`;
}

/** `1 span`, `2 spans`. */
export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

const trim = (digits: string): string => (digits.includes('.') ? digits.replace(/\.?0+$/u, '') : digits);
const two = (value: number): string => String(value).padStart(2, '0');
