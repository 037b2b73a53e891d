/** Log records without a time count by their arrival. What is read for a page does not grow with the table. */
import t from 'tap';
import { exportRows } from '../../../../src/extensions/console/api/export.ts';
import { listLogs, logsByTime, newestFirst } from '../../../../src/extensions/console/api/logs.ts';
import type { LogRow } from '../../../../src/extensions/console/api/shapes/logs.ts';
import { BASE_NS, logRow, startReading } from '../../../support/console-reading.ts';
import { SECOND_NS } from '../../../../src/pdata/time-units.ts';

t.setTimeout(300_000);
const RECORDS = 4_000;
const SHOWN = 20;
const reading = await startReading(t);
const arrival = (seconds: number): string => new Date(Number(BASE_NS / 1_000_000n) + seconds * 1000).toISOString();
const timeOf = (seconds: number): string => String(BASE_NS + BigInt(seconds) * SECOND_NS);

/** In turn with a time, with one of observation, and with none; one a second. */
const logs = Array.from({ length: RECORDS }, (_, at) => {
  const times = [
    { time_unix_nano: timeOf(at) },
    { time_unix_nano: null, observed_time_unix_nano: timeOf(at) },
    { time_unix_nano: null, received_at: arrival(at) },
  ];
  return logRow({ ...times[at % times.length], body: `record ${at}`, event_name: at % 2 === 0 ? 'even' : 'odd' });
});
await reading.insert('logs', logs);
await reading.client.query('ANALYZE');

t.test('all kinds are in the list and in the file, by their time', async (t) => {
  const query = { from: timeOf(10), to: timeOf(16) };
  const { items } = await reading.ask(listLogs, { query });
  t.strictSame(
    items.map(({ time_unix_nano: ns }: LogRow) => ns),
    [15, 14, 13, 12, 11, 10].map(timeOf),
  );
  for (const [q, expected] of [
    ['', 6],
    ['name:even', 3],
  ] as const) {
    const text = await reading.text(exportRows, { query: { ...query, what: 'logs', q } });
    t.equal(text.trimEnd().split('\n').length, expected, `the file, ${q}`);
  }
});

t.test('a record that arrives between two pages at the time where they meet', async (t) => {
  const query = { from: timeOf(RECORDS), limit: '2', archived: 'false' };
  const row = (name: string): object => logRow({ time_unix_nano: timeOf(RECORDS + 1), event_name: name });
  await reading.insert('logs', ['a', 'b', 'c'].map(row));
  const first = await reading.ask(listLogs, { query });
  await reading.insert('logs', [row('late')]);
  const second = await reading.ask(listLogs, { query: { ...query, cursor: String(first.next) } });
  const names = [...first.items, ...second.items].map((log: LogRow) => log.event_name);
  t.same(names.sort(), ['a', 'b', 'c', 'late']);
});

interface Plan {
  readonly [key: string]: unknown;
  readonly Plans?: readonly Plan[];
}

const scanned = (plan: Plan): number => {
  const isScan = plan['Relation Name'] !== undefined;
  const own = isScan
    ? (Number(plan['Actual Rows']) + Number(plan['Rows Removed by Filter'] ?? 0)) * Number(plan['Actual Loops'])
    : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + scanned(part), own);
};

t.test('a page reads about as many records as it shows', async (t) => {
  for (const conditions of ['true', "l.event_name = 'even'"]) {
    const rows = logsByTime({
      ...{ project: "'demo'", lowest: '0', highest: timeOf(RECORDS), most: String(SHOWN) },
      conditions,
    });
    const text = `SELECT * FROM ${rows} l ORDER BY ${newestFirst('l')} LIMIT ${SHOWN}`;
    const explained = await reading.client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`);
    const read = scanned(explained.rows[0]['QUERY PLAN'][0].Plan);
    t.ok(read >= SHOWN && read < 15 * SHOWN, `${read} records were read, ${conditions}`);
  }
});
