/** Expires the claims on traces and the monthly counters of the ledger, where no exporter maintains the tables. */
import { WAITING_PARTS } from '../../component/archived-day.ts';
import type { PostgresDatabase, SessionLimits } from '../../component/capabilities/postgres.ts';
import { expireClaims, expireUsage, MAINTENANCE_LOCK } from '../../component/ledger-expiry.ts';
import type { TimeObserver } from '../../component/observed-time.ts';
import { optionGroup } from '../../component/option-schema.ts';
import { DAY_MS, HOUR_MS } from '../../pdata/time-units.ts';

const DURATION = { type: 'integer', format: 'duration' } as const;

/** In milliseconds. */
export interface LedgerPeriods {
  readonly traces: number;
  readonly usage: number;
}

export const RETENTION_SCHEMA = optionGroup(
  'How long the ledger is kept. Beside an exporter `postgres`, its periods apply instead.',
  {
    traces: {
      ...DURATION,
      minimum: HOUR_MS,
      default: '30d',
      description:
        'How long a trace id stays with its project, from its first record; longer while a request that arrived no later waits for its publication.',
    },
    usage: {
      ...DURATION,
      minimum: 31 * DAY_MS,
      default: '400d',
      description: 'What was stored in each month, which quotas count.',
    },
  },
);

const LIMITS: SessionLimits = { statementTimeoutMs: 600_000, lockTimeoutMs: 100 };
/** A trace that is only in objects is found by its claim. */
const OLDEST_PART = `SELECT (extract(epoch FROM min(p.received_at)) * 1000)::float8 AS ms FROM ${WAITING_PARTS} p`;

/** Rejects when it fails; the next run continues. */
export async function expireLedger(
  database: PostgresDatabase,
  { traces, usage }: LedgerPeriods,
  { observer, signal }: { readonly observer: TimeObserver; readonly signal: AbortSignal },
): Promise<void> {
  const time = await observer.observe(database);
  await database.session({ ...LIMITS, signal }, async (query) => {
    if ((await query(MAINTENANCE_LOCK)).rows[0]?.['held'] !== true) return;
    const oldest = (await query(OLDEST_PART)).rows[0]?.['ms'] ?? null;
    await expireClaims(query, Math.min(time.cutoff(traces), oldest === null ? Infinity : Number(oldest)));
    await expireUsage(query, time.cutoff(usage));
  });
}
