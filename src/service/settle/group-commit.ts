/**
 * The one place where requests meet. Whatever arrives while a commit is running forms the next group; there is no timer. When
 * a whole group waits and the ledger has room for a second one at once, it need not wait any longer. Each request gets its own
 * verdict, and none is told 200 before the commit that holds its rows.
 *
 * States: idle → (a request arrives) → settling in one lane or more → (verdicts given) → idle when nothing waits, else settling
 * again. `drain` waits for idle; after `close` new requests are refused with `shutting_down`.
 */
import type { Counter, Histogram, Meter } from '../../component/meter.ts';
import type { Exporter, Rows } from '../../component/exporter.ts';
import type { Claim, Commit, Decision, Ledger, Verdict } from '../../component/ledger.ts';
import type { Logger } from '../../component/logger.ts';
import type { Acceptance } from '../../component/receiver.ts';
import { Rejection } from '../../errors.ts';
import type { RequestTrace } from '../telemetry/own-traces.ts';

/** Past these a larger group only waits longer; measured with COPY. */
const MAX_GROUP_REQUESTS = 16;
const MAX_GROUP_BYTES = 8388608;
const GROUP_SIZE_BOUNDS = [1, 2, 4, 8, 16];
const SECONDS_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** A request's rows in one exporter's form. */
export interface EncodedRows {
  readonly exporter: Exporter;
  readonly rows: Rows;
  /** What the rows hold of a budget, given back with them. */
  readonly room?: { close(): void };
}

interface Waiting {
  readonly claim: Claim;
  readonly encoded: readonly EncodedRows[];
  readonly bytes: number;
  readonly trace: RequestTrace | null;
  settle(verdict: Verdict): void;
}

const NO_VERDICT: Verdict = {
  kind: 'refused',
  rejection: new Rejection('ingestion_failed', { cause: 'no verdict' }),
};

