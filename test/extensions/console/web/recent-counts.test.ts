/** Durations of commits from the counts of buckets. The module is bundled as for the browser. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import t from 'tap';

interface Reading {
  readonly commitTimes: Readonly<Record<string, number>>;
}

interface Module {
  commitMs(before: Reading, latest: Reading, share: number): number | null;
  readingOf(daemon: object | null): object | null;
}

const source = fileURLToPath(
  new URL('../../../../../src/extensions/console/web/data/recent-counts.ts', import.meta.url),
);
const { outputFiles } = await build({ entryPoints: [source], bundle: true, write: false, format: 'esm' });
const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
const { commitMs, readingOf } = (await import(`data:text/javascript;base64,${code}`)) as Module;

const before = { commitTimes: { 0.001: 100, 0.005: 0, 0.01: 0, '+Inf': 0 } };
const latest = { commitTimes: { '+Inf': 1, 0.001: 110, 0.005: 80, 0.01: 9 } };

t.test('the new commits count, evenly within a bucket', async (t) => {
  t.equal(commitMs(before, latest, 0.5), 3);
  t.equal(commitMs(before, latest, 0.1), 1);
  t.equal(commitMs(before, latest, 0.99), 10);
  t.equal(commitMs(before, latest, 1), 10, 'above the last limit it is that limit');
  t.equal(commitMs(latest, latest, 0.5), null, 'no new commit');
});

t.test('a daemon that does not tell its counts has none', async (t) => {
  t.equal(readingOf(null), null);
  t.equal(readingOf({ uptimeSeconds: 3, signals: {} }), null);
  t.match(readingOf({ uptimeSeconds: 3, signals: {}, commitTimes: {} }), { uptimeSeconds: 3 });
});
