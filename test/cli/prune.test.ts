// `sluice prune`: exactly the records of the selection, the ids of empty traces, and a whole project.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { tracesProtobuf } from '../../src/pdata/otlp-protobuf.ts';
import { Database } from '../../src/extensions/postgres/database.ts';
import { removeProject } from '../../src/extensions/postgres/removal/project.ts';
import { folderOf } from '../support/config-files.ts';
import { type Outcome, sluice as call } from '../support/command-line.ts';
import { connectTo } from '../support/connection.ts';
import { KEY, OTHER_KEY, STAGING_KEY } from '../support/daemon.ts';
import { send } from '../support/otlp-client.ts';
import { aGauge, aLogRequest, aMetricRequest, aSpan, aTraceRequest, newTraceId } from '../support/payloads.ts';
import { postgresConfig, startPostgresDaemon } from '../support/postgres-daemon.ts';
import { DAY_NS } from '../../src/pdata/time-units.ts';

t.setTimeout(300_000);

const NOW_NS = BigInt(Date.now()) * 1_000_000n;
const daemon = await startPostgresDaemon(t);
const folder = folderOf({});
writeFileSync(join(folder, 'a.yaml'), postgresConfig({ databaseUrl: daemon.databaseUrl }));
const sluice = (...args: readonly string[]): Promise<Outcome> => call(['prune', ...args, '-c', 'a.yaml'], { folder });

async function post(path: string, body: object, key: string): Promise<void> {
  const { status } = await send(daemon.url, { path, body: JSON.stringify(body), authorization: `Bearer ${key}` });
  if (status !== 200) throw new Error(`${path} was answered ${status}`);
}

/** A trace with a span of each age in days, and a log record. */
async function store(key: string, ages: readonly number[]): Promise<string> {
  const traceId = newTraceId();
  const resource = {
    'service.name': 'shop',
    ...(key === STAGING_KEY ? { 'deployment.environment.name': 'staging' } : {}),
  };
  const spans = ages.map((age) => aSpan({ traceId, start: NOW_NS - BigInt(age) * DAY_NS }));
  await post('/v1/traces', aTraceRequest(spans, resource), key);
  await post(
    '/v1/logs',
    aLogRequest([{ timeUnixNano: String(NOW_NS), body: { stringValue: 'a' }, traceId }], resource),
    key,
  );
  return traceId;
}

/** Spans, log records, claims and counted spans by project. */
async function counts(project: string): Promise<readonly number[]> {
  const tables = ['spans', 'logs', 'traces', 'metric_points'].map(
    (table) => `(SELECT count(*)::int4 FROM sluice.${table} WHERE project = $1) AS ${table}`,
  );
  const [row = {}] = await daemon.query(
    `SELECT ${tables.join(', ')}, (SELECT coalesce(sum(spans), 0)::int4 FROM sluice.usage_months WHERE project = $1) AS counted`,
    [project],
  );
  return Object.values(row) as number[];
}

const OBJECTS = /Objects keep what they contain/u;

const old = await store(KEY, [3, 400]);
await store(KEY, [0, 3]);
await store(STAGING_KEY, [3]);
const other = await store(OTHER_KEY, [3]);
await post('/v1/metrics', aMetricRequest([aGauge('a', 1)]), OTHER_KEY);
// A field of 127 bytes that are not there: the id by itself is a readable request in some runs.
await daemon.query(
  "INSERT INTO sluice.outbox (destination, signal, project, records, bytes, body) VALUES ('d', 'traces', 'demo', 1, 18, decode($1, 'hex'))",
  [`0a7f${old}`],
);

t.test('wrong selections are refused before anything is read', async (t) => {
  const wrong: readonly (readonly [RegExp, ...string[]])[] = [
    [/name what to remove/u],
    [/--environment needs --project/u, '--environment', 'staging'],
    [/is not the id of a trace/u, '--trace', 'x'],
    [/--trace takes no other selection/u, '--trace', old, '--before', '7d'],
    [/--before takes a time/u, '--before', 'yesterday'],
    [/--before takes a time/u, '--before', '2026-02-30'],
    [/is in the future/u, '--before', '2999-01-01'],
  ];
  for (const [err, ...args] of wrong) t.match(await sluice(...args), { code: 2, err }, args.join(' '));
  t.match(await sluice('--project', 'absent', '--yes'), { code: 1, err: /there is no project "absent"/u });
  t.match(await sluice('--trace', newTraceId(), '--yes'), { code: 1, err: /there is no trace/u });
});

