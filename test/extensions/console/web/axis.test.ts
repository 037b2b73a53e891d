/** The axis of a trace with long waits. The module is bundled as for the browser. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import t from 'tap';

interface Axis {
  readonly length: number;
  readonly width: number;
  readonly folds: readonly { readonly from: number; readonly to: number; readonly at: number }[];
  at(ms: number): number;
  real(shown: number): number;
}

interface Module {
  axisOf(spans: readonly { start: number; duration: number | null }[], length: number, isFolded: boolean): Axis;
}

const source = fileURLToPath(new URL('../../../../../src/extensions/console/web/data/axis.ts', import.meta.url));
const { outputFiles } = await build({ entryPoints: [source], bundle: true, write: false, format: 'esm' });
const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
const { axisOf } = (await import(`data:text/javascript;base64,${code}`)) as Module;

const span = (start: number, duration: number | null) => ({ start, duration });

t.test('a wait of more than ten times the rest is folded', async (t) => {
  const spans = [span(0, 100), span(20, 50), span(10_100, 100), span(10_500, 100)];
  const axis = axisOf(spans, 10_600, true);
  t.match(axis.folds, [{ from: 100, to: 10_100, at: 100 }]);
  t.equal(axis.folds.length, 1, 'the wait of 300 ms is not');
  t.equal(axis.width, 15);
  t.equal(axis.length, 615);
  t.same([0, 100, 10_100, 10_500, 10_600].map(axis.at), [0, 100, 115, 515, 615]);
  t.same([0, 50, 100, 115, 615].map(axis.real), [0, 50, 100, 10_100, 10_600]);
});

t.test('several waits, spans without an end, no span', async (t) => {
  const axis = axisOf([span(0, 1), span(1_000, null), span(9_000, 1)], 9_001, true);
  t.equal(axis.folds.length, 2);
  t.ok(Math.abs(axis.real(axis.at(9_000)) - 9_000) < 1e-6);
  t.same(axisOf([], 1, true).folds, []);
});

t.test('a span over everything, or the choice of the reader, leaves the axis as it is', async (t) => {
  t.equal(axisOf([span(0, 10_000), span(1, 1), span(9_999, 1)], 10_000, true).length, 10_000);
  const plain = axisOf([span(0, 1), span(1_000, 1)], 1_001, false);
  t.same([plain.length, plain.at(1_000), plain.real(7)], [1_001, 1_000, 7]);
});

t.test('an event without a duration at the end of a wait is at the end of the axis', async (t) => {
  for (const [first, last] of [
    [134.34537760063802, 47_113_579.370545425],
    [933.9816221755102, 79_897_025.96184538],
    [1_000, 86_400_000.1],
  ] as const) {
    const { real, length, folds } = axisOf([span(0, first), span(last, 0)], last, true);
    t.same([folds.length, real(length)], [1, last]);
  }
});
