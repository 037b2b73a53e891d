/** Ingest while the clocks of the daemon and of PostgreSQL pass the ends of days, months and years, and are set. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { urlOf } from '../../../src/extensions/postgres/embedded/address.ts';
import { EmbeddedServer } from '../../../src/extensions/postgres/embedded/server.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { ask } from '../../support/connection.ts';
import { FREE_KEY, KEY } from '../../support/daemon.ts';
import { type Executable, freePort, openFolder, startExecutable } from '../../support/executable.ts';
import { send } from '../../support/otlp-client.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { aLogRequest, aSpan, aTraceRequest } from '../../support/payloads.ts';
import { asUnprivileged } from '../../support/unprivileged.ts';

const LIBRARY = process.env['SLUICE_FAKETIME'] ?? '';
/** A clock begins this long before the midnight that it passes, and the midnight is passed for as long. */
const AROUND_MS = 5_000;
/** The quota of the project that has one. */
const MONTHLY_SPANS = 3;
const MS_PER_SECOND = 1_000;

interface Passage {
  readonly title: string;
  /** The first moment of the next day. */
  readonly midnight: string;
}

/** In this order, so that clocks are also set back, by a year and by days. */
const PASSAGES: readonly Passage[] = [
  { title: 'the end of a year', midnight: '2028-01-01' },
  { title: 'the day before a leap day', midnight: '2028-02-29' },
  { title: 'a leap day', midnight: '2028-03-01' },
  { title: 'the end of a month, after the clock was set back by eleven months', midnight: '2027-04-01' },
  { title: 'the same midnight again', midnight: '2027-04-01' },
  { title: 'a day in summer, 40 days later', midnight: '2027-05-11' },
  { title: 'the last second of 32 bits', midnight: '2038-01-19' },
  { title: 'February of a year without a leap day', midnight: '2100-03-01' },
];

t.setTimeout(600_000);
if (!existsSync(LIBRARY)) throw new Error('SLUICE_FAKETIME must be the path of libfaketimeMT.so.1');

const folder = openFolder(t);
const clock = join(folder, 'clock');
let offsetMs = 0;
const nowMs = (): number => Date.now() + offsetMs;

/** Every process has read it after a second. */
function setClock(moment: number): void {
  offsetMs = moment - Date.now();
  writeFileSync(clock, `${offsetMs < 0 ? '' : '+'}${Math.round(offsetMs / MS_PER_SECOND)}\n`);
  chmodSync(clock, 0o644);
}

const SHIFTED = {
  LD_PRELOAD: LIBRARY,
  FAKETIME_TIMESTAMP_FILE: clock,
  FAKETIME_CACHE_DURATION: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
};
setClock(Date.now());

