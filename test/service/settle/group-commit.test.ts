// The group commit: which requests wait, and that no request is answered 200 before its commit.
import fc from 'fast-check';
import { QUIET } from '../../support/quiet-logger.ts';
import t from 'tap';
import type { Exporter, Rows } from '../../../src/component/exporter.ts';
import type { Claim, Ledger, Outcome } from '../../../src/component/capabilities/ledger.ts';
import { Rejection } from '../../../src/errors.ts';
import { GroupCommit } from '../../../src/service/settle/group-commit.ts';
import { MemoryLedger } from '../../../src/service/settle/memory-ledger.ts';
import { claimedTraces, NO_TRACES } from '../../support/claimed-traces.ts';
import { Registry } from '../../../src/service/telemetry/registry.ts';
import { DAY_MS } from '../../../src/pdata/time-units.ts';

const project = { name: 'p', plan: 'paid' as const, monthlySpans: null, privacy: new Map() };

let serial = 0;
const aClaim = (changes: Partial<Claim> = {}): Claim => ({
  project,
  signal: 'traces',
  replayKey: Buffer.from(`key ${serial++}`),
  traces: NO_TRACES,
  spanCount: 1,
  recordCount: 1,
  ...changes,
});

function someRows(bytes = 10): Rows & { released: number } {
  const rows = {
    signal: 'traces' as const,
    count: 1,
    bytes,
    chunks: [],
    released: 0,
    release: () => void rows.released++,
  };
  return rows;
}

/** An exporter whose writes wait until the test releases them. */
class GatedExporter implements Exporter {
  readonly groups: number[] = [];
  #open: (() => void)[] = [];
  #failure: Error | null = null;

  encode = (): Rows => someRows();

  write(group: readonly Rows[]): Promise<void> {
    this.groups.push(group.length);
    return new Promise((resolve, reject) =>
      this.#open.push(() => (this.#failure === null ? resolve() : reject(this.#failure))),
    );
  }

