// Resources and scopes are stored once per content, and the views show what was sent, in all cases.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { isLong, longTest } from '../../support/long.ts';
import { OTHER_KEY } from '../../support/daemon.ts';
import { requests } from '../../support/generators.ts';
import { gzip, send } from '../../support/otlp-client.ts';
import { aGauge, aLogRequest, aMetricRequest, aSpan, aTraceRequest, newTraceId } from '../../support/payloads.ts';
import { type PostgresDaemon, startPostgresDaemon } from '../../support/postgres-daemon.ts';
import { encodeProtobuf, loadProtos, SIGNALS } from '../../support/protos.ts';

t.setTimeout(300_000);

const SAMPLES = isLong ? 30 : 10;
const PATHS = ['/v1/traces', '/v1/logs', '/v1/metrics'];
const VIEWS = { span: 'spans', log: 'logs', metric: 'metric_points' };
const other = { authorization: `Bearer ${OTHER_KEY}` };

const countOf = async ({ query }: PostgresDaemon, table: string): Promise<number> =>
  Number((await query(`SELECT count(*) AS n FROM sluice.${table}`))[0]?.['n']);

async function store({ url }: PostgresDaemon, request: object, settings = {}): Promise<number> {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  return (await send(url, { headers, body: gzip(JSON.stringify(request)), ...settings })).status;
}

t.test('the views show the resource and scope of every record as they were sent', async (t) => {
  const daemon = await startPostgresDaemon(t, { exporters: 'postgres, file' });
  const protos = loadProtos();
  let accepted = 0;
  for (const signal of SIGNALS) {
    for (const message of fc.sample(requests(signal), { numRuns: SAMPLES, seed: 23 })) {
      const body = encodeProtobuf(protos.requests[signal], message);
      const headers = { 'content-type': 'application/x-protobuf' };
      const { status } = await send(daemon.url, { path: PATHS[signal] as string, headers, body });
      if (status === 200) accepted++;
    }
  }
  t.ok(accepted > SAMPLES, `${accepted} requests were stored`);
  const lines = (await readFile(join(daemon.folder, 'out.ndjson'), 'utf8')).trimEnd().split('\n');
  const shown = (column: string): string => `jsonb_build_array(${column})`;
  const columns = ['resource', 'scope_name', 'scope_version', 'scope_attributes', 'attributes'];
  for (const [signal, view] of Object.entries(VIEWS)) {
    const own = lines.filter((line) => line.startsWith(`{"signal":"${signal}"`));
    t.ok(own.length > 0, `${own.length} records of ${view}`);
    const sent = columns.map((column) => shown(`line -> '${column}'`)).join(' || ');
    const stored = columns.map(shown).join(' || ');
    const difference = (left: string, right: string): string =>
      `SELECT count(*)::int AS n FROM (${left} EXCEPT ALL ${right}) d`;
    const [said, kept] = [`SELECT ${sent} FROM unnest($1::jsonb[]) AS l (line)`, `SELECT ${stored} FROM ${view}`];
    t.strictSame(await daemon.query(difference(said, kept), [own]), [{ n: 0 }], `all of ${view} is shown`);
    t.strictSame(await daemon.query(difference(kept, said), [own]), [{ n: 0 }], `nothing else is in ${view}`);
  }
  const [inline] = await daemon.query(
    'SELECT count(resource)::int AS resources, count(scope_name)::int AS scopes FROM sluice.spans',
  );
  t.strictSame(inline, { resources: 0, scopes: 0 }, 'no row repeats them');
});

t.test('a content is stored once for each project, for all signals and requests', async (t) => {
  const daemon = await startPostgresDaemon(t);
  for (let round = 0; round < 3; round++) {
    t.equal(await store(daemon, aTraceRequest([aSpan(), aSpan()])), 200);
    t.equal(await store(daemon, aLogRequest([{ body: { stringValue: `${round}` } }]), { path: '/v1/logs' }), 200);
    t.equal(await store(daemon, aMetricRequest([aGauge('load', round)]), { path: '/v1/metrics' }), 200);
  }
  t.equal(await store(daemon, aTraceRequest([aSpan()]), other), 200);
  const rows = await daemon.query('SELECT project, body FROM sluice.resources ORDER BY project');
  t.strictSame(rows, [
    { project: 'demo', body: { 'service.name': 'shop' } },
    { project: 'other', body: { 'service.name': 'shop' } },
  ]);
  t.strictSame(await daemon.query('SELECT project, name, version, attributes FROM sluice.scopes ORDER BY project'), [
    { project: 'demo', name: 'test', version: null, attributes: null },
    { project: 'other', name: 'test', version: null, attributes: null },
  ]);
  t.strictSame(await daemon.query('SELECT DISTINCT resource, scope_name FROM metric_points'), [
    { resource: { 'service.name': 'shop' }, scope_name: 'test' },
  ]);
});

