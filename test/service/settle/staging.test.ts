// Staging: what is released when, and which failure a request is answered with.
import t from 'tap';
import type { Exporter, Rows } from '../../../src/component/exporter.ts';
import { Rejection } from '../../../src/errors.ts';
import { stageRows } from '../../../src/service/settle/staging.ts';

interface Counted extends Rows {
  released: number;
}

function someRows(): Counted {
  const rows = { signal: 'traces' as const, count: 1, bytes: 10, chunks: [], released: 0 };
  return Object.assign(rows, { release: () => void rows.released++ });
}

const exporter = (stage?: Exporter['stage']): Exporter => ({
  encode: () => someRows(),
  write: async () => undefined,
  ...(stage === undefined ? {} : { stage }),
});

t.test('staged rows replace those they were made from, which are released with their reserved bytes', async (t) => {
  const [plain, raw, staged] = [someRows(), someRows(), someRows()];
  let closed = 0;
  const stages = exporter(async (rows) => {
    t.equal(rows, raw);
    t.equal(raw.released, 0, 'the rows are there while they are staged');
    return staged;
  });
  const other = exporter();
  const settled = await stageRows([
    { exporter: other, rows: plain },
    { exporter: stages, rows: raw, room: { close: () => void closed++ } },
  ]);
  t.same(
    settled.map(({ exporter, rows }) => [exporter, rows]),
    [
      [other, plain],
      [stages, staged],
    ],
  );
  t.same([plain.released, raw.released, staged.released, closed], [0, 1, 0, 1]);
});

t.test('when one exporter cannot stage, the others are awaited and everything is released once', async (t) => {
  const [plain, raw, failing, staged] = [someRows(), someRows(), someRows(), someRows()];
  let finish = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const stages = exporter(async () => {
    await slow;
    return staged;
  });
  const broken = exporter(async () => {
    throw new Error('the bucket is unavailable');
  });
  const result = stageRows([
    { exporter: exporter(), rows: plain },
    { exporter: broken, rows: failing },
    { exporter: stages, rows: raw },
  ]);
  const rejected = t.rejects(result, { code: 'ingestion_failed', details: { cause: 'the bucket is unavailable' } });
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(raw.released, 0, 'not while it is staged');
  finish();
  await rejected;
  t.same([plain.released, raw.released, failing.released, staged.released], [1, 1, 1, 1]);
});

t.test('a rejection of an exporter is the answer', async (t) => {
  const full = exporter(async () => {
    throw new Rejection('overloaded', { hint: 'full' });
  });
  await t.rejects(stageRows([{ exporter: full, rows: someRows() }]), { code: 'overloaded', details: { hint: 'full' } });
});