  async proceed(failure: Error | null = null): Promise<void> {
    while (this.#open.length === 0) await new Promise((resolve) => setImmediate(resolve));
    this.#failure = failure;
    this.#open.shift()?.();
  }
}

const groupCommit = (ledger: Ledger = new MemoryLedger(Date.now)): GroupCommit =>
  new GroupCommit(ledger, QUIET, new Registry());

t.test(
  'requests that arrive during a commit form the next group, and are answered after their own commit',
  async (t) => {
    const exporter = new GatedExporter();
    const commit = groupCommit();
    const answered: string[] = [];
    const settle = (name: string): Promise<void> =>
      commit.settle(aClaim(), [{ exporter, rows: someRows() }]).then(() => void answered.push(name));
    const first = settle('first');
    while (exporter.groups.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const later = [settle('second'), settle('third')];
    t.same(answered, []);
    await exporter.proceed();
    await first;
    t.same(answered, ['first']);
    await exporter.proceed();
    await Promise.all(later);
    t.same(exporter.groups, [1, 2]);
    t.same(answered, ['first', 'second', 'third']);
  },
);

t.test('a failed write refuses its group with 503, releases its rows, and leaves no marker', async (t) => {
  const exporter = new GatedExporter();
  const commit = groupCommit();
  const rows = someRows();
  const claim = aClaim();
  const refused = t.rejects(commit.settle(claim, [{ exporter, rows }]), { code: 'ingestion_failed' });
  await exporter.proceed(new Error('disk full'));
  await refused;
  t.equal(rows.released, 1);
  const again = commit.settle(claim, [{ exporter, rows: someRows() }]);
  await exporter.proceed();
  t.same(await again, { replayed: false, quota: null });
});

t.test(
  'a duplicate in flight waits for the first request: replayed when that is stored, checked again when it failed',
  async (t) => {
    const exporter = new GatedExporter();
    const commit = groupCommit();
    const claim = aClaim();
    const both = [
      commit.settle(claim, [{ exporter, rows: someRows() }]),
      commit.settle({ ...claim }, [{ exporter, rows: someRows() }]),
    ];
    await exporter.proceed();
    t.same(
      (await Promise.all(both)).map(({ replayed }) => replayed),
      [false, true],
    );
    const other = aClaim();
    const failing = [
      commit.settle(other, [{ exporter, rows: someRows() }]),
      commit.settle({ ...other }, [{ exporter, rows: someRows() }]),
    ];
    const results = Promise.allSettled(failing);
    await exporter.proceed(new Error('gone'));
    t.same(
      (await results).map(({ status }) => status),
      ['rejected', 'rejected'],
      'no request is answered 200 without being stored',
    );
  },
);

t.test('groups are limited by requests and by bytes', async (t) => {
  const exporter = new GatedExporter();
  const commit = groupCommit();
  const all = Array.from({ length: 40 }, () => commit.settle(aClaim(), [{ exporter, rows: someRows() }]));
  const large = Array.from({ length: 3 }, () =>
    commit.settle(aClaim(), [{ exporter, rows: someRows(6 * 1024 * 1024) }]),
  );
  const pump = (async () => {
    for (let group = 0; group < 5; group++) await exporter.proceed();
  })();
  await Promise.all([...all, ...large, pump]);
  t.same(exporter.groups, [16, 16, 9, 1, 1]);
});

t.test('four times as many requests share a group when their rows only name a place', async (t) => {
  const exporter = Object.assign(new GatedExporter(), { stage: async () => someRows() });
  const commit = groupCommit();
  const settle = (exporters: readonly Exporter[]) =>
    commit.settle(
      aClaim(),
      exporters.map((exporter) => ({ exporter, rows: someRows() })),
    );
  const staged = Array.from({ length: 70 }, () => settle([exporter]));
  for (let group = 0; group < 2; group++) await exporter.proceed();
  await Promise.all(staged);
  const other = new GatedExporter();
  const both = Array.from({ length: 20 }, () => settle([exporter, other]));
  for (let group = 0; group < 2; group++) {
    await exporter.proceed();
    await other.proceed();
  }
  await Promise.all(both);
  t.same(
    [exporter.groups, other.groups],
    [
      [64, 6, 16, 4],
      [16, 4],
    ],
  );
});

/** A ledger with a concurrent group. Groups stay open until the test ends them, in any order. */
class TwoLanes implements Ledger {
  readonly concurrentGroups = 2;
  readonly open: { readonly size: number; end(): void }[] = [];
  most = 0;

  async settle(...[group, write]: Parameters<Ledger['settle']>): Promise<readonly Outcome[]> {
    await write(group, { join: () => undefined, flush: async () => undefined });
    await new Promise<void>((resolve) => {
      const entry = { size: group.length, end: resolve };
      this.open.push(entry);
      this.most = Math.max(this.most, this.open.length);
    });
    return group.map(() => ({ kind: 'stored', quota: null }));
  }

  end(index = 0): void {
    for (const { end } of this.open.splice(index, 1)) end();
  }
}

const nextTurns = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
};

t.test('a concurrent group begins only when it is full', async (t) => {
  const ledger = new TwoLanes();
  const commit = groupCommit(ledger);
  const settled: Promise<unknown>[] = [];
  const arrive = (count: number): void => {
    for (let index = 0; index < count; index++) settled.push(commit.settle(aClaim(), []));
  };
  const sizes = (): readonly number[] => ledger.open.map(({ size }) => size);
  arrive(1);
  await nextTurns();
  arrive(15);
  await nextTurns();
  t.same(sizes(), [1]);
  arrive(1);
  await nextTurns();
  t.same(sizes(), [1, 16]);
  arrive(40);
  await nextTurns();
  t.same(sizes(), [1, 16], 'there is no third group');
  ledger.end(1);
  await nextTurns();
  t.same(sizes(), [1, 16]);
  ledger.end(1);
  await nextTurns();
  ledger.end(1);
  await nextTurns();
  t.same(sizes(), [1], 'a smaller group waits');
  ledger.end();
  await nextTurns();
  t.same(sizes(), [8]);
  ledger.end();
  await Promise.all(settled);
});

t.test(
  'with concurrent groups every request is answered, and exporters that cannot be rolled back write one at a time',
  async () => {
    const steps = fc.array(
      fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constantFrom('end first', 'end second', 'end both')),
    );
    await fc.assert(
      fc.asyncProperty(steps, async (moves) => {
        const ledger = new TwoLanes();
        const commit = groupCommit(ledger);
        let writing = 0;
        let overlapped = false;
        const exporter: Exporter = {
          encode: () => someRows(),
          write: async () => {
            overlapped ||= ++writing > 1;
            await new Promise((resolve) => setImmediate(resolve));
            writing--;
          },
        };
        const settled: Promise<unknown>[] = [];
        for (const move of moves) {
          if (typeof move === 'number')
            for (let index = 0; index < move; index++)
              settled.push(commit.settle(aClaim(), [{ exporter, rows: someRows() }]));
          else if (move === 'end both') for (const _ of [...ledger.open]) ledger.end();
          else ledger.end(move === 'end first' ? 0 : 1);
          await new Promise((resolve) => setImmediate(resolve));
        }
        const drained = commit.drain().then(() => 'drained');
        while ((await Promise.race([drained, nextTurns()])) !== 'drained') ledger.end();
        await Promise.all(settled);
        return !overlapped && ledger.most <= 2;
      }),
      { numRuns: 100 },
    );
  },
);

