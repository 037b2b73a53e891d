// Which requests are refused because those before them wait long for their commit, with a simulated clock.
import fc from 'fast-check';
import t from 'tap';
import type { Ledger } from '../../../src/component/capabilities/ledger.ts';
import { Rejection } from '../../../src/errors.ts';
import { GroupCommit } from '../../../src/service/settle/group-commit.ts';
import { Registry } from '../../../src/service/telemetry/registry.ts';
import { NO_TRACES } from '../../support/claimed-traces.ts';
import { QUIET } from '../../support/quiet-logger.ts';

const ROW_BYTES = 100_000;
/** Larger than a group. */
const HEAVY_BYTES = 10_000_000;

type Settled = 'stored' | 'deferred';

/** A ledger whose groups end when the test says so. Only groups of several projects are deferred. */
class Groups implements Ledger {
  readonly concurrentHeavyRequests = 1;
  readonly #open: { readonly size: number; end(decision: Settled): void }[] = [];

  readonly concurrentGroups: number;

  constructor(concurrentGroups: number) {
    this.concurrentGroups = concurrentGroups;
  }

  settle(group: Parameters<Ledger['settle']>[0]): Promise<Awaited<ReturnType<Ledger['settle']>>> {
    return new Promise((resolve) => {
      const canDefer = new Set(group.map(({ project }) => project.name)).size > 1;
      const end = (kind: Settled): void =>
        resolve(group.map(() => (kind === 'deferred' && canDefer ? { kind } : { kind: 'stored', quota: null })));
      this.#open.push({ size: group.length, end });
    });
  }

  get open(): number {
    return this.#open.length;
  }

  end(decision: Settled = 'stored', which: 'oldest' | 'newest' = 'oldest'): number {
    const group = which === 'oldest' ? this.#open.shift() : this.#open.pop();
    group?.end(decision);
    return group?.size ?? 0;
  }
}

function isAllowed(admit: () => void): boolean {
  try {
    admit();
    return true;
  } catch (error) {
    requireOverloaded(error);
    return false;
  }
}

function requireOverloaded(error: unknown): void {
  if (!(error instanceof Rejection) || error.code !== 'overloaded') throw error;
}

class Requests {
  ms = 0;
  readonly ledger: Groups;
  readonly commit: GroupCommit;
  readonly registry = new Registry();
  readonly outcomes: Promise<unknown>[] = [];
  /** Requests that were refused as `overloaded` after their pass. */
  refused = 0;
  #count = 0;
  #settled = 0;

  constructor(concurrentGroups = 1) {
    this.ledger = new Groups(concurrentGroups);
    this.commit = new GroupCommit(this.ledger, QUIET, this.registry, { now: () => this.ms });
  }

  arrive(count: number, { project = 'demo', bytes = ROW_BYTES } = {}): void {
    for (let index = 0; index < count; index++) {
      const outcome = this.#settle(project, bytes).catch((error: unknown) => {
        requireOverloaded(error);
        this.refused++;
      });
      this.outcomes.push(outcome.finally(() => this.#settled++));
    }
  }

  /** Whether a request of the project is admitted now. */
  isAdmitted(project = 'demo'): boolean {
    return isAllowed(() => this.commit.admit(project));
  }

  /** Whether a body of the project is admitted now, after it was read. */
  isBodyAdmitted(bytes: number, project = 'demo'): boolean {
    return isAllowed(() => this.commit.admitBody(project, bytes));
  }

  /** Ends the oldest group after this time. */
  async end(ms: number, decision?: Settled, which?: 'oldest' | 'newest'): Promise<number> {
    await this.begun();
    this.ms += ms;
    const size = this.ledger.end(decision, which);
    await this.begun();
    return size;
  }

  async begun(): Promise<void> {
    for (let poll = 0; poll < 3; poll++) await new Promise((resolve) => setImmediate(resolve));
  }

