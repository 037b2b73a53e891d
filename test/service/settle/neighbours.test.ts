// Requests of several projects in the group commit: their order, and which of them wait.
import fc from 'fast-check';
import { QUIET } from '../../support/quiet-logger.ts';
import t from 'tap';
import type { Exporter, Rows } from '../../../src/component/exporter.ts';
import type { Claim, Decision, Kind, Ledger } from '../../../src/component/capabilities/ledger.ts';
import { GroupCommit } from '../../../src/service/settle/group-commit.ts';
import { MemoryLedger } from '../../../src/service/settle/memory-ledger.ts';
import { claimedTraces, NO_TRACES } from '../../support/claimed-traces.ts';
import { Registry } from '../../../src/service/telemetry/registry.ts';

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
  traces: NO_TRACES,
  spanCount: 1,
  recordCount: 1,
  ...changes,
});
const tracesOf = (project: string, ...ids: readonly string[]) =>
  claimedTraces(ids.map((traceId) => ({ traceId, project })));

const rowsOf = (bytes: number, chunks: readonly Buffer[] = []): Rows => ({
  signal: 'traces',
  count: 1,
  bytes,
  chunks,
  release: () => undefined,
});
const idle: Exporter = { encode: () => rowsOf(1), write: async () => undefined };

/** A ledger whose groups stay open until the test ends them. */
class OpenGroups implements Ledger {
  readonly concurrentGroups = 2;
  readonly concurrentHeavyRequests = 1;
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

function start(ledger: Ledger, now = (): number => performance.now()) {
  const commit = new GroupCommit(ledger, QUIET, new Registry(), { now });
  const settled: string[] = [];
  const all: Promise<unknown>[] = [];
  const arrive = (claim: Claim, bytes = 10): void => {
    const over = commit.settle(claim, [{ exporter: idle, rows: rowsOf(bytes) }]);
    all.push(over.then(() => settled.push(claim.project.name)));
  };
  return { commit, arrive, settled, over: () => Promise.all(all) };
}

t.test('projects alternate: many requests of one project do not delay those of others', async (t) => {
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
  t.equal(taken.split('b').length - 1, 2, 'both requests of a small sender fit');
  while (ledger.open.length > 0) {
    ledger.open[0]?.end();
    await turns();
  }
  await over();
});

t.test('in any queue, no project has two requests in a group before every other has one', async () => {
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

t.test('small requests form groups of their own, beside any number of large ones', async (t) => {
  const ledger = new OpenGroups();
  const { arrive, over, settled } = start(ledger);
  for (const name of ['L', 'M', 'N', 'O']) arrive(aClaim(name, { recordCount: 12_000 }));
  await turns();
  t.same(ledger.groups, ['L', 'M']);
  arrive(aClaim('a'));
  arrive(aClaim('L'));
  await turns();
  t.same(ledger.groups, ['L', 'M', 'aL'], 'also one of the project with a large request');
  arrive(aClaim('b'));
  ledger.open[2]?.end();
  await turns();
  t.same(
    [settled, ledger.groups],
    [
      ['a', 'L'],
      ['L', 'M', 'b'],
    ],
  );
  while (ledger.open.length > 0) {
    ledger.open[0]?.end();
    await turns();
  }
  await over();
});

t.test('beside a large request, a small one does not wait for the small group before it', async (t) => {
  for (const heavy of [false, true]) {
    const ledger = new OpenGroups();
    const { arrive, over } = start(ledger);
    arrive(aClaim('L', { recordCount: heavy ? 40_000 : 12_000 }));
    for (const name of ['a', 'b', 'c', 'd']) {
      await turns();
      arrive(aClaim(name));
    }
    await turns();
    t.same(ledger.groups, heavy ? ['L', 'a', 'b', 'c'] : ['L', 'a', 'b'], 'four connections at most');
    ledger.open[0]?.end();
    await turns();
    t.notOk(ledger.groups.includes('d'), 'without large ones, the next group grows');
    while (ledger.open.length > 0) {
      ledger.open[0]?.end();
      await turns();
    }
    await over();
  }
});

t.test('while small requests arrive, large ones have one group at a time', async (t) => {
  const ledger = new OpenGroups();
  let nowMs = 0;
  const { arrive, over } = start(ledger, () => nowMs);
  for (const name of ['L', 'M', 'N', 'O', 'P', 'Q']) arrive(aClaim(name, { recordCount: 12_000 }));
  await turns();
  t.same(ledger.groups, ['L', 'M'], 'large requests alone have all groups');
  arrive(aClaim('a'));
  await turns();
  ledger.open[0]?.end();
  await turns();
  t.same(ledger.groups, ['M', 'a'], 'the next large group waits for the other');
  ledger.open[1]?.end();
  await turns();
  t.same(ledger.groups, ['M'], 'also between two small requests');
  ledger.open[0]?.end();
  await turns();
  t.same(ledger.groups, ['N']);
  nowMs = 1000;
  ledger.open[0]?.end();
  await turns();
  t.same(ledger.groups, ['O', 'P'], 'no small request for a second');
  while (ledger.open.length > 0) {
    ledger.open[0]?.end();
    await turns();
  }
  await over();
});

t.test('many small requests do not keep large ones waiting', async (t) => {
  const ledger = new OpenGroups();
  const { arrive, over } = start(ledger);
  for (let index = 0; index < 64; index++) arrive(aClaim('s'));
  await turns();
  t.equal(ledger.open.length, 2);
  arrive(aClaim('L', {}), 4 * MIB);
  await turns();
  t.equal(ledger.groups[2], 'L');
  while (ledger.open.length > 0) {
    ledger.open[0]?.end();
    await turns();
  }
  await over();
});

t.test('a small request on a trace of a large group waits for it, and its own group does not', async (t) => {
  const ledger = new OpenGroups();
  const { arrive, over, settled } = start(ledger);
  arrive(aClaim('L', { traces: tracesOf('L', '11'), recordCount: 12_000 }));
  await turns();
  arrive(aClaim('a', { traces: tracesOf('a', '11') }));
  arrive(aClaim('b', { traces: tracesOf('b', '22') }));
  await turns();
  t.same(ledger.groups, ['L', 'b']);
  ledger.open[1]?.end();
  await turns();
  t.same(settled, ['b']);
  ledger.open[0]?.end();
  await turns();
  t.same(ledger.groups, ['a']);
  ledger.open[0]?.end();
  await over();
});

t.test('a group of small requests is half of the largest group', async (t) => {
  const ledger = new OpenGroups();
  const { arrive, over } = start(ledger);
  arrive(aClaim('f'));
  await turns();
  for (let index = 0; index < 16; index++) arrive(aClaim('s', { recordCount: 1024 }));
  ledger.open[0]?.end();
  await turns();
  t.same(ledger.groups, ['ssssssss', 'ssssssss']);
  while (ledger.open.length > 0) {
    ledger.open[0]?.end();
    await turns();
  }
  await over();
});

t.test('a group never waits for heavy requests', async (t) => {
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
  t.same(heavy, ['G', 'G', 'T', 'G'], 'projects alternate for heavy requests as well');
  await over();
});

t.test('a request that depends on a heavy one waits alone, and others of its group do not', async (t) => {
  const ledger = new OpenGroups();
  const { arrive, over, settled } = start(ledger);
  const traces = tracesOf('G', '11', '22', '33');
  const giant = aClaim('G', { traces, recordCount: 400000 });
  arrive(giant);
  await turns();
  arrive(aClaim('s', { traces: tracesOf('s', '22') }));
  arrive(aClaim('G', { replayKey: giant.replayKey }));
  arrive(aClaim('a', { traces: tracesOf('a', '44') }));
  arrive(aClaim('G'));
  await turns();
  t.same(ledger.groups, ['G', 'aG'], 'another request of the same project does not wait');
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

t.test('a project with a quota does not wait for its own heavy request', async (t) => {
  const ledger = new OpenGroups();
  const { arrive, over } = start(ledger);
  arrive(aClaim('q', { project: named('q', 1e6), recordCount: 400000 }));
  await turns();
  arrive(aClaim('q', { project: named('q', 1e6) }));
  await turns();
  t.same(ledger.groups, ['q', 'q']);
  for (const { end } of [...ledger.open]) end();
  await over();
});

t.test('it waits for one that locks the counter early, because a refusal is likely; others do not', async (t) => {
  const ledger = new OpenGroups();
  ledger.kinds.set('q', 'pessimistic');
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

t.test('requests of another kind form another group, and do not wait for the first', async (t) => {
  const ledger = new OpenGroups();
  ledger.kinds.set('x', 'pessimistic');
  const { arrive, over } = start(ledger);
  for (const name of ['a', 'x', 'b', 'x', 'x']) arrive(aClaim(name));
  await turns();
  t.same(ledger.groups, ['ab', 'xxx']);
  for (const { end } of [...ledger.open]) end();
  await over();
});

t.test('requests that are settled apart have one group at a time, of one project', async (t) => {
  const ledger = new OpenGroups();
  for (const name of ['x', 'y']) ledger.kinds.set(name, 'apart');
  const { arrive, over } = start(ledger);
  for (const name of ['x', 'y', 'x', 'y', 'a']) arrive(aClaim(name));
  await turns();
  t.same([...ledger.groups].sort(), ['a', 'xx']);
  ledger.open.find(({ names }) => names[0] === 'a')?.end();
  await turns();
  t.same(ledger.groups, ['xx'], 'a concurrent group is left for others');
  arrive(aClaim('a'));
  await turns();
  t.same([...ledger.groups].sort(), ['a', 'xx']);
  for (const { end } of [...ledger.open]) end();
  await turns();
  t.same(ledger.groups, ['yy']);
  ledger.open[0]?.end();
  await over();
});

t.test('a deferred request is settled again, and only its last outcome counts', async (t) => {
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

t.test('rows of other requests are written beside large rows that the exporter divides', async (t) => {
  const written: string[] = [];
  const gates: (() => void)[] = [];
  const exporter: Exporter = {
    dividesWrites: true,
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
  t.same(written, ['1234', 'a'], 'before the end of the large write');
  gates.pop()?.();
  await small;
  gates.pop()?.();
  await large;
});

t.test('the memory ledger settles a small request beside a heavy one, unless it depends on it', async (t) => {
  const ledger = new MemoryLedger(Date.now);
  const gates: (() => void)[] = [];
  const gated = () => new Promise<void>((resolve) => gates.push(resolve));
  const kindOf = ([decision]: readonly Decision[]): string =>
    decision?.kind === 'refused' ? decision.rejection.code : (decision?.kind ?? 'none');
  const giant = aClaim('G', { traces: tracesOf('G', '11') });
  const first = ledger.settle([giant], gated).then(kindOf);
  await turns();
  t.equal(kindOf(await ledger.settle([aClaim('a', { traces: tracesOf('a', '22') })], async () => undefined)), 'stored');
  const answers: string[] = [];
  const dependents = [aClaim('b', { traces: tracesOf('b', '11') }), { ...giant }].map((claim) =>
    ledger.settle([claim], async () => undefined).then((decisions) => answers.push(kindOf(decisions))),
  );
  await turns();
  t.same(answers, []);
  gates.shift()?.();
  t.equal(await first, 'stored');
  await Promise.all(dependents);
  t.same(answers, ['trace_conflict', 'replayed']);
});

t.test('the memory ledger settles very many traces in steps, and other requests in between', async (t) => {
  const ledger = new MemoryLedger(Date.now);
  const ids = Array.from({ length: 100_000 }, (_, index) => index.toString(16));
  const giant = aClaim('G', { traces: tracesOf('G', ...ids) });
  let isSettled = false;
  const settled = ledger.settle([giant], async () => undefined).finally(() => (isSettled = true));
  const small = async (): Promise<boolean> => {
    await ledger.settle([aClaim('a', { traces: tracesOf('a', 'fffffff') })], async () => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    return !isSettled;
  };
  let between = 0;
  while (await small()) between++;
  await settled;
  t.ok(between > 20, `${between} small requests`);
});