t.test('exporters that join the transaction write first, and when they fail the others do not write', async (t) => {
  const order: string[] = [];
  const exporter = (name: string, transactional: boolean, failure?: Error): Exporter => ({
    transactional,
    encode: () => someRows(),
    write: async () => {
      order.push(name);
      if (failure !== undefined) throw failure;
    },
  });
  const file = exporter('file', false);
  await groupCommit().settle(aClaim(), [
    { exporter: file, rows: someRows() },
    { exporter: exporter('postgres', true), rows: someRows() },
  ]);
  t.same(order, ['postgres', 'file']);
  order.length = 0;
  const broken = exporter('postgres', true, new Error('constraint'));
  await t.rejects(
    groupCommit().settle(aClaim(), [
      { exporter: file, rows: someRows() },
      { exporter: broken, rows: someRows() },
    ]),
  );
  t.same(order, ['postgres']);
});

t.test('when a ledger throws against its contract, every request of the group is refused', async (t) => {
  const ledger: Ledger = { settle: async () => Promise.reject(new Error('bug')) };
  await t.rejects(groupCommit(ledger).settle(aClaim(), []), { code: 'ingestion_failed' });
  const silent: Ledger = { settle: async (): Promise<readonly Outcome[]> => [] };
  await t.rejects(groupCommit(silent).settle(aClaim(), []), { code: 'ingestion_failed' });
});

t.test('after close new requests are refused with shutting_down, and drain waits for the others', async (t) => {
  const exporter = new GatedExporter();
  const commit = groupCommit();
  const last = commit.settle(aClaim(), [{ exporter, rows: someRows() }]);
  commit.close();
  await t.rejects(commit.settle(aClaim(), []), { code: 'shutting_down' });
  const drained = commit.drain();
  await exporter.proceed();
  await drained;
  t.same(await last, { replayed: false, quota: null });
});

t.test(
  'a clock that is set ahead and back changes neither the markers nor the quota of the memory ledger',
  async (t) => {
    let now = Date.UTC(2026, 10, 30, 23, 59, 59);
    const ledger = new MemoryLedger(() => now);
    const free = { ...project, plan: 'free' as const, monthlySpans: 2 };
    const kindOf = async (claim: Claim): Promise<string | undefined> =>
      (await ledger.settle([claim], async () => undefined))[0]?.kind;
    const claim = aClaim({ project: free, spanCount: 2 });
    t.equal(await kindOf(claim), 'stored');
    now += 3653 * DAY_MS;
    t.equal(await kindOf(claim), 'replayed');
    t.equal(await kindOf(aClaim({ project: free, spanCount: 1 })), 'stored', 'another month');
    now -= 3653 * DAY_MS;
    t.equal(await kindOf(claim), 'replayed');
    t.equal(await kindOf(aClaim({ project: free, spanCount: 1 })), 'refused');
  },
);

t.test('the memory ledger removes a marker after an hour, and answers every request by the rules', async (t) => {
  let now = 0;
  const ledger = new MemoryLedger(Date.now, () => now);
  const write = async (): Promise<void> => undefined;
  const claim = aClaim({ traces: claimedTraces([{ traceId: 'a', environment: 'x' }]) });
  const kindOf = async (one: Claim): Promise<string> => {
    const [outcome] = await ledger.settle([one], write);
    return outcome?.kind === 'refused' ? outcome.rejection.code : (outcome?.kind ?? 'none');
  };
  t.equal(await kindOf(claim), 'stored');
  now = 3599999;
  t.equal(await kindOf(claim), 'replayed');
  now = 3600000;
  t.equal(await kindOf(claim), 'stored');
  t.equal(await kindOf(aClaim({ project: { ...project, name: 'q' }, traces: claim.traces })), 'trace_conflict');
  t.equal(
    await kindOf(aClaim({ traces: claimedTraces([{ traceId: 'a', environment: 'y' }]) })),
    'environment_mismatch',
  );
  t.ok(new Rejection('trace_conflict').refusal.status === 409);
});
