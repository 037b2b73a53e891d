// Requests of one project beside those of others: whose turn it is, who waits for whom, and who does not.
import fc from 'fast-check';
import t from 'tap';
import type { Exporter, Rows } from '../../../src/component/exporter.ts';
import type { Claim, Decision, Kind, Ledger } from '../../../src/component/capabilities/ledger.ts';
import { GroupCommit } from '../../../src/service/settle/group-commit.ts';
import { MemoryLedger } from '../../../src/service/settle/memory-ledger.ts';
import { Registry } from '../../../src/service/telemetry/registry.ts';

const QUIET = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const MIB = 1048576;
const named = (name: string, monthlySpans: number | null = null) => ({
  name,
  plan: monthlySpans === null ? ('paid' as const) : ('free' as const),
  monthlySpans,
  privacy: new Map(),
});

let serial = 0;
const aClaim = (project: string, changes: Partial<Claim> = {}): Claim => ({
  project: named(project),
  signal: 'traces',
  replayKey: Buffer.from(`key ${serial++}`),
  traces: [],
  spanCount: 1,
  recordCount: 1,
  ...changes,
});
const aTrace = (traceId: string) => ({ traceId, environment: 'default', firstNs: null, lastNs: null });

const rowsOf = (bytes: number, chunks: readonly Buffer[] = []): Rows => ({
  signal: 'traces',
  count: 1,
  bytes,
  chunks,
  release: () => undefined,
});
const idle: Exporter = { encode: () => rowsOf(1), write: async () => undefined };

/** Every group stays open until the test ends it. */
class OpenGroups implements Ledger {
  readonly lanes = 2;
  readonly heavyLanes = 1;
  readonly kinds = new Map<string, Kind>();
  readonly open: { readonly names: readonly string[]; end(decision?: Decision): void }[] = [];

  kindOf({ project }: Claim): Kind {
    return this.kinds.get(project.name) ?? 'plain';
  }

  async settle(group: readonly Claim[]): Promise<readonly Decision[]> {
    const names = group.map(({ project }) => project.name);
    const decision = await new Promise<Decision>((resolve) => {
      const entry = {
        names,
        end: (given: Decision = { kind: 'stored', quota: null }) => {
          this.open.splice(this.open.indexOf(entry), 1);
          resolve(given);
        },
      };
      this.open.push(entry);
    });
    return group.map(() => decision);
  }

  get groups(): readonly string[] {
    return this.open.map(({ names }) => names.join(''));
  }
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

function start(ledger: Ledger) {
  const commit = new GroupCommit(ledger, QUIET, new Registry());
  const settled: string[] = [];
  const all: Promise<unknown>[] = [];
  const arrive = (claim: Claim, bytes = 10): void => {
    const over = commit.settle(claim, [{ exporter: idle, rows: rowsOf(bytes) }]);
    all.push(over.then(() => settled.push(claim.project.name)));
  };
  return { commit, arrive, settled, over: () => Promise.all(all) };
}

t.test('projects take turns: a flood of one does not push the requests of others to the back', async (t) => {
  const ledger = new OpenGroups();
  const { arrive, over } = start(ledger);
  arrive(aClaim('f'));
  await turns();
  for (let index = 0; index < 100; index++) arrive(aClaim('f'));
  for (const name of ['a', 'b', 'b', 'c']) arrive(aClaim(name));
  ledger.open[0]?.end();
  await turns();
  const taken = ledger.groups.join('');
  for (const name of ['a', 'b', 'b', 'c']) t.ok(taken.includes(name));
  t.match(ledger.groups[1] ?? ledger.groups[0], /^(f+a?b?c?|.*f.*)/);
  t.equal(taken.split('b').length - 1, 2, 'both of a small sender, as there is room');
  while (ledger.open.length > 0) {
    ledger.open[0]?.end();
    await turns();
  }
  await over();
});

t.test('whatever waits, no project gets a second place in a group before every other had one', async () => {
  const arrivals = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1, maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(arrivals, async (names) => {
      const ledger = new OpenGroups();
      const { arrive, over, settled } = start(ledger);
      arrive(aClaim('first'));
      await turns();
      for (const name of names) arrive(aClaim(name));
      ledger.open[0]?.end();
      await turns();
      const waiting: string[] = [...names];
      let fair = true;
      while (ledger.open.length > 0) {
        const group = ledger.open[0]?.names ?? [];
        const counts = new Map<string, number>();
        for (const name of group) counts.set(name, (counts.get(name) ?? 0) + 1);
        const most = Math.max(...counts.values());
        for (const name of new Set(waiting)) {
          const left = waiting.filter((one) => one === name).length;
          fair &&= (counts.get(name) ?? 0) >= Math.min(left, most - 1);
        }
        for (const name of group) waiting.splice(waiting.indexOf(name), 1);
        ledger.open[0]?.end();
        await turns();
      }
      await over();
      return fair && settled.length === names.length + 1;
    }),
    { numRuns: 60 },
  );
});

