/**
 * The group commit. Requests that arrive while a commit runs form the next group; there is no timer. When a full group
 * waits and the ledger can settle a concurrent group, that group begins at once. Each request gets its own outcome, and
 * 200 only after the commit of its rows.
 *
 * A request larger than a group is heavy. It is settled alone, concurrently with the groups, so that no group waits for
 * it. Small and large requests form groups of their own, so that small ones wait for small groups only. While small
 * ones arrive, large ones have one group at a time, or they would take all processors of a small machine. While large
 * ones are settled, a group of small ones takes longer, and the next one does not wait for it. All requests of a group
 * have one kind, so that requests that are likely to be refused do not delay those of other projects.
 *
 * States: idle → (a request arrives) → settling one group or more → (outcomes) → idle when no request waits, otherwise
 * settling again. `drain` waits for idle. After `close`, new requests are refused with `shutting_down`.
 */
import { maskedError } from '../../component/masked-text.ts';
import type { Counter, Histogram, Meter } from '../../component/meter.ts';
import type { Claim, Decision, Kind, Ledger, Outcome } from '../../component/capabilities/ledger.ts';
import type { Logger } from '../../component/logger.ts';
import type { Acceptance } from '../../component/receiver.ts';
import { Rejection } from '../../errors.ts';
import { PollEnd } from '../poll-end.ts';
import type { RequestTrace } from '../telemetry/own-traces.ts';
import { CommitWaits } from './commit-waits.ts';
import { BlockingClaims, FailedRequests } from './heavy.ts';
import { STALLED, StalledExporters } from './stalled-exporters.ts';
import {
  type Choice,
  type GroupLimits,
  isHeavy,
  isLarge,
  LARGE_GROUP,
  SMALL_GROUP,
  WaitingRequests,
} from './waiting.ts';
import { type ExporterRows, ExporterWrites, releaseRows } from './writes.ts';

const GROUP_SIZE_BOUNDS = [1, 2, 4, 8, 16, 32, 64];
/** For this time after a small request, large requests have no concurrent groups. */
const SMALL_PRESENCE_MS = 1000;
const SECONDS_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

interface Waiting {
  readonly claim: Claim;
  readonly encoded: readonly ExporterRows[];
  readonly bytes: number;
  readonly isPlaced: boolean;
  readonly trace: RequestTrace | null;
  settle(outcome: Outcome): void;
}

/** The requests of one range of sizes, which form groups. */
interface SizeClass {
  readonly waiting: WaitingRequests<Waiting>;
  /** The kinds of the groups that are being settled; null: a group is about to be formed. */
  readonly settling: Set<{ kind: Kind | null }>;
  readonly choice: Choice;
}

/** Large requests that are being settled, and the requests that wait for their end. */
interface Blocking {
  readonly claims: BlockingClaims;
  readonly dependents: { readonly sizeClass: SizeClass; readonly waiting: Waiting }[];
}

const NO_OUTCOME: Outcome = {
  kind: 'refused',
  rejection: new Rejection('ingestion_failed', { cause: 'no outcome' }),
};
const UNAVAILABLE = 'the database is unavailable';
const isFailure = (decision: Decision = NO_OUTCOME): boolean =>
  decision.kind === 'refused' && decision.rejection.code === 'ingestion_failed';
const ANY: Choice = { kindOf: () => 'plain', allows: () => true };

export class GroupCommit {
  readonly stalledExporters = new StalledExporters();
  readonly #ledger: Ledger;
  readonly #logger: Logger;
  readonly #groupSize: Histogram;
  readonly #commitSeconds: Histogram;
  readonly #outcomes: Counter;
  readonly #small = this.#makeClass(SMALL_GROUP);
  readonly #large = this.#makeClass(LARGE_GROUP);
  readonly #waitingHeavy = new WaitingRequests<Waiting>(LARGE_GROUP);
  readonly #blocking = new Set<Blocking>();
  readonly #failed: FailedRequests;
  readonly #pollEnd: PollEnd;
  readonly #now: () => number;
  readonly #runs = new Set<Promise<void>>();
  #runningHeavy = 0;
  #lastSmallMs = Number.NEGATIVE_INFINITY;
  readonly #writes = new ExporterWrites();
  readonly #waits: CommitWaits;
  readonly #unsubscribe: () => void;
  #closed = false;

