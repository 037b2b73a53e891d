// `sluice bench`: its requests, and short runs against a daemon with a database.
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { FreshRequests } from '../../src/cli/bench/requests.ts';
import { KINDS, makeTraceRequest } from '../../src/cli/bench/trace-request.ts';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { SIGNAL_TRACES } from '../../src/pdata/layout.ts';
import { type Outcome, sluice as call } from '../support/command-line.ts';
import { folderOf } from '../support/config-files.ts';
import { connectTo } from '../support/connection.ts';
import { FREE_KEY, KEY } from '../support/daemon.ts';
import { freePort, startExecutable } from '../support/executable.ts';
import { isLong } from '../support/long.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig, SERVED } from '../support/postgres-daemon.ts';
import { loadProtos } from '../support/protos.ts';

t.setTimeout(300_000);

interface Decoded {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly spans: readonly { readonly traceId: Uint8Array; readonly spanId: Uint8Array; readonly name: string }[];
    }[];
  }[];
}

const spansIn = (body: Buffer) =>
  (loadProtos().requests[SIGNAL_TRACES].decode(body) as unknown as Decoded).resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans);
const tracesOf = (body: Buffer): readonly string[] =>
  spansIn(body).map(({ traceId }) => Buffer.from(traceId).toString('hex'));

t.test('a request has the spans of its kind, eight in a trace', async (t) => {
  for (const [kind, calls] of [
    ['mix', 5],
    ['model-calls', 20],
    ['small-spans', 0],
  ] as const) {
    const { bytes } = makeTraceRequest({ spans: 20, kind, environment: 'bench', nowMs: Date.now() }, 'seed');
    const spans = spansIn(bytes);
    t.equal(spans.length, 20);
    t.equal(spans.filter(({ name }) => name.startsWith('chat')).length, calls, kind);
    t.equal(new Set(tracesOf(bytes)).size, 3);
    t.equal(new Set(spans.map(({ spanId }) => Buffer.from(spanId).toString('hex'))).size, 20);
  }
});

t.test('each request has new trace ids and otherwise the same content, also when it is compressed', async (t) => {
  for (const kind of KINDS.keys()) {
    const made = makeTraceRequest({ spans: 16, kind, environment: 'bench', nowMs: Date.now() }, kind);
    const content = Buffer.from(made.bytes);
    for (const encoding of ['gzip', 'identity'] as const) {
      const requests = new FreshRequests([made], encoding);
      const read = (body: Buffer): Buffer => (encoding === 'gzip' ? gunzipSync(body) : body);
      const [first, second] = [requests.next(), requests.next()];
      const [one, two] = [Buffer.from(read(first)), Buffer.from(read(second))];
      requests.done(first);
      const third = Buffer.from(read(requests.next()));
      t.equal(new Set([content, one, two, third].flatMap(tracesOf)).size, 8, 'four requests of two traces');
      const without = (body: Buffer): string =>
        [...new Set(tracesOf(body))].reduce((hex, id, at) => hex.replaceAll(id, `trace ${at}`), body.toString('hex'));
      for (const body of [one, two, third]) t.ok(without(body) === without(content), `${kind}, ${encoding}`);
      if (encoding === 'gzip') t.ok(first.length < content.length / 1.5);
    }
  }
});