t.test('a group never waits for a request that is larger than a group, nor for any number of these', async (t) => {
  const ledger = new OpenGroups();
  const { arrive, over, settled } = start(ledger);
  for (let index = 0; index < 3; index++) arrive(aClaim('G'), 20 * MIB);
  arrive(aClaim('T', { recordCount: 400000 }));
  await turns();
  t.same(ledger.groups, ['G'], 'one at a time');
  arrive(aClaim('a'));
  await turns();
  t.same(ledger.groups, ['G', 'a']);
  ledger.open[1]?.end();
  await turns();
  t.same(settled, ['a']);
  const heavy: string[] = [];
  for (let index = 0; index < 4; index++) {
    heavy.push(ledger.groups.join());
    ledger.open[0]?.end();
    await turns();
  }
  t.same(heavy, ['G', 'G', 'T', 'G'], 'projects take turns with these as well');
  await over();
});

t.test('what would wait in the store for a large request waits alone, and its neighbours do not', async (t) => {
  const ledger = new OpenGroups();
  const { arrive, over, settled } = start(ledger);
  const traces = ['11', '22', '33'].map(aTrace);
  const giant = aClaim('G', { traces, recordCount: 400000 });
  arrive(giant);
  await turns();
  arrive(aClaim('s', { traces: [aTrace('22')] }));
  arrive(aClaim('G', { replayKey: giant.replayKey }));
  arrive(aClaim('a', { traces: [aTrace('44')] }));
  arrive(aClaim('G'));
  await turns();
  t.same(ledger.groups, ['G', 'aG'], 'one of the same project has nothing to wait for');
  ledger.open[1]?.end();
  await turns();
  t.same(settled, ['a', 'G']);
  t.same(ledger.groups, ['G']);
  ledger.open[0]?.end();
  await turns();
  t.same(ledger.groups, ['Gs']);
  ledger.open[0]?.end();
  await over();
});

t.test('a quota is one counter: the project waits for its own large request, others do not', async (t) => {
  const ledger = new OpenGroups();
  const { arrive, over } = start(ledger);
  arrive(aClaim('q', { project: named('q', 1e6), recordCount: 400000 }));
  await turns();
  arrive(aClaim('q', { project: named('q', 1e6) }));
  arrive(aClaim('a'));
  await turns();
  t.same(ledger.groups, ['q', 'a']);
  ledger.open[1]?.end();
  ledger.open[0]?.end();
  await turns();
  t.same(ledger.groups, ['q']);
  ledger.open[0]?.end();
  await over();
});

t.test('requests of another kind have a group of their own, and need not wait for the first', async (t) => {
  const ledger = new OpenGroups();
  ledger.kinds.set('x', 'careful');
  const { arrive, over } = start(ledger);
  for (const name of ['a', 'x', 'b', 'x', 'x']) arrive(aClaim(name));
  await turns();
  t.same(ledger.groups, ['ab', 'xxx']);
  for (const { end } of [...ledger.open]) end();
  await over();
});

