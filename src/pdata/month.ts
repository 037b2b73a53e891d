/** The calendar of the quota: UTC months. */

/** `2026-11` for any moment of November 2026. */
export function monthOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7);
}

/** Whole seconds until the next UTC month begins, at least 1. */
export function nextMonthSeconds(nowMs: number): number {
  const now = new Date(nowMs);
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  return Math.max(1, Math.ceil((next - nowMs) / 1000));
}
