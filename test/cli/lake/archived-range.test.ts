/** How far back the usage of archived days is read. */
import t from 'tap';
import type { ArchivedFile } from '../../../src/archive/reading/archived-files.ts';
import { boundedSince, filesOf } from '../../../src/cli/lake/archived-range.ts';
import { DAY_NS } from '../../../src/pdata/time-units.ts';

const startOf = (day: string): string => String(BigInt(Date.parse(day)) * 1_000_000n);

const fileOf = (day: string, records: number, signal: ArchivedFile['signal'] = 'spans'): ArchivedFile => ({
  ...{ signal, day, key: day, records, bytes: records, projects: ['shop'] },
  minNs: BigInt(startOf(day)),
  maxNs: BigInt(startOf(day)) + DAY_NS - 1n,
});

const FILES = [
  fileOf('2026-11-05', 10),
  fileOf('2026-11-05', 5, 'logs'),
  fileOf('2026-11-05', 1000, 'metric_points'),
  fileOf('2026-11-04', 20),
  fileOf('2026-11-03', 40),
];
const RANGE = { since: startOf('2026-11-01'), until: startOf('2026-11-06'), project: 'shop' };

t.test('days are read from the newest one backwards, up to a number of records', async (t) => {
  for (const [most, from, days] of [
    [75, '2026-11-01', 3],
    [74, '2026-11-05', 2],
    [35, '2026-11-05', 2],
    [34, '2026-11-06', 1],
    [14, '2026-11-07', 0],
  ] as const) {
    const since = boundedSince(FILES, RANGE, { records: most });
    t.equal(since, startOf(from), `at most ${most}`);
    const read = filesOf(FILES, ['spans', 'logs'], { ...RANGE, since }, DAY_NS);
    t.equal(new Set(read.map(({ day }) => day)).size, days);
    t.ok(read.reduce((sum, { records }) => sum + records, 0) <= most);
  }
});

t.test('files of other projects and of days before the range are not counted', async (t) => {
  t.equal(boundedSince(FILES, { ...RANGE, project: 'blog' }, { records: 0 }), RANGE.since);
  t.equal(boundedSince(FILES, { ...RANGE, since: startOf('2026-11-05') }, { records: 35 }), startOf('2026-11-05'));
});
