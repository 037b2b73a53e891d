/**
 * The ledger for a daemon without a database: the same outcomes as the Postgres ledger, within one process. Its memory
 * is bounded and begins at the start of the process: after a restart a repeated body is stored again, and the quota
 * begins at zero.
 */
import { hash } from 'node:crypto';
import type { Claim, TransactionHandle, Ledger, Quota, Outcome } from '../../component/capabilities/ledger.ts';
import { Rejection } from '../../errors.ts';
import { type ClaimedTraces, countOf } from '../../pdata/claimed-traces.ts';
import { OwnedTraces } from '../../pdata/owned-traces.ts';
import { KEY_WORDS, RecentKeys } from '../../pdata/recent-keys.ts';
import { finishWithPolls, type Steps } from '../../pdata/steps.ts';
import { traceConflict } from '../../pdata/trace-conflict.ts';
import { BlockingClaims } from './heavy.ts';

/** How long an accepted body is remembered (spec: one hour). */
const REPLAY_MS = 3600000;
/** The limit of remembered bodies. Beyond it the oldest are removed. */
const MAX_MARKERS = 200000;
/** The limit of remembered traces with their owners. */
const MAX_TRACES = 500000;
/** Traces of one step. */
const STEP = 4096;

type Write = (admitted: readonly Claim[], handle: TransactionHandle) => Promise<void>;

/** There is no transaction that an exporter could join. */
const NO_TRANSACTION: TransactionHandle = { join: () => undefined, flush: async () => undefined };

export class MemoryLedger implements Ledger {
  readonly concurrentHeavyRequests = 1;
  readonly #now: () => number;
  readonly #monotonicMs: () => number;
  /** Groups that are being settled, whose outcome is not known yet. */
  readonly #open = new Map<BlockingClaims, Promise<unknown>>();
  /** The time of expiry of each marker, by the monotonic clock and in order. */
  readonly #markers = new RecentKeys(MAX_MARKERS);
  readonly #traces = new OwnedTraces(MAX_TRACES);
  /** The spans of each project in each UTC month. */
  readonly #usage = new Map<string, number>();

  constructor(now: () => number, monotonicMs: () => number = () => performance.now()) {
    this.#now = now;
    this.#monotonicMs = monotonicMs;
  }

