/**
 * Parses durations in Go's form, plus days, to milliseconds, and sizes to bytes. Null means that the text has another
 * form.
 */

const DURATION_UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const SIZE_UNITS: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** A hundred years. Longer durations are mistakes and would overflow dates. */
const MAX_DURATION_MS = 100 * 365.25 * 86_400_000;
const MAX_LENGTH = 64;

export function parseDuration(text: string): number | null {
  if (text === '0') return 0;
  if (text.length > MAX_LENGTH || !/^(?:\d+(?:\.\d*)?(?:ns|us|µs|μs|ms|s|m|h|d))+$/u.test(text)) return null;
  let total = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d*)?)(ns|us|µs|μs|ms|s|m|h|d)/gu)) {
    total += Number(number) * (DURATION_UNITS[unit ?? ''] ?? Number.NaN);
  }
  return total <= MAX_DURATION_MS ? total : null;
}

export function parseByteSize(value: string | number): number | null {
  if (typeof value === 'number') return isSize(value) ? value : null;
  const match = value.length > MAX_LENGTH ? null : /^(\d+(?:\.\d+)?) ?([A-Za-z]*)$/u.exec(value);
  if (match === null) return null;
  const factor = match[2] === '' ? 1 : SIZE_UNITS[match[2] ?? ''];
  const bytes = Number(match[1]) * (factor ?? Number.NaN);
  return isSize(bytes) ? bytes : null;
}

/** The shortest exact form: 90000 → `90s`, 86400000 → `1d`. */
export function formatDuration(ms: number): string {
  const units = ['d', 'h', 'm', 's', 'ms'] as const;
  const unit = units.find((each) => ms !== 0 && ms % (DURATION_UNITS[each] ?? 1) === 0);
  return unit === undefined ? (ms === 0 ? '0s' : `${ms}ms`) : `${ms / (DURATION_UNITS[unit] ?? 1)}${unit}`;
}

export function formatByteSize(bytes: number): string {
  const units = ['TiB', 'GiB', 'MiB', 'KiB'] as const;
  const unit = units.find((each) => bytes !== 0 && bytes % (SIZE_UNITS[each] ?? 1) === 0);
  return unit === undefined ? String(bytes) : `${bytes / (SIZE_UNITS[unit] ?? 1)}${unit}`;
}

const isSize = (bytes: number): boolean => Number.isSafeInteger(bytes) && bytes >= 0;