t.test('what is settled apart has one lane at most, and groups of one project', async (t) => {
  const ledger = new OpenGroups();
  for (const name of ['x', 'y']) ledger.kinds.set(name, 'apart');
  const { arrive, over } = start(ledger);
  for (const name of ['x', 'y', 'x', 'y', 'a']) arrive(aClaim(name));
  await turns();
  t.same([...ledger.groups].sort(), ['a', 'xx']);
  ledger.open.find(({ names }) => names[0] === 'a')?.end();
  await turns();
  t.same(ledger.groups, ['xx'], 'the other lane stays free for others');
  arrive(aClaim('a'));
  await turns();
  t.same([...ledger.groups].sort(), ['a', 'xx']);
  for (const { end } of [...ledger.open]) end();
  await turns();
  t.same(ledger.groups, ['yy']);
  ledger.open[0]?.end();
  await over();
});

t.test('a deferred request is settled again, and only its last verdict counts', async (t) => {
  const ledger = new OpenGroups();
  const { arrive, over, settled } = start(ledger);
  arrive(aClaim('a'));
  arrive(aClaim('b'));
  await turns();
  ledger.open[0]?.end({ kind: 'deferred' });
  await turns();
  t.same(settled, []);
  t.same(ledger.groups, ['ba']);
  ledger.open[0]?.end();
  await over();
  t.same(settled.sort(), ['a', 'b']);
});

t.test('the rows of a large request are written in parts, and others are written in between', async (t) => {
  const written: string[] = [];
  const gates: (() => void)[] = [];
  const exporter: Exporter = {
    takesParts: true,
    encode: () => rowsOf(1),
    write: (group) => {
      written.push(group.flatMap(({ chunks }) => chunks.map((chunk) => chunk.toString('latin1', 0, 1))).join(''));
      return new Promise((resolve) => gates.push(resolve));
    },
  };
  const commit = new GroupCommit(new MemoryLedger(Date.now), QUIET, new Registry());
  const chunks = ['1', '2', '3', '4'].map((mark) => Buffer.alloc(5 * MIB, mark));
  const large = commit.settle(aClaim('G'), [{ exporter, rows: rowsOf(20 * MIB, chunks) }]);
  await turns();
  const small = commit.settle(aClaim('a'), [{ exporter, rows: rowsOf(1, [Buffer.from('a')]) }]);
  await turns();
  t.same(written, ['12']);
  gates.shift()?.();
  await turns();
  t.same(written, ['12', 'a'], 'after one part');
  gates.shift()?.();
  await small;
  await turns();
  t.same(written, ['12', 'a', '34']);
  gates.shift()?.();
  await large;
});

t.test('the memory ledger settles a small request beside a large one, unless the verdict depends on it', async (t) => {
  const ledger = new MemoryLedger(Date.now);
  const gates: (() => void)[] = [];
  const gated = () => new Promise<void>((resolve) => gates.push(resolve));
  const kindOf = ([decision]: readonly Decision[]): string =>
    decision?.kind === 'refused' ? decision.rejection.code : (decision?.kind ?? 'none');
  const giant = aClaim('G', { traces: [aTrace('11')] });
  const first = ledger.settle([giant], gated).then(kindOf);
  await turns();
  t.equal(kindOf(await ledger.settle([aClaim('a', { traces: [aTrace('22')] })], async () => undefined)), 'stored');
  const answers: string[] = [];
  const dependents = [aClaim('b', { traces: [aTrace('11')] }), { ...giant }].map((claim) =>
    ledger.settle([claim], async () => undefined).then((decisions) => answers.push(kindOf(decisions))),
  );
  await turns();
  t.same(answers, []);
  gates.shift()?.();
  t.equal(await first, 'stored');
  await Promise.all(dependents);
  t.same(answers, ['trace_conflict', 'replayed']);
});
