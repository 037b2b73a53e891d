/**
 * The ledger for a daemon without a database: the same outcomes as the Postgres ledger, within one process. Its memory
 * is bounded and begins at the start of the process: after a restart a repeated body is stored again, and the quota
 * begins at zero.
 */
import { hash } from 'node:crypto';
import type { Claim, TransactionHandle, Ledger, Quota, Outcome } from '../../component/capabilities/ledger.ts';
import { Rejection } from '../../errors.ts';
import { OwnedTraces, type TraceOwner } from './owned-traces.ts';
import { RecentKeys } from './recent-keys.ts';

/** How long an accepted body is remembered (spec: one hour). */
const REPLAY_MS = 3600000;
/** The limit of remembered bodies. Beyond it the oldest are removed. */
const MAX_MARKERS = 200000;

interface Usage {
  readonly month: string;
  spans: number;
}

/** There is no transaction that an exporter could join. */
const NO_TRANSACTION: TransactionHandle = { join: () => undefined, flush: async () => undefined };

export class MemoryLedger implements Ledger {
  readonly concurrentHeavyRequests = 1;
  readonly #now: () => number;
  /** Groups that are being written, whose outcome is not known yet. */
  readonly #open = new Map<Plan, Promise<void>>();
  /** The time of expiry of each marker, in milliseconds and in order. */
  readonly #markers = new RecentKeys(MAX_MARKERS);
  readonly #traces = new OwnedTraces();
  readonly #usage = new Map<string, Usage>();

  constructor(now: () => number) {
    this.#now = now;
  }

