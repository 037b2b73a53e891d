/** Times and ranges. Nanoseconds are decimal strings; a range is kept relative as long as the reader wants it so. */
import { DAY_MS, HOUR_MS, MINUTE_MS, MS_NS, SECOND_MS } from '../../../../pdata/time-units.ts';
import { zone } from '../state/settings.ts';
import { visible } from './visible.ts';

/** The units of ranges and intervals. */
export const UNIT_MS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };
export const DEFAULT_FROM = '-24h';
const RELATIVE = /^-(\d{1,6})([mhd])$/u;

export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

export const msOf = (ns: string): number => Number(BigInt(ns) / MS_NS);
export const nsOf = (ms: number): string => String(BigInt(Math.floor(ms)) * MS_NS);

/** A date, which begins in UTC, or a time with its zone. Without one it would be another time for each reader. */
const MOMENT = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/iu;
/** Milliseconds since 1970. Longer ones are nanoseconds. */
const OWN_DIGITS = /^\d{1,14}$/u;

/** `-1h`, a moment, or milliseconds or nanoseconds since 1970; null for anything else. */
function pointOf(text: string, nowMs: number): number | null {
  if (text === 'now') return nowMs;
  const relative = RELATIVE.exec(text);
  if (relative !== null) return nowMs - Number(relative[1]) * (UNIT_MS[relative[2] ?? ''] ?? 0);
  if (/^\d{1,19}$/u.test(text)) return Number(OWN_DIGITS.test(text) ? text : text.slice(0, -6));
  const ms = MOMENT.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

export function rangeOf(from: string | null, to: string | null, nowMs: number): Range {
  const toMs = pointOf(to || 'now', nowMs) ?? nowMs;
  const fromMs = pointOf(from || DEFAULT_FROM, nowMs) ?? nowMs - DAY_MS;
  return { fromMs: Math.min(fromMs, toMs), toMs };
}

/** Whether this page writes times in this form. The API reads or refuses all other forms. */
const isOwn = (text: string): boolean => text === 'now' || RELATIVE.test(text) || OWN_DIGITS.test(text);

/** The limits of a range. Those that the page writes become moments. `write` formats one in milliseconds. */
export function limitsOf(from: string | null, to: string | null, write: (ms: number) => string): [string, string] {
  const { fromMs, toMs } = rangeOf(from, to, Date.now());
  const limitOf = (text: string, ms: number): string => (isOwn(text) ? write(ms) : text);
  return [limitOf(from || DEFAULT_FROM, fromMs), limitOf(to || 'now', toMs)];
}

/** `2026-11-20 14:05:09.123` in the chosen zone. */
export function dateTime(ms: number, withMs = true): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return '–';
  const shifted = zone.value === 'utc' ? date : new Date(ms - date.getTimezoneOffset() * 60_000);
  const text = shifted.toISOString().replace('T', ' ').replace('Z', '');
  return withMs ? text : text.slice(0, -4);
}

/** The time alone for a moment of today, else with the date; with the year when it is another one. */
export function shortTime(ms: number): string {
  const [text, now] = [dateTime(ms, false), dateTime(Date.now(), false)];
  if (text.slice(0, 10) === now.slice(0, 10)) return text.slice(11);
  return text.slice(text.slice(0, 4) === now.slice(0, 4) ? 5 : 0, 16);
}

/** `UTC+2`: what the chosen zone has at that time, which summer time changes. */
export function zoneName(ms = Date.now()): string {
  if (zone.value === 'utc') return 'UTC';
  const minutes = -new Date(ms).getTimezoneOffset();
  const hours = Math.floor(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  if (minutes === 0) return 'UTC+0';
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}

export const PRESETS = ['-15m', '-1h', '-6h', '-24h', '-7d', '-30d'];

export function rangeName(from: string | null, to: string | null): string {
  const start = from || DEFAULT_FROM;
  const untilNow = (to || 'now') === 'now';
  const relative = RELATIVE.exec(start);
  if (untilNow && relative !== null) {
    const [, length, unit = ''] = relative;
    return `last ${length} ${{ m: 'min', h: 'h' }[unit] ?? (length === '1' ? 'day' : 'days')}`;
  }
  const nameOf = (text: string): string => {
    const ms = pointOf(text, Date.now());
    return ms === null ? visible(text) : shortTime(ms);
  };
  return `${nameOf(start)} – ${untilNow ? 'now' : nameOf(to ?? '')}`;
}
