// The database stops answering: requests that wait for a commit are refused at once, and those of groups by the ledger.
import t from 'tap';
import type { Claim, Decision, Ledger } from '../../../src/component/capabilities/ledger.ts';
import { Rejection } from '../../../src/errors.ts';
import { GroupCommit } from '../../../src/service/settle/group-commit.ts';
import { Registry } from '../../../src/service/telemetry/registry.ts';
import { claimedTraces, NO_TRACES } from '../../support/claimed-traces.ts';
import { QUIET } from '../../support/quiet-logger.ts';

const HEAVY_BYTES = 10_000_000;
const SMALL_BYTES = 100;

/** A ledger whose groups stay open, on a database that the test stops. */
class FrozenLedger implements Ledger {
  readonly concurrentHeavyRequests = 1;
  readonly concurrentGroups = 2;
  readonly open: ((decision?: Decision) => void)[] = [];
  readonly callbacks = new Set<() => void>();
  #unavailable = false;

  isUnavailable(): boolean {
    return this.#unavailable;
  }

  onUnavailable(callback: () => void): () => void {
    this.callbacks.add(callback);
    return () => void this.callbacks.delete(callback);
  }

  settle(group: readonly Claim[]): Promise<readonly Decision[]> {
    return new Promise((resolve) =>
      this.open.push((decision: Decision = { kind: 'stored', quota: null }) => resolve(group.map(() => decision))),
    );
  }

  freeze(): void {
    this.#unavailable = true;
    for (const callback of this.callbacks) callback();
  }

  async thaw(): Promise<void> {
    this.#unavailable = false;
    for (const end of this.open.splice(0)) end();
    await turns();
  }
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

function scene() {
  let serial = 0;
  const nowMs = { value: 0 };
  const ledger = new FrozenLedger();
  const registry = new Registry();
  const commit = new GroupCommit(ledger, QUIET, registry, { now: () => nowMs.value });
  const answers: string[] = [];
  const arrive = (bytes: number, traceId: string | null = null): void => {
    const rows = { signal: 'traces' as const, count: 1, bytes, chunks: [], release: () => undefined };
    const claim: Claim = {
      project: { name: 'demo', plan: 'paid', monthlySpans: null, privacy: new Map() },
      signal: 'traces',
      replayKey: Buffer.from(`key ${serial++}`),
      traces: traceId === null ? NO_TRACES : claimedTraces([{ traceId, project: 'demo' }]),
      spanCount: 1,
      recordCount: 1,
    };
    const settled = commit.settle(claim, [{ exporter: { encode: () => rows, write: async () => undefined }, rows }]);
    settled.then(
      () => answers.push('stored'),
      ({ code }) => answers.push(code),
    );
  };
  return { commit, ledger, registry, nowMs, answers, arrive };
}

t.test('requests of no group are refused at once, and the others get the outcome of their group', async (t) => {
  const { ledger, registry, answers, arrive, commit } = scene();
  arrive(HEAVY_BYTES, '11');
  for (let group = 0; group < 3; group++) {
    arrive(SMALL_BYTES);
    await turns();
  }
  t.equal(ledger.open.length, 4);
  arrive(HEAVY_BYTES);
  arrive(SMALL_BYTES);
  arrive(SMALL_BYTES, '11');
  await turns();
  t.same(answers, []);
  ledger.freeze();
  await turns();
  t.same(answers, Array(3).fill('ingestion_failed'), 'one of each queue, and one that depends on a large request');
  arrive(SMALL_BYTES);
  await turns();
  t.same(answers.slice(3), ['ingestion_failed'], 'a request whose pass ends later does not wait either');
  await ledger.thaw();
  t.same(answers.slice(4), Array(4).fill('stored'));
  t.same(registry.by('sluice_verdicts', 'verdict'), { refused: 4, stored: 4 });
  arrive(SMALL_BYTES);
  await turns();
  await ledger.thaw();
  t.same(answers.slice(8), ['stored']);
  commit.close();
  await commit.drain();
  t.equal(ledger.callbacks.size, 0, 'the ledger may be used longer');
});

t.test('refused requests no longer count as waiting', async (t) => {
  const { commit, ledger, nowMs, arrive } = scene();
  for (let count = 0; count < 100; count++) arrive(SMALL_BYTES);
  await turns();
  nowMs.value = 2000;
  ledger.open.shift()?.();
  await turns();
  t.throws(() => commit.admit('demo'), { code: 'overloaded' });
  ledger.freeze();
  await ledger.thaw();
  t.doesNotThrow(() => commit.admit('demo'));
});

t.test('the time of groups that failed does not count', async (t) => {
  const { commit, ledger, nowMs, answers, arrive } = scene();
  arrive(SMALL_BYTES);
  await turns();
  nowMs.value = 6000;
  ledger.open.shift()?.({ kind: 'refused', rejection: new Rejection('ingestion_failed') });
  await turns();
  t.same(answers, ['ingestion_failed']);
  for (let count = 0; count < 100; count++) arrive(SMALL_BYTES);
  await turns();
  t.doesNotThrow(() => commit.admit('demo'));
});
