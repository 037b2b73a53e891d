/** The demonstration, sent to a daemon that has fewer pipelines than there are signals. */
import t from 'tap';
import { sluice } from '../support/command-line.ts';
import { folderOf } from '../support/config-files.ts';
import { FILE_CONFIG, KEY, startDaemon } from '../support/daemon.ts';
import { isLong } from '../support/long.ts';

const withOnly = (signal: string): string =>
  FILE_CONFIG.replace(/^ {4}(traces|logs|metrics): .*\n/gmu, (line, each) => (each === signal ? line : ''));

t.test('what no pipeline receives is named and left out', async (t) => {
  const daemon = await startDaemon(t, { config: withOnly('traces') });
  const demo = (...more: string[]) =>
    sluice(['demo', '--endpoint', daemon.url, '--key', KEY, ...more], { folder: folderOf({}) });
  const once = await demo();
  t.match(once, { code: 0, out: /\n {2}6 spans: .*\n\n/u, err: /\/v1\/logs.*\n.*\/v1\/metrics/u });
  t.equal((await daemon.rows()).length, 6);
  if (!isLong) return;
  const hour = await demo('--scale', 'hour');
  t.equal(hour.code, 0, hour.err);
  t.match(hour.out, /\n {2}0 log records\n {2}0 metric points\n/u);
  t.equal(hour.err.match(/\/v1\/logs/gu)?.length, 1, 'reported once');
});

t.test('without a pipeline of traces it fails', async (t) => {
  const daemon = await startDaemon(t, { config: withOnly('logs') });
  const answer = await sluice(['demo', '--endpoint', daemon.url, '--key', KEY], { folder: folderOf({}) });
  t.match(answer, { code: 1, err: /\/v1\/traces answered 404[\s\S]*pipeline/u });
});