  async settle(group: readonly Claim[], write: Write): Promise<readonly Outcome[]> {
    for (;;) {
      const conflicting = [...this.#open].filter(([open]) => group.some((claim) => open.block(claim)));
      if (conflicting.length === 0) break;
      await Promise.all(conflicting.map(([, settling]) => settling));
    }
    // Synchronous with the check: no group that conflicts with this one begins before its end.
    const claims = new BlockingClaims(group, true);
    const settling = this.#settle(group, write);
    this.#open.set(claims, settling);
    return settling.finally(() => this.#open.delete(claims));
  }

  async #settle(group: readonly Claim[], write: Write): Promise<readonly Outcome[]> {
    const now = this.#now();
    const outcomes = new Map<Claim, Outcome>();
    const plan = new Plan(this.#traces, group);
    const duplicates = new Map<Claim, Claim>();
    for (const claim of group) {
      const marker = markerOf(claim);
      const first = plan.firstWith(marker);
      if (first !== undefined) duplicates.set(claim, first);
      else if ((this.#markers.find(marker.words, 0) ?? 0) > this.#monotonicMs())
        outcomes.set(claim, { kind: 'replayed', quota: this.#quota(claim, now) });
      else {
        const rejection = await finishWithPolls(this.#admit(claim, marker, plan, now));
        if (rejection !== null) outcomes.set(claim, { kind: 'refused', rejection });
      }
    }
    await this.#store(plan, now, write, outcomes);
    for (const [claim, first] of duplicates) outcomes.set(claim, asDuplicate(outcomes.get(first) as Outcome));
    return group.map((claim) => outcomes.get(claim) as Outcome);
  }

  *#admit(claim: Claim, marker: Marker, plan: Plan, now: number): Steps<Rejection | null> {
    const conflict = yield* plan.conflict(claim);
    const rejection = conflict ?? this.#overQuota(claim, plan.spansOf(claim.project.name), now);
    if (rejection === null) yield* plan.add(claim, marker);
    return rejection;
  }

  async #store(plan: Plan, now: number, write: Write, outcomes: Map<Claim, Outcome>): Promise<void> {
    const { admitted } = plan;
    if (admitted.length === 0) return;
    try {
      await write(
        admitted.map(({ claim }) => claim),
        NO_TRANSACTION,
      );
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      for (const { claim } of admitted)
        outcomes.set(claim, { kind: 'refused', rejection: new Rejection('ingestion_failed', { cause }) });
      return;
    }
    for (const { claim, marker } of admitted) {
      await finishWithPolls(this.#remember(claim, marker, now));
      outcomes.set(claim, { kind: 'stored', quota: this.#quota(claim, now) });
    }
  }

  *#remember({ project, traces, spanCount }: Claim, marker: Marker, now: number): Steps {
    const monotonicMs = this.#monotonicMs();
    this.#markers.forgetWhile((expires) => expires <= monotonicMs);
    this.#markers.add(marker.words, 0, monotonicMs + REPLAY_MS);
    const month = monthOf(project.name, now);
    this.#usage.set(month, (this.#usage.get(month) ?? 0) + spanCount);
    yield* claimAll(this.#traces, traces);
  }

  #quota(claim: Claim, now: number): Quota | null {
    const limit = claim.project.monthlySpans;
    return limit === null ? null : { limit, resetSeconds: nextMonthSeconds(now) };
  }

  #overQuota(claim: Claim, pendingSpans: number, now: number): Rejection | null {
    const quota = this.#quota(claim, now);
    if (quota === null) return null;
    const used = (this.#usage.get(monthOf(claim.project.name, now)) ?? 0) + pendingSpans;
    const over = claim.signal === 'traces' ? used + claim.spanCount > quota.limit : used >= quota.limit;
    if (!over) return null;
    const after = { retryAfterSeconds: quota.resetSeconds };
    return new Rejection('quota_exceeded', {}, claim.signal === 'traces' ? { ...after, quota } : after);
  }
}

/** What one group will store if its write succeeds. It is remembered only after the write. */
class Plan {
  readonly #known: OwnedTraces;
  /** Null when the group has one request only. */
  readonly #claimed: OwnedTraces | null;
  readonly #spans = new Map<string, number>();
  readonly #byBody = new Map<string, Claim>();
  readonly admitted: { readonly claim: Claim; readonly marker: Marker }[] = [];

  constructor(known: OwnedTraces, group: readonly Claim[]) {
    this.#known = known;
    this.#claimed = group.length > 1 ? new OwnedTraces(countOf(group.map(({ traces }) => traces))) : null;
  }

  firstWith({ name }: Marker): Claim | undefined {
    return this.#byBody.get(name);
  }

  spansOf(project: string): number {
    return this.#spans.get(project) ?? 0;
  }

  conflict({ project, traces }: Claim): Steps<Rejection | null> {
    const { words } = traces;
    const ownerAt = (place: number) => this.#claimed?.ownerOf(words, place) ?? this.#known.ownerOf(words, place);
    return traceConflict(traces, project.name, ownerAt);
  }

  *add(claim: Claim, marker: Marker): Steps {
    const project = claim.project.name;
    this.admitted.push({ claim, marker });
    this.#byBody.set(marker.name, claim);
    this.#spans.set(project, this.spansOf(project) + claim.spanCount);
    if (this.#claimed !== null) yield* claimAll(this.#claimed, claim.traces);
  }
}

function* claimAll(owned: OwnedTraces, traces: ClaimedTraces): Steps {
  for (let index = 0; index < traces.count; index++) {
    if (index % STEP === STEP - 1) yield;
    owned.claim(traces.words, traces.placeOf(index), traces.ownerOf(index));
  }
}

function asDuplicate(outcome: Outcome): Outcome {
  return outcome.kind === 'stored' ? { kind: 'replayed', quota: outcome.quota } : outcome;
}

/** Identifies a body of a project. */
interface Marker {
  readonly name: string;
  readonly words: Uint32Array;
}

/** The first sixteen bytes of a SHA-256: enough to exclude collisions. */
function markerOf(claim: Claim): Marker {
  const digest = hash('sha256', Buffer.concat([Buffer.from(`${claim.project.name}\0`), claim.replayKey]), 'buffer');
  const words = new Uint32Array(KEY_WORDS);
  for (let word = 0; word < KEY_WORDS; word++) words[word] = digest.readUInt32LE(word * 4);
  return { name: digest.toString('latin1'), words };
}

const monthOf = (project: string, nowMs: number): string => `${project} ${new Date(nowMs).toISOString().slice(0, 7)}`;

/** The start of the next UTC month. */
function monthAfter(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
}

/** Whole seconds until the next UTC month begins, at least 1. */
function nextMonthSeconds(nowMs: number): number {
  return Math.max(1, Math.ceil((monthAfter(nowMs) - nowMs) / 1000));
}