  async endAll(ms: number): Promise<void> {
    while (this.#settled < this.#count) await this.end(ms);
    await Promise.all(this.outcomes);
  }

  #settle(name: string, bytes: number): Promise<unknown> {
    const rows = { signal: 'traces' as const, count: 1, bytes, chunks: [], release: () => undefined };
    const exporter = { encode: () => rows, write: async () => undefined };
    const project = { name, plan: 'paid' as const, monthlySpans: null, privacy: new Map() };
    const claim = {
      project,
      signal: 'traces' as const,
      replayKey: Buffer.from(`key ${this.#count++}`),
      traces: NO_TRACES,
      spanCount: 1,
      recordCount: 1,
    };
    return this.commit.settle(claim, [{ exporter, rows }]);
  }
}

t.test('a project whose requests wait longer than a second is refused until they wait less', async (t) => {
  const requests = new Requests();
  requests.arrive(16);
  t.equal(await requests.end(160), 16, '10 ms a request');
  requests.arrive(95);
  t.ok(requests.isAdmitted());
  requests.arrive(15);
  t.notOk(requests.isAdmitted());
  t.throws(() => requests.commit.admit('demo'), {
    code: 'overloaded',
    details: { hint: '110 requests of the project wait for their commit' },
  });
  await requests.end(160);
  t.ok(requests.isAdmitted(), 'one group less');
  await requests.endAll(160);
});

t.test('another project is admitted, and fewer than 16 requests are never too many', async (t) => {
  const requests = new Requests();
  requests.arrive(16);
  await requests.end(16_000);
  requests.arrive(100);
  t.notOk(requests.isAdmitted());
  t.ok(requests.isAdmitted('other'));
  requests.arrive(15, { project: 'other' });
  t.ok(requests.isAdmitted('other'));
  requests.arrive(1, { project: 'other' });
  t.notOk(requests.isAdmitted('other'));
  await requests.endAll(16);
  t.ok(requests.isAdmitted());
});

t.test('a burst after small groups, which take as long as full ones, is admitted', async (t) => {
  const requests = new Requests();
  for (let group = 0; group < 40; group++) {
    requests.arrive(1, { bytes: 100 });
    t.equal(await requests.end(20), 1);
  }
  requests.arrive(700, { bytes: 100 });
  t.ok(requests.isAdmitted(), '44 groups');
  requests.arrive(200, { bytes: 100 });
  t.notOk(requests.isAdmitted(), '57 groups');
  await requests.endAll(20);
});

t.test('large requests fill a group by their bytes', async (t) => {
  const requests = new Requests(2);
  for (let group = 0; group < 10; group++) {
    requests.arrive(16, { bytes: 262_144 });
    t.equal(await requests.end(200), 16);
  }
  requests.arrive(60, { bytes: 262_144 });
  t.ok(requests.isAdmitted(), 'four groups');
  requests.arrive(4, { bytes: 2_097_152 });
  t.notOk(requests.isAdmitted(), 'as much as two groups more');
  await requests.endAll(200);
});

t.test('concurrent groups count as one group of half the time', async (t) => {
  const requests = new Requests(2);
  requests.arrive(64);
  await requests.begun();
  t.equal(requests.ledger.open, 2);
  await requests.end(320);
  for (let group = 0; group < 3; group++) await requests.end(80);
  for (let lap = 0; lap < 20; lap++) {
    requests.arrive(32);
    for (let group = 0; group < 2; group++) await requests.end(80);
  }
  requests.arrive(180);
  t.ok(requests.isAdmitted(), '180 × 5 ms');
  requests.arrive(30);
  t.notOk(requests.isAdmitted(), '210 × 5 ms');
  await requests.endAll(80);
});

t.test('the time without groups does not count', async (t) => {
  const requests = new Requests();
  requests.arrive(16);
  await requests.end(160);
  requests.ms += 60_000;
  requests.arrive(16);
  await requests.end(160);
  requests.arrive(90);
  t.ok(requests.isAdmitted());
  await requests.endAll(160);
});

t.test('a burst after a time without groups is admitted', async (t) => {
  const requests = new Requests();
  requests.arrive(1);
  await requests.end(10);
  requests.ms += 60_000;
  requests.arrive(40);
  t.ok(requests.isAdmitted(), 'no group has begun yet');
  await requests.endAll(10);
});