/** The embedded server gets no environment of its parent, so it is started here. */
async function startServer(): Promise<string> {
  const log = { info: () => undefined, warn: () => undefined };
  const server = new EmbeddedServer({ dataDir: folder, host: process, log, settings: {} });
  const address = await server.start();
  const { database, programs } = await server.describe();
  await server.stop();
  // No part of the product may depend on the time zone of the server or of the daemon.
  const settings = ['listen_addresses=', `unix_socket_directories=${address.host}`, 'timezone=Asia/Kathmandu'];
  const words = ['-D', String(database), ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(join(String(programs), 'postgres'), words, {
    ...asUnprivileged(),
    env: SHIFTED,
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  t.teardown(async () => {
    child.kill('SIGQUIT');
    await ended;
  });
  return urlOf(address);
}

const url = await startServer();
const query = (text: string): Promise<readonly Record<string, unknown>[]> => ask(url, text);
/** Rejects when it does not hold in time. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const check = async (): Promise<true | undefined> => ((await holds().catch(() => false)) ? true : undefined);
  if ((await waitFor(check, { timeoutMs: PATIENCE_MS })) !== true) throw new Error(`not in time: ${what}`);
}
const countOf = async (text: string): Promise<number> => Number((await query(text))[0]?.['count']);

const port = await freePort();
const endpoint = `http://127.0.0.1:${port}`;
writeFileSync(
  join(folder, 'sluice.yaml'),
  `
extensions: { postgres: { url: "${url}" } }
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
processors:
  auth: { keys: [{ key: ${KEY}, project: demo }, { key: ${FREE_KEY}, project: free, plan: free, monthly_spans: ${MONTHLY_SPANS} }] }
  environment: {}
exporters: { postgres: { retention: { spans: 36500d, logs: 36500d, metrics: 36500d } } }
service:
  extensions: [postgres]
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: &pipeline { receivers: [otlp], processors: [auth, environment], exporters: [postgres] }
    logs: *pipeline
`,
);

let daemon: Executable;
async function startDaemon(): Promise<void> {
  daemon = startExecutable(['run', '--config', 'sluice.yaml'], folder, { ...SHIFTED, TZ: 'America/New_York' });
  await daemon.until('everything is ready');
}
async function stopDaemon(t: Test): Promise<void> {
  daemon.child.kill('SIGTERM');
  t.equal(await daemon.ended, 0, 'the daemon stops');
  t.notMatch(daemon.output.err, /"level":"(?:error|fatal)"/u, 'no error in the log');
}

let sent = 0;
const acknowledged = { spans: 0, logs: 0 };
const statuses = new Map<number, number>();

/** A span and a log record of this moment, each sent twice with the same bytes. */
async function sendOnce(): Promise<void> {
  sent++;
  const start = BigInt(nowMs()) * 1_000_000n;
  const bodies = [
    ['spans', '/v1/traces', aTraceRequest([aSpan({ name: `span ${sent}`, start })])],
    ['logs', '/v1/logs', aLogRequest([{ timeUnixNano: String(start), body: { stringValue: `record ${sent}` } }])],
  ] as const;
  for (const [kind, path, request] of bodies) {
    const body = JSON.stringify(request);
    const answers = [await send(endpoint, { path, body }), await send(endpoint, { path, body })];
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (answers.some(({ status }) => status === 200)) acknowledged[kind]++;
  }
}

const sendFree = () =>
  send(endpoint, {
    authorization: `Bearer ${FREE_KEY}`,
    body: JSON.stringify(aTraceRequest([aSpan({ name: 'free', start: BigInt(nowMs()) * 1_000_000n })])),
  });

t.test('the daemon starts days before the first midnight', async () => {
  await until('the server answers', async () => (await query('SELECT')).length === 1);
  setClock(Date.parse(PASSAGES[0]?.midnight ?? '') - 3 * 86_400_000);
  await startDaemon();
});

for (const { title, midnight } of PASSAGES) {
  t.test(title, async (t) => {
    const passed = Date.parse(midnight);
    const endsMonth = midnight.endsWith('-01');
    setClock(passed - AROUND_MS);
    const databaseMs = async (): Promise<number> =>
      countOf('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS count');
    await until('the server has the new clock', async () => Math.abs((await databaseMs()) - nowMs()) < MS_PER_SECOND);
    // The daemon asks the server for its clock, and learns a jump with its next answers.
    await sendOnce();
    const before: number[] = [];
    for (let index = 0; index <= MONTHLY_SPANS; index++) {
      const { status, headers } = await sendFree();
      before.push(status);
      if (status !== 429 || !endsMonth) continue;
      const left = (passed - nowMs()) / MS_PER_SECOND;
      const retryAfter = Number(headers['retry-after']);
      t.ok(
        retryAfter >= 1 && Math.abs(retryAfter - left) <= 3,
        `a retry after ${retryAfter} s, ${left} s before the end`,
      );
    }
    t.ok(before.includes(429), `the quota is used up: ${before}`);
    while (nowMs() < passed + AROUND_MS) await sendOnce();
    const { status } = await sendFree();
    t.equal(status, endsMonth ? 200 : 429, 'the quota after midnight');
    t.same([...statuses.keys()], [200], 'every request is stored');
    const stored = await query(`SELECT
      (SELECT count(*) FROM sluice.spans WHERE project = 'demo')::int4 AS spans, (SELECT count(*) FROM sluice.logs)::int4 AS logs`);
    t.same(stored, [acknowledged], 'each record is stored once');
    // The next start makes the partitions of the days around its own: for spans a week back, for logs from today.
    await stopDaemon(t);
    await startDaemon();
    const misplaced = `SELECT (SELECT count(*) FROM sluice.spans_default)
      + (SELECT count(*) FROM sluice.logs_default WHERE (received_at AT TIME ZONE 'UTC')::date = (now() AT TIME ZONE 'UTC')::date) AS count`;
    await until('no record of today is in a default partition', async () => (await countOf(misplaced)) === 0);
  });
}

t.test('the last stop', (t) => stopDaemon(t));