t.test('with a daemon', async (t) => {
  const { url: databaseUrl } = await createDatabase(t, SERVED);
  const [port, metricsPort] = [await freePort(), await freePort()];
  const config = postgresConfig({ databaseUrl })
    .replace('127.0.0.1:0', `127.0.0.1:${port}`)
    .replace('metrics: { enabled: false }', `metrics: { endpoint: "127.0.0.1:${metricsPort}" }`)
    .replace('file: { path: "{folder}/out.ndjson" }', '');
  const folder = folderOf({ 'a.yaml': config });
  const daemon = startExecutable(['run', '-c', 'a.yaml'], folder);
  t.teardown(async () => {
    daemon.child.kill('SIGTERM');
    await daemon.ended;
  });
  const health = (): Promise<true | undefined> =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    );
  await waitFor(health, { timeoutMs: PATIENCE_MS });
  const client = await connectTo(t, databaseUrl);
  const stored = async (project: string): Promise<number> => {
    const { rows } = await client.query(
      `SELECT count(*)::int4 AS count FROM spans WHERE project = $1 AND environment = 'bench'`,
      [project],
    );
    return rows[0].count;
  };
  const activeKeys = async (): Promise<number> =>
    (await client.query('SELECT count(*)::int4 AS count FROM sluice.api_keys WHERE revoked_at IS NULL')).rows[0].count;
  const short = ['--duration', '100ms', '--connections', '2', '--spans-per-request', '5'];
  const bench = (...more: readonly string[]): Promise<Outcome> =>
    call(['bench', '-c', 'a.yaml', ...short, ...more], { folder });

  await t.test('it finds the peak, and reports what it stored', async (t) => {
    const { code, out, err } = await bench('--json');
    t.equal(code, 0, err);
    const report = JSON.parse(out);
    t.strictSame(
      report.steps.map(({ load }: { readonly load: string }) => load),
      ['warm-up', 'peak', '50 %', '70 %', '90 %', '110 %'],
    );
    t.match(report, {
      endpoint: `http://127.0.0.1:${port}`,
      ...{ project: 'bench', environment: 'bench', kind: 'mix', complete: true },
      ...{ spans_per_request: 5, connections: 2, step_seconds: 0.1 },
      ...{ saturation_spans_per_second: Number, one_core_spans_per_second: Number, daemon_memory_bytes: Number },
      per_span: { daemon_us: Number, wal_bytes: Number, disk_bytes: Number },
      removal: /prune --project bench --config a\.yaml$/u,
    });
    let requests = 0;
    for (const { answers, p50_ms, p99_ms, daemon_cores } of report.steps) {
      t.ok(p50_ms > 0 && p99_ms >= p50_ms && daemon_cores >= 0);
      requests += answers[200];
    }
    t.equal(report.spans_stored, requests * 5);
    t.equal(await stored('bench'), report.spans_stored, 'each span is new');
    t.equal(await activeKeys(), 0, 'the key is revoked');
  });

  await t.test('it may store in its own project again, and prints a table', async (t) => {
    const { code, out, err } = await bench('--rate', '50', '--kind', 'small-spans');
    t.equal(code, 0, err);
    t.match(out, /^load +offered\/s +stored\/s .*\n.*\nwarm-up .*\nrate .*\n\n/u);
    t.match(out, /One core stores .* spans a second/u);
    t.match(out, /The .* spans are stored\. Remove them: .*prune --project bench/u);
  });

  await t.test('it fails when a part of the requests at the rate is not sent', async (t) => {
    const { code, out, err } = await bench('--rate', '200000');
    t.equal(code, 1);
    t.match(out, /^load [\s\S]*The .* spans are stored\. Remove them: /u);
    t.match(
      err,
      /error: \d+ of \d+ requests of the step "rate" were not stored: .*\d+ × not sent\n {2}hint: Lower --rate/u,
    );
    t.match(await bench('--rate', '200000', '--json'), { code: 1, out: /"not_sent": ?[1-9]/u });
  });

  await t.test('other projects, given keys and other machines need --yes', async (t) => {
    const before = await stored('bench');
    const refusals: readonly (readonly [readonly string[], RegExp])[] = [
      [['--key', KEY], /stored in the project of the key[\s\S]*--yes/u],
      [['--key', KEY, '--endpoint', 'http://192.0.2.1:4318'], /192\.0\.2\.1:4318 is another machine, and/u],
    ];
    for (const [more, message] of refusals) t.match(await bench(...more), { code: 2, out: '', err: message });
    await client.query(`INSERT INTO sluice.projects (name, plan) VALUES ('shop', 'paid')`);
    const first = await bench('--project', 'shop', '--rate', '50', '--json');
    t.match(JSON.parse(first.out), { project: 'shop', removal: /prune --project shop --environment bench/u });
    const again = await bench('--project', 'shop', '--rate', '50');
    t.match(again, { code: 2, err: /the project shop has \d+ spans/u });
    t.match(await bench('--project', 'shop', '--rate', '50', '--yes'), { code: 0 });
    t.equal(await stored('bench'), before);
    t.equal(await activeKeys(), 0);
  });

  await t.test('refusals are counted by status', async (t) => {
    // The quota is ten spans a month. A busy daemon may refuse requests with 503 before.
    let spans = 0;
    const ended = await waitFor(
      async () => {
        const { out, code, err } = await bench('--key', FREE_KEY, '--yes', '--rate', '1000', '--json');
        const report = JSON.parse(out);
        spans += report.spans_stored;
        return report.steps.length === 1 && report.steps[0].answers[429] > 0 ? { code, err, report } : undefined;
      },
      { timeoutMs: PATIENCE_MS },
    );
    t.equal(spans, 10);
    t.match(ended, {
      ...{ code: 1, err: /answered \d+/u },
      report: { complete: false, spans_stored: 0, project: null, removal: /prune --project <PROJECT> /u },
    });
  });

  await t.test('a wrong key, no daemon and wrong options are reported', async (t) => {
    t.match(await bench('--key', 'wrong-key-0123456789', '--yes'), {
      code: 1,
      out: '',
      err: /answered 401: The API key[\s\S]*hint: Give another key/u,
    });
    const nothing = `http://127.0.0.1:${await freePort()}`;
    t.match(await bench('--endpoint', nothing, '--key', KEY, '--yes'), { code: 1, err: /nothing listens at/u });
    for (const wrong of [
      ['--kind', 'large'],
      ['--rate', '0'],
      ['--rate', '1.5'],
    ])
      t.match(await bench(...wrong), { code: 2, err: new RegExp(`^error: ${wrong[0]} `, 'u') });
    for (const option of ['--duration=0s', '--connections=0', '--spans-per-request=x'])
      t.match(await call(['bench', option], { folder }), { code: 2, err: /^error: --/u });
  });

  await t.test('SIGINT before the first request ends it, with the command that removes its project', async (t) => {
    const created = async (): Promise<true | undefined> =>
      (await client.query(`SELECT FROM sluice.projects WHERE name = 'bench'`)).rowCount === 1 ? true : undefined;
    await client.query(`DELETE FROM sluice.projects WHERE name = 'bench'`);
    await client.query('BEGIN');
    await client.query('LOCK TABLE sluice.api_keys IN EXCLUSIVE MODE');
    const run = startExecutable(['bench', '-c', 'a.yaml', ...short], folder);
    await waitFor(created, { timeoutMs: PATIENCE_MS });
    run.child.kill('SIGINT');
    await client.query('ROLLBACK');
    t.equal(await run.ended, 1, run.output.err);
    t.match(run.output.out, /^Nothing was stored\. Remove the project: .*prune --project bench --config a\.yaml\n$/u);
    t.equal(await activeKeys(), 0);
  });

  // The demonstration has the same, in an ordinary run.
  if (!isLong) return;
  await t.test('SIGINT ends it with a report, and revokes its key', async (t) => {
    const before = await stored('bench');
    const run = startExecutable(['bench', '-c', 'a.yaml', '--json', '--rate', '100', '--duration', '10m'], folder);
    await waitFor(async () => ((await stored('bench')) > before ? true : undefined), { timeoutMs: PATIENCE_MS });
    run.child.kill('SIGINT');
    t.equal(await run.ended, 1);
    const report = JSON.parse(run.output.out);
    t.match(report, { complete: false, project: 'bench' });
    t.equal(await stored('bench'), before + report.spans_stored);
    t.equal(await activeKeys(), 0);
  });
});