t.test('nothing is removed without a confirmation, or with --dry-run', async (t) => {
  const before = await counts('demo');
  t.same(before, [5, 3, 3, 0, 5]);
  const err = /2 spans, 1 log record, 0 metric points/u;
  t.match(await sluice('--trace', old), { code: 1, err });
  t.match(await sluice('--trace', old), { err: /Add --yes/u });
  t.match(await sluice('--trace', old, '--dry-run', '--yes'), { code: 0, out: '', err });
  t.match(await sluice('--before', '0001-01-01', '--dry-run'), { code: 0, err: /nothing|0 spans/u }, 'before 1970');
  t.match(await sluice('--project', 'demo', '--dry-run'), { code: 0, err: /the project demo, .*5 spans/u });
  t.same(await counts('demo'), before);
});

t.test(
  'an answer that is not the word removes nothing, and neither do Ctrl-C, Ctrl-D and the end of the input',
  async (t) => {
    const before = await counts('demo');
    await daemon.query(
      `INSERT INTO sluice.parts (object_id, first_byte, bytes, codec, signal, project, records)
     VALUES (decode('${'0'.repeat(30)}01', 'hex'), 0, 1, 'zstd', 'spans', 'demo', 1)`,
    );
    for (const input of [['no'], ['\u0003'], ['\u0004'], []]) {
      const asked = await call(['prune', '--trace', old, '-c', 'a.yaml'], { folder, columns: 200, input });
      t.match(asked, { code: 0, out: '', err: /Nothing was removed\.\n$/u }, JSON.stringify(input));
    }
    await daemon.query('DELETE FROM sluice.parts');
    t.same(await counts('demo'), before);
  },
);

t.test('counting the records of a trace has no limit of some seconds, except for a lock', async (t) => {
  const holder = await connectTo(t, daemon.databaseUrl);
  await holder.query('BEGIN; LOCK TABLE sluice.spans IN ACCESS EXCLUSIVE MODE');
  t.match(await sluice('--trace', old, '--yes'), { code: 1, err: /another session of the database holds a lock/u });
});

t.test('a trace is removed, from requests of the outbox too', async (t) => {
  t.match(await sluice('--trace', old, '--project', 'other', '--yes'), { code: 1, err: /there is no trace/u });
  const outcome = await sluice('--trace', old.toUpperCase(), '--yes');
  t.match(outcome, {
    code: 0,
    out: 'Removed 2 spans, 1 log record, 0 metric points.\n',
    err: /from 1 request of the outbox/u,
  });
  t.same(await counts('demo'), [3, 2, 2, 0, 5]);
});

t.test('a removal that ended before the outbox was searched is repeated', async (t) => {
  const traceId = newTraceId();
  const body = Buffer.from(tracesProtobuf(JSON.stringify(aTraceRequest([aSpan({ traceId })]))));
  await daemon.query(
    `INSERT INTO sluice.outbox (destination, signal, project, records, bytes, body) VALUES ('d', 'traces', 'demo', 1, $1, $2)`,
    [body.length, body],
  );
  t.match(await sluice('--trace', traceId, '--project', 'another', '--yes'), { code: 1, err: /there is no trace/u });
  t.match(await sluice('--trace', traceId, '--yes'), { code: 0, err: /from 1 request of the outbox/u });
  t.strictSame(await daemon.query('SELECT FROM sluice.outbox WHERE body = $1', [body]), []);
  t.match(await sluice('--trace', traceId, '--yes'), { code: 1, err: /there is no trace/u });
});

t.test('an environment is removed from requests of the outbox, a period is not', async (t) => {
  const resources = ['staging', ' STAGING ', 'production', null].map((environment, index) => ({
    ...{ 'service.name': `service-${index}` },
    ...(environment === null ? {} : { 'deployment.environment': environment }),
  }));
  const bodyOf = (wanted: readonly object[]): Buffer => {
    const blocks = wanted.flatMap(
      (resource) =>
        (aTraceRequest([aSpan({ name: 'one' })], resource as never) as { readonly resourceSpans: readonly object[] })
          .resourceSpans,
    );
    return Buffer.from(tracesProtobuf(JSON.stringify({ resourceSpans: blocks })));
  };
  const body = bodyOf(resources);
  for (const state of ['waiting', 'dead'])
    await daemon.query(
      `INSERT INTO sluice.outbox (destination, signal, project, records, bytes, body, state)
       VALUES ('e', 'traces', 'demo', 4, $1, $2, $3)`,
      [body.length, body, state],
    );
  const stored = async (): Promise<readonly string[]> =>
    (await daemon.query("SELECT body, records FROM sluice.outbox WHERE destination = 'e' ORDER BY sequence")).map(
      ({ body: each, records }) =>
        `${records}: ${String(each)
          .match(/service-\d/gu)
          ?.join(' ')}`,
    );
  const kept = await sluice('--project', 'demo', '--environment', 'staging', '--before', '2000-01-01', '--yes');
  t.match(kept, { code: 0, err: /The outbox has 2 requests .* will still be sent/u });
  t.same(await stored(), Array(2).fill('4: service-0 service-1 service-2 service-3'));
  const removed = await sluice('--project', 'demo', '--environment', 'Elsewhere', '--yes');
  t.notMatch(removed.err, /outbox/u);
  await sluice('--project', 'demo', '--environment', 'production', '--yes');
  t.same(await stored(), Array(2).fill('3: service-0 service-1 service-3'));
  await daemon.query("DELETE FROM sluice.outbox WHERE destination = 'e'");
});