  /** `pollEnd`: shared with the passes of the process. `now`: a monotonic clock in milliseconds. */
  constructor(
    ledger: Ledger,
    logger: Logger,
    meter: Meter,
    { pollEnd = new PollEnd(), now = () => performance.now() }: { pollEnd?: PollEnd; now?: () => number } = {},
  ) {
    this.#ledger = ledger;
    this.#unsubscribe = ledger.onUnavailable?.(() => this.#refuseWaiting()) ?? (() => undefined);
    this.#logger = logger;
    this.#pollEnd = pollEnd;
    this.#now = now;
    this.#failed = new FailedRequests(now);
    this.#waits = new CommitWaits(now);
    this.#groupSize = meter.histogram('sluice_group_requests', 'Requests settled by one commit.', GROUP_SIZE_BOUNDS);
    this.#commitSeconds = meter.histogram(
      'sluice_commit_seconds',
      'Time one group took to become durable.',
      SECONDS_BOUNDS,
    );
    this.#outcomes = meter.counter('sluice_verdicts', 'Settled requests by outcome.');
    const waiting = (): number =>
      this.#small.waiting.count + this.#large.waiting.count + this.#waitingHeavy.count + this.#dependentCount;
    meter.gauge('sluice_requests_waiting', 'Requests waiting for the next commit.', waiting);
  }

  /**
   * Throws `ingestion_failed` while nothing can be stored, and `overloaded` when a request of the project would wait
   * too long for its commit.
   */
  admit(project: string): void {
    const cause = this.#obstacle;
    if (cause !== null) throw new Rejection('ingestion_failed', { cause });
    this.#waits.admit(project);
  }

  /** Throws `overloaded` when a body of the project that was read would wait too long for its commit. */
  admitBody(project: string, bytes: number): void {
    this.#waits.admitBody(project, bytes);
  }

  /** Resolves when the request's rows are durable. Rejects with a `Rejection`. Releases the rows in both cases. */
  async settle(claim: Claim, encoded: readonly ExporterRows[], trace: RequestTrace | null = null): Promise<Acceptance> {
    try {
      const outcome = await this.#enqueue(claim, encoded, trace).catch(refused);
      this.#outcomes.add(1, { signal: claim.signal, verdict: outcome.kind });
      if (outcome.kind === 'refused') throw outcome.rejection;
      return { replayed: outcome.kind === 'replayed', quota: outcome.quota };
    } finally {
      releaseRows(encoded);
    }
  }

  close(): void {
    this.#closed = true;
  }

  /** Resolves when no request waits and no commit runs. */
  async drain(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all(this.#runs);
    if (this.#closed) this.#unsubscribe();
  }

  /** Rejects when the request would wait too long. */
  #enqueue(claim: Claim, encoded: readonly ExporterRows[], trace: RequestTrace | null): Promise<Outcome> {
    if (this.#closed) return Promise.resolve(refusal('shutting_down'));
    const cause = this.#obstacle;
    if (cause !== null) return Promise.resolve(refusal('ingestion_failed', cause));
    const bytes = encoded.reduce((sum, { rows }) => sum + rows.bytes, 0);
    const isPlaced = encoded.length > 0 && encoded.every(({ exporter }) => exporter.stage !== undefined);
    const heavy = this.#canBeHeavy && isHeavy({ claim, bytes });
    if (heavy && this.#failed.has(claim)) return Promise.resolve(refusal('overloaded', 'it failed a moment ago'));
    return new Promise((settle) => {
      this.#waits.add({ claim, bytes, isPlaced });
      const waiting = { claim, encoded, bytes, isPlaced, trace, settle };
      const sizeClass = this.#classOf(waiting);
      if (sizeClass === this.#small) this.#lastSmallMs = this.#now();
      (heavy ? this.#waitingHeavy : sizeClass.waiting).push(waiting);
      this.#startRuns();
    });
  }

  /** Why no request can be stored at present; null when it can. */
  get #obstacle(): string | null {
    if (this.#ledger.isUnavailable?.() === true) return UNAVAILABLE;
    return this.stalledExporters.any ? STALLED : null;
  }

  /** Refuses the requests of no group. They would wait for the end of the groups that the database does not answer. */
  #refuseWaiting(): void {
    const queues = [this.#small.waiting, this.#large.waiting, this.#waitingHeavy].flatMap((queue) => queue.takeAll());
    const dependents = [...this.#blocking].flatMap((blocking) => blocking.dependents.splice(0));
    for (const one of [...queues, ...dependents.map(({ waiting }) => waiting)]) {
      this.#waits.cancel(one);
      one.settle(refusal('ingestion_failed', UNAVAILABLE));
    }
  }

  #makeClass(limits: GroupLimits): SizeClass {
    const sizeClass: SizeClass = {
      waiting: new WaitingRequests(limits),
      settling: new Set(),
      choice: {
        kindOf: (claim) => this.#kindOf(claim),
        allows: (kind) => this.#allows(sizeClass, kind),
      },
    };
    return sizeClass;
  }

  #kindOf(claim: Claim): Kind {
    return this.#ledger.kindOf?.(claim) ?? 'plain';
  }

  /**
   * A concurrent group of the same kind must be full: a smaller one grows while it waits. Small ones beside large
   * requests need not be. Large requests have none while small ones arrive.
   */
  #allows(sizeClass: SizeClass, kind: Kind): boolean {
    const { waiting, settling } = sizeClass;
    const others = [...settling].filter((group) => group.kind === kind || group.kind === null);
    if (others.length === 0) return true;
    if (sizeClass === this.#large && this.#now() - this.#lastSmallMs < SMALL_PRESENCE_MS) return false;
    return kind !== 'apart' && (waiting.isWhole || (sizeClass === this.#small && this.#isSettlingLarge));
  }

  /** A ledger that settles one group after the other gets groups of all sizes. */
  #classOf(waiting: Waiting): SizeClass {
    return this.#concurrentGroups > 1 && !isLarge(waiting) ? this.#small : this.#large;
  }

  get #concurrentGroups(): number {
    return this.#ledger.concurrentGroups ?? 1;
  }

  get #canBeHeavy(): boolean {
    return (this.#ledger.concurrentHeavyRequests ?? 0) > 0;
  }

  get #dependentCount(): number {
    return [...this.#blocking].reduce((sum, { dependents }) => sum + dependents.length, 0);
  }

  #startRuns(): void {
    if (this.#waitingHeavy.count > 0 && this.#runningHeavy < (this.#ledger.concurrentHeavyRequests ?? 0)) {
      this.#runningHeavy++;
      this.#start(this.#runHeavy());
    }
    for (const sizeClass of [this.#small, this.#large])
      if (this.#canStart(sizeClass)) this.#start(this.#run(sizeClass));
  }

  /** Groups of one size never wait for those of the other, so there can be one group more than `concurrentGroups`. */
  #canStart({ waiting, settling, choice }: SizeClass): boolean {
    if (waiting.count === 0) return false;
    if (settling.size === 0) return true;
    const open = this.#small.settling.size + this.#large.settling.size;
    const extra = settling === this.#small.settling && this.#isSettlingLarge ? 1 : 0;
    return open < this.#concurrentGroups + extra && waiting.hasNext(choice);
  }

  get #isSettlingLarge(): boolean {
    return this.#large.settling.size > 0 || this.#runningHeavy > 0;
  }

  #start(run: Promise<void>): void {
    const ended = run.finally(() => this.#runs.delete(ended));
    this.#runs.add(ended);
  }

  /** Settles one group after the other until none can be formed. */
  async #run(sizeClass: SizeClass): Promise<void> {
    const current: { kind: Kind | null } = { kind: null };
    sizeClass.settling.add(current);
    // Requests that arrive in the same iteration of the event loop belong to the same group.
    await new Promise<void>((resolve) => this.#pollEnd.formGroup(resolve));
    for (;;) {
      // Synchronous with `#takeGroup`: of two runs that end together, the second one finds that no other is settling.
      sizeClass.settling.delete(current);
      const group = this.#takeGroup(sizeClass);
      const [first] = group;
      if (first === undefined) return;
      current.kind = sizeClass.choice.kindOf(first.claim);
      sizeClass.settling.add(current);
      // A concurrent group of another kind may be possible now.
      this.#startRuns();
      if (group.some(isLarge)) await this.#settleBlocking(group);
      else await this.#settleGroup(group);
    }
  }

  /** Forms the next group without the requests that must wait for large ones. */
  #takeGroup(sizeClass: SizeClass): readonly Waiting[] {
    for (;;) {
      const group = sizeClass.waiting.take(sizeClass.choice);
      const free = group.filter((waiting) => {
        const blocking = [...this.#blocking].find(({ claims }) => claims.block(waiting.claim));
        blocking?.dependents.push({ sizeClass, waiting });
        return blocking === undefined;
      });
      if (free.length > 0 || group.length === 0) return free;
    }
  }

  async #runHeavy(): Promise<void> {
    for (;;) {
      const [request] = this.#waitingHeavy.take(ANY);
      if (request === undefined) break;
      const started = performance.now();
      const [decision] = await this.#settleBlocking([request]);
      if (isFailure(decision)) this.#failed.note(request.claim, performance.now() - started);
    }
    this.#runningHeavy--;
  }

  /** Requests that depend on these wait for their end here, so that no group waits for it in the database. */
  async #settleBlocking(requests: readonly Waiting[]): Promise<readonly Decision[]> {
    const all = requests.map(({ claim }) => claim);
    const isPlain = all.every((claim) => this.#kindOf(claim) === 'plain');
    const claims = new BlockingClaims(all, !isPlain);
    const blocking: Blocking = { claims, dependents: [] };
    this.#blocking.add(blocking);
    const decisions = await this.#settleGroup(requests);
    this.#blocking.delete(blocking);
    for (const { sizeClass, waiting } of blocking.dependents.reverse()) sizeClass.waiting.putBack(waiting);
    if (blocking.dependents.length > 0) this.#startRuns();
    return decisions;
  }

  async #settleGroup(group: readonly Waiting[]): Promise<readonly Decision[]> {
    const started = performance.now();
    const endGroup = this.#waits.beginGroup(group);
    const decisions = await this.#decide(group);
    // The time of a failure says nothing about the speed.
    for (const waiting of group.filter((_, index) => isFailure(decisions[index]))) this.#waits.cancel(waiting);
    endGroup(group.filter((_, index) => decisions[index]?.kind !== 'deferred' && !isFailure(decisions[index])));
    this.#groupSize.record(group.length);
    this.#commitSeconds.record((performance.now() - started) / 1000);
    const deferred: Waiting[] = [];
    for (const [index, waiting] of group.entries()) {
      const decision = decisions[index] ?? NO_OUTCOME;
      if (decision.kind === 'deferred') {
        deferred.push(waiting);
        continue;
      }
      waiting.trace?.committed(started, group.length);
      waiting.settle(decision);
    }
    for (const waiting of deferred.reverse()) this.#classOf(waiting).waiting.putBack(waiting);
    return decisions;
  }

  async #decide(group: readonly Waiting[]): Promise<readonly Decision[]> {
    const byClaim = new Map(group.map((waiting) => [waiting.claim, waiting]));
    try {
      return await this.#ledger.settle([...byClaim.keys()], (admitted, commit) =>
        this.#writes.write(
          admitted.map((claim) => byClaim.get(claim)?.encoded ?? []),
          commit,
        ),
      );
    } catch (error) {
      // The contract of the ledger excludes this. No request of the group may be acknowledged.
      this.#logger.error({ error: maskedError(error) }, 'a group could not be settled');
      return group.map(() => refusal('ingestion_failed', 'the ledger failed'));
    }
  }
}

function refusal(code: 'shutting_down' | 'overloaded' | 'ingestion_failed', cause?: string): Outcome {
  return { kind: 'refused', rejection: new Rejection(code, cause === undefined ? {} : { cause }) };
}

/** Throws any error that is no refusal. */
function refused(error: unknown): Outcome {
  if (error instanceof Rejection) return { kind: 'refused', rejection: error };
  throw error;
}
