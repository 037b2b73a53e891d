/**
 * How old stored records are. The database's clock may be set: from 1970 to today, forty days ahead and back again. Time that no
 * clock saw pass does not count for retention, or a step of the clock would drop what was just acknowledged.
 */
import type { PostgresDatabase } from '../../component/capabilities/postgres.ts';
import { inTransaction } from './partitions.ts';

/** A clock that ran ahead by more than this since the last look was set. */
const STEP_MS = 300000;
/** The first look of a process cannot tell a long rest from a wrong clock: beyond this it assumes the latter. */
const LONGEST_REST_MS = 7 * 86400000;
/** Older steps are past every retention, except on a machine whose clock is set all the time. */
const MAX_STEPS = 100;

/** The clock stood at the first figure, and next at the second, which is later. Unix milliseconds. */
export type ClockStep = readonly [number, number];

export interface ObservedTime {
  readonly nowMs: number;
  /** What was stored before the moment returned is older than `periodMs`. */
  cutoff(periodMs: number): number;
}

interface State {
  readonly seenMs?: number;
  readonly steps?: readonly ClockStep[];
}

export class TimeObserver {
  /** Milliseconds that passed since some moment, whatever the clocks say, a suspended machine included. */
  readonly #elapsedMs: () => number;
  #last: { readonly nowMs: number; readonly elapsedMs: number } | null = null;

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Looks at the database's clock and compares it with what this process and others have seen before. */
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
        return { nowMs, cutoff: (periodMs) => cutoffOf(nowMs, periodMs, steps) };
      }),
    );
  }
}

/** Between the later of the two looks, this process's own and that of any other, and now. */
function stepOf(
  nowMs: number,
  { seenMs }: State,
  last: { readonly nowMs: number; readonly elapsedMs: number } | null,
  elapsedMs: number,
): ClockStep | null {
  if (last !== null) {
    const expectedMs = last.nowMs + elapsedMs - last.elapsedMs;
    // Another process may have noted the step since.
    const beforeMs = Math.max(expectedMs, Math.min(seenMs ?? expectedMs, nowMs));
    return nowMs - beforeMs > STEP_MS ? [beforeMs, nowMs] : null;
  }
  if (seenMs === undefined || nowMs - seenMs <= LONGEST_REST_MS) return null;
  return [seenMs, nowMs];
}

/** Goes back by the period, over every step in one stride. A clock that was set back only makes things look younger. */
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
