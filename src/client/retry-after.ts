/** The `Retry-After` header (RFC 9110, 10.2.3): seconds, or a date. */

/** Milliseconds to wait, or undefined without a readable value. A date in the past is zero. */
export function retryAfterMs(value: string | undefined, wallMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/u.test(text)) return Number(text) * 1000;
  // Dates have words. Date.parse also reads numbers as years.
  const date = /[a-z]/iu.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - wallMs);
}
