/** Rates and durations of the last minute, from counters that are read repeatedly. */
import { useRef } from 'preact/hooks';
import type { StatusShape } from '../../api/shapes/management.ts';

const WINDOW_MS = 60_000;

type Counts = Readonly<Record<string, number>>;

export interface Reading {
  readonly uptimeSeconds: number;
  readonly signals: Readonly<Record<string, { readonly stored: number; readonly refused: number }>>;
  /** By the upper bound of a bucket, in seconds. */
  readonly commitTimes: Counts;
}

export const START: Reading = { uptimeSeconds: 0, signals: {}, commitTimes: {} };

/** The data of `sluice status`. Null: there is none, or it is of a version that does not report it. */
export function readingOf(daemon: StatusShape['daemon']): Reading | null {
  const { uptimeSeconds, signals, commitTimes } = (daemon ?? {}) as Partial<Reading>;
  if (uptimeSeconds === undefined || signals === undefined || commitTimes === undefined) return null;
  return { uptimeSeconds, signals, commitTimes };
}

/** The latest reading and one of about a minute before; at first, the start of the daemon. */
export function useRecent(latest: Reading | null): { readonly before: Reading; readonly latest: Reading } | null {
  const kept = useRef<readonly { readonly atMs: number; readonly reading: Reading }[]>([]);
  if (latest === null) return null;
  const last = kept.current.at(-1)?.reading;
  if (last !== latest) {
    // After a restart the counters begin again.
    const isSame = last !== undefined && last.uptimeSeconds <= latest.uptimeSeconds;
    const nowMs = Date.now();
    const recent = isSame ? kept.current.filter(({ atMs }) => nowMs - atMs < WINDOW_MS) : [];
    kept.current = [...recent, { atMs: nowMs, reading: latest }];
  }
  const [first] = kept.current;
  return { before: first === undefined || first.reading === latest ? START : first.reading, latest };
}

/** The duration below which a share of the new commits stayed, in milliseconds; null without any. */
export function commitMs(before: Reading, latest: Reading, share: number): number | null {
  const buckets = Object.entries(latest.commitTimes)
    .map(([bound, count]) => ({
      bound: Number(bound.replace('+Inf', 'Infinity')),
      count: count - (before.commitTimes[bound] ?? 0),
    }))
    .sort((a, b) => a.bound - b.bound);
  const wanted = share * buckets.reduce((sum, { count }) => sum + count, 0);
  if (wanted === 0) return null;
  let [seen, lower] = [0, 0];
  for (const { bound, count } of buckets) {
    if (seen + count >= wanted && count > 0) {
      // The bucket above the last limit gives that limit.
      const upper = Number.isFinite(bound) ? bound : lower;
      return 1000 * (lower + ((wanted - seen) / count) * (upper - lower));
    }
    seen += count;
    lower = bound;
  }
  return null;
}
