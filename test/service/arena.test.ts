import { setImmediate as nextLoop } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { ChunkPool } from '../../src/pdata/chunk-pool.ts';
import { Context } from '../../src/pdata/context.ts';
import { encodeRows, type EncodedRows } from '../../src/pdata/encode-rows.ts';
import type { Intake } from '../../src/pdata/index-body.ts';
import { finish } from '../../src/pdata/steps.ts';
import { Arena } from '../../src/service/arena.ts';
import { BODY_KINDS } from '../campaigns/memory/bodies.ts';
import { resourceOf, spanFields, spans } from '../campaigns/memory/protobuf.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const ESCAPED = BODY_KINDS.find(({ name }) => name === 'one string of 16 MiB, half control characters');
const smallSpans = (count: number): Buffer => resourceOf([], spans(count, spanFields('x')));

const PROJECT = { name: 'demo', plan: 'paid', monthlySpans: null, privacy: new Map() } as const;

function makeContext(): Context {
  const context = new Context({ signal: 'traces', transport: 'http', authorization: undefined });
  context.credential = { project: PROJECT, environment: null, keyId: 'static:1' };
  return context;
}

/** One pass; returns the intake that it used and the rows that wait for the commit. */
function pass(arena: Arena, body: Buffer): { intake: Intake; rows: EncodedRows } {
  const intake = finish(arena.acquire([]));
  const batch = intake.index('traces', 'protobuf', body, makeContext());
  const rows = encodeRows(batch, 'copy', new ChunkPool());
  arena.release();
  return { intake, rows };
}

t.test('tables of a usual size are kept for the next pass', async (t) => {
  const arena = new Arena({ pauses: true });
  const first = pass(arena, smallSpans(1000));
  const second = pass(arena, smallSpans(20_000));
  t.equal(second.intake, first.intake);
});

t.test(
  'tables of the largest bodies are kept, and dropped when bodies of different kinds made them larger',
  async (t) => {
    const arena = new Arena({ pauses: true });
    const first = pass(arena, smallSpans(280_000));
    t.ok(pass(arena, smallSpans(1000)).intake === first.intake, 'the tables of one kind are small enough');
    pass(arena, ESCAPED?.make() ?? Buffer.alloc(0));
    t.ok(pass(arena, smallSpans(1000)).intake !== first.intake);
  },
);

t.test('only large tables are dropped after some time without use', async (t) => {
  const timers: (() => void)[] = [];
  t.capture(globalThis, 'setTimeout', (callback: () => void) => {
    timers.push(callback);
    return { unref: () => undefined };
  });
  const arena = new Arena({ pauses: true });
  const { intake } = pass(arena, smallSpans(1000));
  t.equal(timers.length, 0);
  t.ok(pass(arena, smallSpans(200_000)).intake === intake);
  t.equal(timers.length, 1);
  timers[0]?.();
  t.ok(pass(arena, smallSpans(1000)).intake !== intake);
  t.equal(timers.length, 1, 'the new tables are small');
});

t.test('rows that wait for the commit do not keep the tables in memory', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const arena = new Arena({ pauses: true });
  const waiting = ((): { rows: EncodedRows; tables: WeakRef<object> } => {
    const { intake, rows } = pass(arena, smallSpans(280_000));
    pass(arena, ESCAPED?.make() ?? Buffer.alloc(0)).rows.release();
    return { rows, tables: new WeakRef(intake.tables.memory.u8.buffer) };
  })();
  const limit = performance.now() + PATIENCE_MS;
  do {
    await nextLoop();
    collect();
  } while (waiting.tables.deref() !== undefined && performance.now() < limit);
  t.equal(waiting.tables.deref(), undefined);
  t.equal(waiting.rows.count, 280_000);
  waiting.rows.release();
});
