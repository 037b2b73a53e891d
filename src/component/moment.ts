/** Dates and times that people write. */

const NS_PER_MS = 1_000_000n;
/** What columns of PostgreSQL hold. */
const LATEST_NS = 2n ** 63n - 1n;
const RFC3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/iu;

/** Unix milliseconds of what `Date.parse` reads, but NaN for 30 February, which it reads as 2 March. */
export function parseMoment(text: string): number {
  const [date = '', day = ''] = /^\d{4}-\d\d-(\d\d)/u.exec(text) ?? [];
  const exists = date === '' || new Date(`${date}T00:00:00Z`).getUTCDate() === Number(day);
  return exists ? Date.parse(text) : Number.NaN;
}

/** Unix nanoseconds of a time in milliseconds, between 1970 and the last time that can be stored, in 2262. */
export function storableNs(ms: number): bigint {
  const ns = BigInt(Math.floor(ms)) * NS_PER_MS;
  return ns < 0n ? 0n : ns > LATEST_NS ? LATEST_NS : ns;
}

/** Unix nanoseconds of a time of RFC 3339 with up to nine digits of the second; null for another text. */
export function parseInstant(text: string): bigint | null {
  const [, second = '', fraction = '', zone = ''] = RFC3339.exec(text) ?? [];
  const ms = parseMoment((second + zone).toUpperCase());
  return Number.isNaN(ms) ? null : BigInt(ms) * NS_PER_MS + BigInt(fraction.padEnd(9, '0'));
}