t.test('the contents of a refused request are neither stored nor remembered as stored', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const traceId = newTraceId();
  t.equal(await store(daemon, aTraceRequest([aSpan({ traceId })]), other), 200);
  const before = await countOf(daemon, 'resources');
  const resource = { 'service.name': 'new' };
  t.equal(await store(daemon, aTraceRequest([aSpan({ traceId })], resource)), 409);
  if (isLong) {
    const many = Array.from({ length: 20_000 }, (_, n) => aSpan({ traceId, name: `${n}` }));
    t.equal(await store(daemon, aTraceRequest(many, resource)), 409, 'a request larger than a group');
  }
  t.equal(await countOf(daemon, 'resources'), before);
  t.equal(await store(daemon, aTraceRequest([aSpan()], resource)), 200);
  t.strictSame(await daemon.query("SELECT resource FROM spans WHERE service_name = 'new'"), [{ resource }]);
});

longTest('requests that are larger than a group, and have more contents than a statement takes', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const many = Array.from({ length: 20_000 }, (_, n) => aSpan({ name: `${n}` }));
  t.equal(await store(daemon, aTraceRequest(many)), 200);
  const services = Array.from({ length: 6000 }, (_, n) => aTraceRequest([aSpan()], { 'service.name': `s${n}` }));
  const resourceSpans = services.flatMap((one) => (one as { resourceSpans: object[] }).resourceSpans);
  t.equal(await store(daemon, { resourceSpans }), 200);
  t.equal(await store(daemon, { resourceSpans: resourceSpans.toReversed() }), 200, 'the same spans in another body');
  t.equal(await countOf(daemon, 'resources'), 6001);
  t.strictSame(
    await daemon.query(`
      SELECT count(*)::int AS rows, count(*) FILTER (WHERE resource->>'service.name' = service_name)::int AS right,
        count(DISTINCT resource)::int AS resources FROM spans`),
    [{ rows: 26_000, right: 26_000, resources: 6001 }],
  );
});

longTest('replicas that store the same new contents in any order all succeed', async (t) => {
  const first = await startPostgresDaemon(t);
  const second = await startPostgresDaemon(t, { databaseUrl: first.databaseUrl });
  const bodyOf = (services: readonly number[]): object => ({
    resourceSpans: services.flatMap(
      (n) => (aTraceRequest([aSpan()], { 'service.name': `s${n}` }) as { resourceSpans: object[] }).resourceSpans,
    ),
  });
  const sendings: Promise<number>[] = [];
  for (let round = 0; round < 20; round++) {
    const services = Array.from({ length: 50 }, (_, n) => round * 25 + n);
    sendings.push(store(first, bodyOf(services)), store(second, bodyOf(services.toReversed())));
  }
  t.strictSame(new Set(await Promise.all(sendings)), new Set([200]));
  t.strictSame(
    await first.query(`
      SELECT count(*)::int AS rows, count(*) FILTER (WHERE resource->>'service.name' = service_name)::int AS right FROM spans`),
    [{ rows: 2000, right: 2000 }],
  );
  t.equal(await countOf(first, 'resources'), 525);
});

t.test('a connection to a server that lacks the contents stores them again', async (t) => {
  const daemon = await startPostgresDaemon(t);
  t.equal(await store(daemon, aTraceRequest([aSpan()])), 200);
  // As after a failover to a standby that had not received the last commits.
  await daemon.query('TRUNCATE sluice.resources, sluice.scopes, sluice.spans');
  await daemon.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  let status = 0;
  while (status !== 200) status = await store(daemon, aTraceRequest([aSpan()]));
  t.strictSame(await daemon.query('SELECT resource, scope_name FROM spans'), [
    { resource: { 'service.name': 'shop' }, scope_name: 'test' },
  ]);
});

longTest('the smallest spans with one large resource are accepted and stored compactly', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const protos = loadProtos();
  const spans = Array.from({ length: 200_000 }, (_, n) => {
    const spanId = Buffer.alloc(8);
    spanId.writeUInt32BE(n + 1);
    return { traceId: Buffer.alloc(16, 7), spanId, startTimeUnixNano: 1n };
  });
  const resource = { attributes: [{ key: 'k', value: { stringValue: 'x'.repeat(6_000_000) } }] };
  const message = { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] };
  const body = gzip(encodeProtobuf(protos.requests[0], message));
  const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' };
  t.equal((await send(daemon.url, { headers, body })).status, 200);
  t.strictSame(
    await daemon.query(`
      SELECT (SELECT count(*)::int FROM sluice.spans JOIN sluice.resources ON id = resource_id) AS rows,
        (SELECT length(resource->>'k') FROM spans LIMIT 1) AS length`),
    [{ rows: 200_000, length: 6_000_000 }],
  );
});