t.test('an environment before a time: what is younger and other environments stay', async (t) => {
  t.match(await sluice('--project', 'demo', '--environment', 'Staging', '--before', '2d', '--yes'), {
    code: 0,
    out: 'Removed 1 span, 0 log records, 0 metric points.\n',
  });
  // Its log record arrived now, so the claim stays.
  t.same(await counts('demo'), [2, 2, 2, 0, 5]);
  t.match(await sluice('--project', 'demo', '--environment', 'staging', '--yes'), { code: 0, out: /1 log record/u });
  t.same(await counts('demo'), [2, 1, 1, 0, 5]);
});

t.test('an age counts from now by the clock of the database', async (t) => {
  const now = Date.now.bind(Date);
  t.intercept(Date, 'now', { value: () => now() + 3 * 86_400_000 });
  t.match(await sluice('--before', '2d', '--dry-run'), { code: 0, err: /: 2 spans, 0 log records, 0 metric points/u });
});

t.test('a period of all projects: whole days are dropped', async (t) => {
  t.match(await sluice('--before', '2d', '--yes'), {
    code: 0,
    out: 'Removed 2 spans, 0 log records, 0 metric points.\n',
    err: /\d partitions of whole days dropped/u,
  });
  t.same(await counts('demo'), [1, 1, 1, 0, 5]);
  t.same(await counts('other'), [0, 1, 1, 1, 1]);
  await post('/v1/traces', aTraceRequest([aSpan({ traceId: other, start: NOW_NS - 3n * DAY_NS })]), OTHER_KEY);
  t.same(await counts('other'), [1, 1, 1, 1, 2], 'a late span of a dropped day is stored');
});

t.test('objects are mentioned, and a removed project has no parts', async (t) => {
  const period = ['--project', 'demo', '--before', '900d', '--yes'];
  t.notMatch((await sluice(...period)).err, OBJECTS);
  await daemon.query(
    `INSERT INTO sluice.parts (object_id, first_byte, bytes, codec, signal, project, records)
     VALUES ('a', 0, 1, 'gzip', 'spans', 'demo', 1), ('a', 1, 1, 'gzip', 'spans', 'third', 1)`,
  );
  t.match(await sluice(...period), { code: 0, err: /and `sluice compact` publishes it/u });
  await daemon.query("INSERT INTO sluice.projects (name) VALUES ('third')");
  t.match(await sluice('--project', 'third', '--yes'), { code: 0, err: /`sluice compact` does not publish it/u });
  t.same(await daemon.query('SELECT project FROM sluice.parts'), [{ project: 'demo' }]);
});

t.test('a project is removed with all that belongs to it, and may be created again', async (t) => {
  const database = new Database().use({ connectionString: daemon.databaseUrl });
  t.teardown(() => database.close());
  await daemon.query("INSERT INTO sluice.projects (name) VALUES ('other')");
  await daemon.query("INSERT INTO sluice.api_keys (public_id, project, hash) VALUES ('k', 'other', 'x')");
  await daemon.query(
    "INSERT INTO sluice.people (id, name, role, projects) VALUES ('p', 'p', 'viewer', '{demo,other}')",
  );
  const removed = await removeProject(database, { project: 'other', revocationMs: 0, report: () => undefined });
  t.same(removed, { spans: 1, logs: 1, metricPoints: 1 });
  t.same(await counts('other'), [0, 0, 0, 0, 0]);
  const left = await daemon.query(`
    SELECT (SELECT count(*)::int4 FROM sluice.projects WHERE name = 'other') AS projects,
      (SELECT count(*)::int4 FROM sluice.api_keys WHERE project = 'other') AS keys,
      (SELECT count(*)::int4 FROM sluice.replay_markers WHERE project = 'other') AS markers,
      (SELECT projects FROM sluice.people WHERE id = 'p') AS person,
      (SELECT details ->> 'spans' FROM sluice.audit WHERE action = 'project.remove' AND project = 'other') AS audited`);
  t.same(left, [{ projects: 0, keys: 0, markers: 0, person: ['demo'], audited: '1' }]);
  t.same(await counts('demo'), [1, 1, 1, 0, 5], 'the others stay');
  // The daemon remembers the resource as stored; it must not be lost.
  const again = await store(OTHER_KEY, [0]);
  const [row] = await daemon.query('SELECT resource FROM spans WHERE trace_id = $1', [again]);
  t.match(row, { resource: { 'service.name': 'shop' } });
  t.match(await sluice('--project', 'other', '--yes'), { code: 0, out: /^Removed the project other: 1 span/u });
});
