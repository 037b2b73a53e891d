/**
 * Measures the age of stored records. The database's clock may be set: from 1970 to today, or forty days ahead and
 * back. Time that no clock measured does not count for retention; otherwise a clock step would drop records that were
 * just acknowledged.
 */
import { uptime } from 'node:os';
import type { PostgresDatabase, Query } from './capabilities/postgres.ts';
import { inTransaction } from './in-transaction.ts';
import { DAY_MS } from '../pdata/time-units.ts';

/** A clock that is ahead by more than this since the last reading was set. */
const STEP_MS = 300000;
/**
 * The first reading of a process cannot distinguish a long pause from a wrong clock. A longer gap counts as a wrong
 * clock.
 */
const LONGEST_REST_MS = 7 * DAY_MS;
/** Older steps are beyond every retention, except on a machine whose clock is set constantly. */
const MAX_STEPS = 100;

/** The clock stepped from the first time to the second, later one. Unix milliseconds. */
export type ClockStep = readonly [number, number];

export interface ObservedTime {
  readonly nowMs: number;
  /** Records that were stored before the returned time are older than `periodMs`. */
  cutoff(periodMs: number): number;
}

interface State {
  readonly seenMs?: number;
  readonly steps?: readonly ClockStep[];
}

export class TimeObserver {
  /** Milliseconds since a fixed moment, independent of the clocks, including the time of a suspended machine. */
  readonly #elapsedMs: () => number;
  #last: { readonly nowMs: number; readonly elapsedMs: number } | null = null;

  constructor(elapsedMs: () => number = () => uptime() * 1000) {
    this.#elapsedMs = elapsedMs;
  }

  /** Reads the database's clock and compares it with the earlier readings of this process and others. */
  async observe(database: PostgresDatabase): Promise<ObservedTime> {
    const limits = { statementTimeoutMs: 10000, lockTimeoutMs: 5000 };
    return database.session(limits, (query) =>
      inTransaction(query, async () => {
        await query("INSERT INTO sluice.maintenance_state VALUES ('clock', '{}') ON CONFLICT DO NOTHING");
        const { rows } = await query(
          `SELECT state, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
           FROM sluice.maintenance_state WHERE name = 'clock' FOR UPDATE`,
        );
        const state = rows[0]?.['state'] as State;
        const nowMs = Number(rows[0]?.['now']);
        const elapsedMs = this.#elapsedMs();
        const step = stepOf(nowMs, state, this.#last, elapsedMs);
        const steps = [...(state.steps ?? []), ...(step === null ? [] : [step])].slice(-MAX_STEPS);
        const next: State = { seenMs: nowMs, steps };
        await query("UPDATE sluice.maintenance_state SET state = $1 WHERE name = 'clock'", [JSON.stringify(next)]);
        this.#last = { nowMs, elapsedMs };
        return observedTime(nowMs, steps);
      }),
    );
  }
}

/**
 * The time of the last observation: it cannot be known whether the clock was set since. Without any observation it is
 * the time of the clock. Records no observation.
 */
export async function lastObservedTime(query: Query): Promise<ObservedTime> {
  const { rows } = await query(
    `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
       (SELECT state FROM sluice.maintenance_state WHERE name = 'clock') AS state`,
  );
  const { seenMs = Infinity, steps = [] } = (rows[0]?.['state'] ?? {}) as State;
  return observedTime(Math.min(Number(rows[0]?.['now']), seenMs), steps);
}

const observedTime = (nowMs: number, steps: readonly ClockStep[]): ObservedTime => ({
  nowMs,
  cutoff: (periodMs) => cutoffOf(nowMs, periodMs, steps),
});

/** The step between now and the later of the two last readings: this process's own and that of any other. */
function stepOf(
  nowMs: number,
  { seenMs }: State,
  last: { readonly nowMs: number; readonly elapsedMs: number } | null,
  elapsedMs: number,
): ClockStep | null {
  if (last !== null) {
    const expectedMs = last.nowMs + elapsedMs - last.elapsedMs;
    // Another process may have recorded the step in the meantime.
    const beforeMs = Math.max(expectedMs, Math.min(seenMs ?? expectedMs, nowMs));
    return nowMs - beforeMs > STEP_MS ? [beforeMs, nowMs] : null;
  }
  if (seenMs === undefined || nowMs - seenMs <= LONGEST_REST_MS) return null;
  return [seenMs, nowMs];
}

/** Subtracts the period and skips every step. After a clock was set back, records only appear younger. */
export function cutoffOf(nowMs: number, periodMs: number, steps: readonly ClockStep[]): number {
  let [moment, left] = [nowMs, periodMs];
  for (const [before, after] of [...steps].sort(([, a], [, b]) => b - a)) {
    if (after > moment) continue;
    if (moment - after >= left) break;
    left -= moment - after;
    moment = before;
  }
  return moment - left;
}