t.test('while no group ends for more than three seconds, a project has at most 16 requests that wait', async (t) => {
  const requests = new Requests(2);
  requests.arrive(15);
  await requests.begun();
  requests.ms += 60_000;
  t.ok(requests.isAdmitted(), 'few requests wait');
  await requests.endAll(1);

  const many = new Requests(2);
  many.arrive(40);
  await many.begun();
  many.ms += 3000;
  t.ok(many.isAdmitted(), 'a short pause only delays them');
  many.ms += 1;
  t.notOk(many.isAdmitted());
  t.ok(many.isAdmitted('other'));
  await many.endAll(1);
  t.ok(many.isAdmitted());
});

t.test('heavy requests neither count nor measure the speed of groups', async (t) => {
  const requests = new Requests();
  requests.arrive(1, { bytes: HEAVY_BYTES });
  await requests.end(60_000);
  requests.arrive(16);
  await requests.end(160);
  requests.arrive(2, { bytes: 10 * HEAVY_BYTES });
  requests.arrive(20);
  t.ok(requests.isAdmitted());
  await requests.endAll(16);
  t.equal(requests.refused, 0);
});

for (const [name, bytes] of [
  ['heavy request', HEAVY_BYTES],
  ['blocked group', ROW_BYTES],
] as const)
  t.test(`a burst beside a ${name} that takes long is admitted`, async (t) => {
    const requests = new Requests(2);
    requests.arrive(1, { bytes, project: 'slow' });
    await requests.begun();
    requests.ms += 60_000;
    requests.arrive(16);
    t.equal(await requests.end(160, 'stored', 'newest'), 16);
    requests.arrive(90);
    t.ok(requests.isAdmitted());
    await requests.endAll(160);
  });

for (const [name, bytes] of [
  ['large', 4_194_304],
  ['heavy', HEAVY_BYTES],
] as const)
  t.test(
    `${name} requests that would wait longer than three seconds are refused, with fewer than two none`,
    async (t) => {
      const requests = new Requests(2);
      requests.arrive(1, { bytes });
      await requests.end(800);
      // Small groups in between are fast.
      requests.arrive(16);
      await requests.end(10);
      requests.arrive(6, { bytes });
      await requests.begun();
      t.equal(requests.refused, 2, '4 × 800 ms wait');
      t.equal(requests.registry.by('sluice_verdicts', 'verdict')['refused'], 2);
      t.notOk(requests.isBodyAdmitted(4_194_304), 'a body that is read meanwhile');
      t.ok(requests.isBodyAdmitted(1_048_576), 'its rows may be few');
      t.ok(requests.isAdmitted());
      requests.arrive(1);
      requests.arrive(1, { bytes, project: 'other' });
      await requests.begun();
      t.equal(requests.refused, 2, 'small requests and another project');
      await requests.endAll(800);
      t.ok(requests.isBodyAdmitted(4_194_304));

      requests.arrive(1, { bytes });
      await requests.end(60_000);
      requests.arrive(3, { bytes });
      await requests.begun();
      t.equal(requests.refused, 3, 'two wait, however long each takes');
      await requests.endAll(800);
    },
  );

t.test('a deferred request counts once', async (t) => {
  const requests = new Requests();
  requests.arrive(16);
  await requests.end(160);
  requests.arrive(80);
  requests.arrive(10, { project: 'other' });
  for (let lap = 0; lap < 5; lap++) await requests.end(0, 'deferred');
  t.ok(requests.isAdmitted());
  await requests.endAll(160);
});

t.test('whatever the order of groups, every project is admitted when no request waits', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(
        fc.record({
          project: fc.constantFrom('a', 'b', 'c'),
          count: fc.integer({ min: 1, max: 40 }),
          bytes: fc.constantFrom(10, ROW_BYTES, 1_000_000, HEAVY_BYTES),
          ms: fc.integer({ min: 0, max: 5000 }),
          decision: fc.constantFrom<Settled>('stored', 'stored', 'deferred'),
        }),
        { maxLength: 12 },
      ),
      async (concurrent, steps) => {
        const requests = new Requests(concurrent);
        for (const { project, count, bytes, ms, decision } of steps) {
          requests.arrive(count, { project, bytes });
          await requests.end(ms, decision);
        }
        await requests.endAll(100);
        return ['a', 'b', 'c'].every((project) => requests.isAdmitted(project));
      },
    ),
    { numRuns: 50 },
  );
  t.pass();
});
