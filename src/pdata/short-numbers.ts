/** Numbers in few characters, as the command line and the console show them: durations, ages, counts, sizes, costs. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './time-units.ts';

const THOUSANDS = [
  [1e18, 'E'],
  [1e15, 'P'],
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;
const BYTES = [
  [2 ** 40, ' TiB'],
  [2 ** 30, ' GiB'],
  [2 ** 20, ' MiB'],
  [2 ** 10, ' KiB'],
] as const;

/** From this part of a unit on, a number is 1 in it when it is rounded. */
const ROUNDED_UP = 0.9995;

/** 40ns, 350µs, 1.5ms, 12s, 2m05s, 3d04h. */
export function shortDuration(ms: number): string {
  if (ms === 0) return '0';
  if (ms < ROUNDED_UP / 1000) return `${Math.round(ms * 1e6)}ns`;
  if (ms < ROUNDED_UP) return `${Math.round(ms * 1000)}µs`;
  if (ms < 10) return `${trimZeros(ms.toFixed(1))}ms`;
  if (ms < SECOND_MS * ROUNDED_UP) return `${Math.round(ms)}ms`;
  if (ms < MINUTE_MS) return `${trimZeros((ms / SECOND_MS).toFixed(ms < 10 * SECOND_MS ? 2 : 1))}s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m${two(Math.floor((ms % MINUTE_MS) / SECOND_MS))}s`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)}h${two(Math.floor((ms % HOUR_MS) / MINUTE_MS))}m`;
  return `${Math.floor(ms / DAY_MS)}d${two(Math.floor((ms % DAY_MS) / HOUR_MS))}h`;
}

/** An age in its largest unit; "now" when the clock of the sender is ahead. */
export function shortAge(ms: number, gap = '', minute = 'm'): string {
  if (ms < SECOND_MS) return 'now';
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)}${gap}s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}${gap}${minute}`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)}${gap}h`;
  return `${Math.floor(ms / DAY_MS)}${gap}d`;
}

/** A cost below a cent: three significant digits. Only zero is shown as zero. */
export const smallCost = (dollars: number): string =>
  `$${trimZeros(dollars.toFixed(Math.min(100, 3 - Math.ceil(Math.log10(dollars)))))}`;

/** 950, 1.2k, 15k, 3.4M. */
export const shortCount = (count: number): string => inUnits(count, THOUSANDS) ?? String(count);

/** 8 KiB, 1.2 MiB, 34 GiB. */
export const shortBytes = (bytes: number): string => inUnits(bytes, BYTES) ?? `${bytes} B`;

function inUnits(value: number, units: readonly (readonly [number, string])[]): string | null {
  for (const [size, unit] of units) {
    if (value >= size * ROUNDED_UP) return `${trimZeros((value / size).toFixed(value < 10 * size ? 1 : 0))}${unit}`;
  }
  return null;
}

/** Without the zeros at the end of a decimal fraction. */
export const trimZeros = (digits: string): string => (digits.includes('.') ? digits.replace(/\.?0+$/u, '') : digits);
const two = (value: number): string => String(value).padStart(2, '0');