  async settle(
    group: readonly Claim[],
    write: (admitted: readonly Claim[], handle: TransactionHandle) => Promise<void>,
  ): Promise<readonly Outcome[]> {
    await this.#waitForConflicts(group);
    const now = this.#now();
    const outcomes = new Map<Claim, Outcome>();
    const plan = new Plan(this.#traces);
    const duplicates = new Map<Claim, Claim>();
    for (const claim of group) {
      const key = markerKey(claim);
      const first = plan.firstWith(key);
      if (first !== undefined) duplicates.set(claim, first);
      else if ((this.#markers.find(key) ?? 0) > now)
        outcomes.set(claim, { kind: 'replayed', quota: this.#quota(claim, now) });
      else this.#admit(claim, key, plan, now, outcomes);
    }
    const storing = this.#store(plan, now, write, outcomes);
    this.#open.set(plan, storing);
    await storing.finally(() => this.#open.delete(plan));
    for (const [claim, first] of duplicates) outcomes.set(claim, asDuplicate(outcomes.get(first) as Outcome));
    return group.map((claim) => outcomes.get(claim) as Outcome);
  }

  /** Resolves when no open group can change the outcome of one of these requests. */
  async #waitForConflicts(group: readonly Claim[]): Promise<void> {
    for (;;) {
      const open = [...this.#open].filter(([plan]) => group.some((claim) => plan.concerns(claim, markerKey(claim))));
      if (open.length === 0) return;
      await Promise.all(open.map(([, over]) => over));
    }
  }

  #admit(claim: Claim, key: string, plan: Plan, now: number, outcomes: Map<Claim, Outcome>): void {
    const rejection = plan.conflict(claim) ?? this.#overQuota(claim, plan.spansOf(claim.project.name), now);
    if (rejection === null) plan.add(claim, key);
    else outcomes.set(claim, { kind: 'refused', rejection });
  }

  async #store(
    plan: Plan,
    now: number,
    write: (admitted: readonly Claim[], handle: TransactionHandle) => Promise<void>,
    outcomes: Map<Claim, Outcome>,
  ): Promise<void> {
    if (plan.admitted.size === 0) return;
    const admitted = [...plan.admitted.values()];
    try {
      await write(admitted, NO_TRANSACTION);
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      for (const claim of admitted)
        outcomes.set(claim, { kind: 'refused', rejection: new Rejection('ingestion_failed', { cause }) });
      return;
    }
    for (const [key, claim] of plan.admitted) {
      this.#remember(key, claim, now);
      outcomes.set(claim, { kind: 'stored', quota: this.#quota(claim, now) });
    }
  }

  #remember(key: string, claim: Claim, now: number): void {
    this.#markers.forgetWhile((expires) => expires <= now);
    this.#markers.add(key, now + REPLAY_MS);
    for (const { traceId, environment } of claim.traces)
      this.#traces.claim(traceId, { project: claim.project.name, environment });
    this.#usageOf(claim.project.name, now).spans += claim.spanCount;
  }

  #usageOf(project: string, now: number): Usage {
    const month = monthOf(now);
    const known = this.#usage.get(project);
    if (known?.month === month) return known;
    const usage = { month, spans: 0 };
    this.#usage.set(project, usage);
    return usage;
  }

  #quota(claim: Claim, now: number): Quota | null {
    const limit = claim.project.monthlySpans;
    return limit === null ? null : { limit, resetSeconds: nextMonthSeconds(now) };
  }

  #overQuota(claim: Claim, pendingSpans: number, now: number): Rejection | null {
    const quota = this.#quota(claim, now);
    if (quota === null) return null;
    const used = this.#usageOf(claim.project.name, now).spans + pendingSpans;
    const over = claim.signal === 'traces' ? used + claim.spanCount > quota.limit : used >= quota.limit;
    if (!over) return null;
    const after = { retryAfterSeconds: quota.resetSeconds };
    return new Rejection('quota_exceeded', {}, claim.signal === 'traces' ? { ...after, quota } : after);
  }
}

/** What one group will store if its write succeeds. It is remembered only after the write. */
class Plan {
  readonly #known: OwnedTraces;
  readonly #claimed = new Map<string, TraceOwner>();
  readonly #spans = new Map<string, number>();
  readonly admitted = new Map<string, Claim>();

  constructor(known: OwnedTraces) {
    this.#known = known;
  }

  /** Whether its outcome can change that of a request: they share a body, a trace, or a quota. */
  concerns({ project, traces }: Claim, key: string): boolean {
    if (this.admitted.has(key)) return true;
    if (project.monthlySpans !== null && this.#spans.has(project.name)) return true;
    return traces.some(({ traceId }) => this.#claimed.has(traceId));
  }

  firstWith(key: string): Claim | undefined {
    return this.admitted.get(key);
  }

  spansOf(project: string): number {
    return this.#spans.get(project) ?? 0;
  }

  conflict(claim: Claim): Rejection | null {
    for (const { traceId, environment } of claim.traces) {
      const owner = this.#claimed.get(traceId) ?? this.#known.ownerOf(traceId);
      if (owner === undefined) continue;
      if (owner.project !== claim.project.name) return new Rejection('trace_conflict');
      if (owner.environment !== environment) {
        return new Rejection('environment_mismatch', { expected: owner.environment, received: environment });
      }
    }
    return null;
  }

  add(claim: Claim, key: string): void {
    const project = claim.project.name;
    this.admitted.set(key, claim);
    for (const { traceId, environment } of claim.traces) this.#claimed.set(traceId, { project, environment });
    this.#spans.set(project, this.spansOf(project) + claim.spanCount);
  }
}

function asDuplicate(outcome: Outcome): Outcome {
  return outcome.kind === 'stored' ? { kind: 'replayed', quota: outcome.quota } : outcome;
}

/** The first sixteen bytes of a SHA-256, in hex: enough to exclude collisions. */
function markerKey(claim: Claim): string {
  return hash('sha256', Buffer.concat([Buffer.from(`${claim.project.name}\0`), claim.replayKey]), 'hex').slice(0, 32);
}

/** The UTC month of the quota: `2026-11` for any moment of November 2026. */
function monthOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7);
}

/** Whole seconds until the next UTC month begins, at least 1. */
function nextMonthSeconds(nowMs: number): number {
  const now = new Date(nowMs);
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  return Math.max(1, Math.ceil((next - nowMs) / 1000));
}