export class GroupCommit {
  readonly #ledger: Ledger;
  readonly #logger: Logger;
  readonly #groupSize: Histogram;
  readonly #commitSeconds: Histogram;
  readonly #verdicts: Counter;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  readonly #lanes = new Set<Promise<void>>();
  #openLanes = 0;
  /** The last write of exporters that cannot be rolled back; the next one follows it. */
  #writing: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(ledger: Ledger, logger: Logger, meter: Meter) {
    this.#ledger = ledger;
    this.#logger = logger;
    this.#groupSize = meter.histogram('sluice_group_requests', 'Requests settled by one commit.', GROUP_SIZE_BOUNDS);
    this.#commitSeconds = meter.histogram(
      'sluice_commit_seconds',
      'Time one group took to become durable.',
      SECONDS_BOUNDS,
    );
    this.#verdicts = meter.counter('sluice_verdicts', 'Requests settled, by what became of them.');
    meter.gauge('sluice_requests_waiting', 'Requests waiting for the next commit.', () => this.#waiting.length);
  }

  /** Throws `ingestion_failed` while it is known that nothing can be stored. */
  admit(): void {
    if (this.#ledger.isAway?.() === true) throw new Rejection('ingestion_failed', { cause: 'the database is away' });
  }

  /** Resolves when the request's rows are durable, or when they were already. Rejects with a `Rejection`. Releases the rows. */
  async settle(claim: Claim, encoded: readonly EncodedRows[], trace: RequestTrace | null = null): Promise<Acceptance> {
    try {
      const verdict = await this.#enqueue(claim, encoded, trace);
      this.#verdicts.add(1, { signal: claim.signal, verdict: verdict.kind });
      if (verdict.kind === 'refused') throw verdict.rejection;
      return { replayed: verdict.kind === 'replayed', quota: verdict.quota };
    } finally {
      releaseRows(encoded);
    }
  }

  close(): void {
    this.#closed = true;
  }

  /** Resolves when nothing waits and no commit runs. */
  async drain(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.all(this.#lanes);
  }

  #enqueue(claim: Claim, encoded: readonly EncodedRows[], trace: RequestTrace | null): Promise<Verdict> {
    if (this.#closed) return Promise.resolve({ kind: 'refused', rejection: new Rejection('shutting_down') });
    const bytes = encoded.reduce((sum, { rows }) => sum + rows.bytes, 0);
    return new Promise((settle) => {
      this.#waiting.push({ claim, encoded, bytes, trace, settle });
      this.#waitingBytes += bytes;
      this.#openLane();
    });
  }

  /** A lane settles one group after the other. Beside another it takes whole groups only: a smaller one grows while it waits. */
  #openLane(): void {
    if (this.#openLanes > 0 && (this.#openLanes >= (this.#ledger.lanes ?? 1) || !this.#groupIsWhole)) return;
    this.#openLanes++;
    const lane = this.#run().finally(() => this.#lanes.delete(lane));
    this.#lanes.add(lane);
  }

  async #run(): Promise<void> {
    // Requests that were received in the same turn of the event loop belong to the same group.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0 && (this.#openLanes === 1 || this.#groupIsWhole))
      await this.#settleGroup(this.#takeGroup());
    // In the same turn as the look above: of two lanes that end together, the second sees that it is the only one.
    this.#openLanes--;
  }

  get #groupIsWhole(): boolean {
    return this.#waiting.length >= MAX_GROUP_REQUESTS || this.#waitingBytes >= MAX_GROUP_BYTES;
  }

  #takeGroup(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      bytes += waiting.bytes;
      if (count > 0 && (count === MAX_GROUP_REQUESTS || bytes > MAX_GROUP_BYTES)) break;
      count++;
    }
    const group = this.#waiting.splice(0, count);
    for (const waiting of group) this.#waitingBytes -= waiting.bytes;
    return group;
  }

  async #settleGroup(group: readonly Waiting[]): Promise<void> {
    const started = performance.now();
    const verdicts = await this.#verdictsOf(group);
    this.#groupSize.record(group.length);
    this.#commitSeconds.record((performance.now() - started) / 1000);
    const deferred: Waiting[] = [];
    for (const [index, waiting] of group.entries()) {
      const decision = verdicts[index] ?? NO_VERDICT;
      if (decision.kind === 'deferred') {
        deferred.push(waiting);
        continue;
      }
      waiting.trace?.committed(started, group.length);
      waiting.settle(decision);
    }
    this.#waiting.unshift(...deferred);
    for (const waiting of deferred) this.#waitingBytes += waiting.bytes;
  }

  async #verdictsOf(group: readonly Waiting[]): Promise<readonly Decision[]> {
    const byClaim = new Map(group.map((waiting) => [waiting.claim, waiting]));
    try {
      return await this.#ledger.settle([...byClaim.keys()], (admitted, commit) => {
        return this.#writeAll(
          admitted.map((claim) => byClaim.get(claim)?.encoded ?? []),
          commit,
        );
      });
    } catch (error) {
      // The ledger's contract is to never reject; whatever broke it, nothing of the group may be acknowledged.
      this.#logger.error({ error }, 'a group could not be settled');
      return group.map(() => ({
        kind: 'refused',
        rejection: new Rejection('ingestion_failed', { cause: 'the ledger failed' }),
      }));
    }
  }

  /**
   * Hands each exporter its rows of the admitted requests: first those that join the transaction and can be rolled back, then,
   * once the transaction has taken them, the others together.
   */
  async #writeAll(encoded: readonly (readonly EncodedRows[])[], commit: Commit): Promise<void> {
    const writers = [...rowsByExporter(encoded)];
    for (const [exporter, rows] of writers.filter(([{ joinsCommit }]) => joinsCommit === true))
      await exporter.write(rows, commit);
    const others = writers.filter(([{ joinsCommit }]) => joinsCommit !== true);
    if (others.length === 0) return;
    await commit.taken();
    const turn = this.#writing.then(() => writeTogether(others, commit));
    this.#writing = turn.catch(() => undefined);
    await turn;
  }
}

/** Called exactly once, after the request was answered. */
export function releaseRows(encoded: readonly EncodedRows[]): void {
  for (const { rows, room } of encoded) {
    rows.release();
    room?.close();
  }
}

function rowsByExporter(encoded: readonly (readonly EncodedRows[])[]): ReadonlyMap<Exporter, readonly Rows[]> {
  const byExporter = new Map<Exporter, Rows[]>();
  for (const { exporter, rows } of encoded.flat()) {
    const list = byExporter.get(exporter);
    if (list === undefined) byExporter.set(exporter, [rows]);
    else list.push(rows);
  }
  return byExporter;
}

/** All of them run to their end even when one fails, so that none is still writing when the ledger rolls back or tries again. */
async function writeTogether(
  writers: readonly (readonly [Exporter, readonly Rows[]])[],
  commit: Commit,
): Promise<void> {
  const results = await Promise.allSettled(writers.map(([exporter, rows]) => exporter.write(rows, commit)));
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}
