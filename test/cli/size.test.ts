/** `sluice size`: the arithmetic over the ratios, and the options. */
import t from 'tap';
import { type Load, type Setup, setupsFor } from '../../src/cli/sizing.ts';
import { type Outcome, sluice } from '../support/command-line.ts';

const LOAD: Load = { spansPerSecond: 100, days: 30, bytesPerSpan: 4905, peak: 3, hotDays: 7 };
const SPANS = 100 * 86_400 * 30;
const size = (...args: readonly string[]): Promise<Outcome> => sluice(['size', ...args], { folder: t.testdirName });

function setups(changed: Partial<Load> = {}): Readonly<Record<Setup['name'], Setup>> {
  const all = setupsFor({ ...LOAD, ...changed });
  return Object.fromEntries(all.map((each) => [each.name, each])) as Record<Setup['name'], Setup>;
}

t.test('sizes follow from the ratios', async (t) => {
  const { embedded, postgres, archive } = setups();
  const claims = (SPANS / 8) * 198;
  t.equal(Math.round(embedded.diskBytes), Math.round((SPANS * 4905 * 0.9 * 1.25 + claims) / 0.8));
  t.equal(Math.round(postgres.diskBytes), Math.round((2 * (SPANS * 4905 * 0.9 + claims)) / 0.8));
  t.equal(Math.round(archive.diskBytes), Math.round((2 * ((SPANS * 4905 * 0.9 * 7) / 30 + claims)) / 0.8));
  t.equal(Math.round(archive.objectBytes), Math.round(SPANS * 4905 * 0.206));
  t.equal(archive.objects, 30 * Math.ceil((100 * 86_400 * 4905 * 0.206) / 2 ** 28));
  t.same([embedded.objects, postgres.objectBytes, embedded.archiveCores], [0, 0, 0]);
});

t.test('processors follow the peak, the size of spans and the copies', async (t) => {
  const { embedded, postgres, archive } = setups({ spansPerSecond: 10_000 });
  t.equal(embedded.daemonCores, Math.ceil(((10_000 * 3 * 17e-6) / 0.7) * 2) / 2);
  t.equal(embedded.databaseCores, Math.ceil(((10_000 * 3 * 55e-6) / 0.7) * 2) / 2);
  t.equal(postgres.databaseCores, 2 * embedded.databaseCores);
  t.equal(archive.archiveCores, Math.ceil(10_000 * 59e-6 * 2) / 2, 'over the whole day');
  t.equal(
    setups({ spansPerSecond: 10_000, peak: 6 }).embedded.daemonCores,
    Math.ceil(((10_000 * 6 * 17e-6) / 0.7) * 2) / 2,
  );
  const small = setups({ spansPerSecond: 100_000, bytesPerSpan: 100 }).embedded;
  t.equal(small.daemonCores, Math.ceil(((100_000 * 3 * 17e-6 * 0.22) / 0.7) * 2) / 2, 'not below that of small spans');
});

t.test('more of anything never costs less', async (t) => {
  for (const name of ['embedded', 'postgres', 'archive'] as const) {
    let before = 0;
    for (const spansPerSecond of [0.1, 1, 10, 1e3, 1e5, 1e7]) {
      const { dollarsPerMonth } = setups({ spansPerSecond })[name];
      t.ok(dollarsPerMonth >= before, `${name} at ${spansPerSecond}`);
      before = dollarsPerMonth;
    }
    t.ok(setups({ days: 60 })[name].dollarsPerMonth > setups()[name].dollarsPerMonth);
  }
  t.ok(setups({ days: 365 }).archive.dollarsPerMonth < setups({ days: 365 }).postgres.dollarsPerMonth / 5);
});

t.test('a retention below the hot days is all hot', async (t) => {
  t.equal(setups({ days: 3 }).archive.diskBytes, setups({ days: 3 }).postgres.diskBytes);
});

t.test('the command prints a table, or JSON', async (t) => {
  const { out, code } = await size('--spans-per-second', '20000', '--days', '90', '--bytes-per-span', '2KiB');
  t.equal(code, 0);
  t.match(out, /embedded server .*\nown PostgreSQL .*\nown PostgreSQL and archive /u);
  t.match(out, /it has no standby/u);
  const json = JSON.parse((await size('--spans-per-second=5', '--days=1.5', '--json')).out);
  t.match(json.load, { spansPerSecond: 5, days: 1.5, bytesPerSpan: 4905, peak: 3, hotDays: 7 });
  t.same(
    json.setups.map(({ name }: Setup) => name),
    ['embedded', 'postgres', 'archive'],
  );
});

t.test('wrong options are refused', async (t) => {
  for (const args of [
    [],
    ['--days', '3'],
    ['--spans-per-second', '0', '--days', '3'],
    ['--spans-per-second', '-1', '--days', '3'],
    ['--spans-per-second', '1e3', '--days', '3'],
    ['--spans-per-second', '1', '--days', 'a'],
    ['--spans-per-second', '1', '--days', '1', '--bytes-per-span', '0'],
    ['--spans-per-second', '1', '--days', '1', '--bytes-per-span', 'x'],
    ['--spans-per-second', '1', '--days', '1', '--peak', '0.5'],
    ['--spans-per-second', '1', '--days', '1', '--hot-days', '0'],
  ]) {
    const { code, err, out } = await size(...args);
    t.equal(code, 2, args.join(' '));
    t.match(err, /^error: --/u);
    t.equal(out, '');
  }
});
