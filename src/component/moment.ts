/** Dates and times that people write. */
import { MS_NS } from '../pdata/time-units.ts';

/** The highest time that a column of PostgreSQL can hold, in Unix nanoseconds. */
export const LATEST_NS = 2n ** 63n - 1n;
const ISO_8601 = /^(?:(\d{4}-\d\d-(\d\d))(?:[T ]\d.*(?:Z|[+-]\d\d:?\d\d))?|\d{4}(?:-\d\d)?)$/iu;
const RFC3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/iu;

/**
 * Unix milliseconds of an ISO 8601 date or time, also of a year or month alone, which begin in UTC. NaN for another
 * text, for a time of a day without its zone, which `Date.parse` reads in the zone of the process, and for 30 February,
 * which it reads as 2 March.
 */
export function parseMoment(text: string): number {
  const [written, date, day] = ISO_8601.exec(text) ?? [];
  if (written === undefined) return Number.NaN;
  const exists = date === undefined || new Date(`${date}T00:00:00Z`).getUTCDate() === Number(day);
  return exists ? Date.parse(text) : Number.NaN;
}

/** The nearest time that can be stored, between 1970 and 2262. */
export const withinStorable = (ns: bigint): bigint => (ns < 0n ? 0n : ns > LATEST_NS ? LATEST_NS : ns);

/** Unix nanoseconds of a time of RFC 3339 with up to nine digits of the second; null for another text. */
export function parseInstant(text: string): bigint | null {
  const [, second = '', fraction = '', zone = ''] = RFC3339.exec(text) ?? [];
  const ms = parseMoment((second + zone).toUpperCase());
  return Number.isNaN(ms) ? null : BigInt(ms) * MS_NS + BigInt(fraction.padEnd(9, '0'));
}
