// `sluice demo --scale`: the telemetry is the same for the same seed, and a daemon stores it once.
import t from 'tap';
import { type DayPart, LARGE_TRACE_SPANS, makeDay, SCALES } from '../../../src/cli/demo/day.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { sluice as call } from '../../support/command-line.ts';
import { folderOf } from '../../support/config-files.ts';
import { connectTo } from '../../support/connection.ts';
import { startDaemon } from '../../support/daemon.ts';
import { startExecutable } from '../../support/executable.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { createDatabase } from '../../support/postgres.ts';
import { postgresConfig, SERVED } from '../../support/postgres-daemon.ts';
import '../../support/long-file.ts';

t.setTimeout(300_000);

const SLOT_MS = 300_000;
const MAX_BODY_BYTES = 1_048_576;
const NOON = Date.UTC(2026, 10, 22, 12);
/** After the evaluation of the night. */
const NIGHT = Date.UTC(2026, 10, 22, 2, 5);
const parts = (scale: string, more: Partial<Parameters<typeof makeDay>[0]> = {}): readonly DayPart[] => [
  ...makeDay({ nowMs: NOON, lengthMs: SCALES.get(scale) ?? 0, environment: 'demo', seed: 'a', ...more }),
];
const HOUR = parts('hour');
const bodies = (list: readonly DayPart[]): readonly string[] => list.map(({ request }) => JSON.stringify(request));

t.test('a seed and a time make the same telemetry, and a later run only adds', async (t) => {
  const first = bodies(HOUR);
  t.strictSame(bodies(parts('hour')), first);
  const later = bodies(parts('hour', { nowMs: NOON + SLOT_MS }));
  t.ok(
    later.slice(0, -3).every((body) => first.includes(body)),
    'all but the last slot is in the first run',
  );
  t.notOk(
    bodies(parts('hour', { seed: 'b' })).some((body) => first.includes(body)),
    'another seed has other telemetry',
  );
});

t.test('each night has a trace of 10,000 spans, in requests of a bounded size', async (t) => {
  const list = parts('hour', { nowMs: NIGHT });
  const large = list.flatMap(({ largeTrace }) => largeTrace ?? []);
  t.equal(large.length, 1);
  const spans = list.flatMap(({ request }) => spansIn(request.body)).filter(({ traceId }) => traceId === large[0]);
  t.equal(spans.length, LARGE_TRACE_SPANS);
  t.equal(LARGE_TRACE_SPANS, 10_000);
  t.equal(new Set(spans.map(({ spanId }) => spanId)).size, LARGE_TRACE_SPANS);
  for (const body of bodies(list)) t.ok(body.length < MAX_BODY_BYTES);
});

t.test('spans begin within their slot and end after those below them', async (t) => {
  for (const { atMs, request } of HOUR) {
    const spans = spansIn(request.body);
    const ends = new Map(spans.map(({ spanId, endTimeUnixNano }) => [spanId, BigInt(endTimeUnixNano)]));
    for (const { startTimeUnixNano, endTimeUnixNano, parentSpanId = '' } of spans) {
      const from = BigInt(atMs) * 1_000_000n;
      const isWithin = BigInt(startTimeUnixNano) >= from && BigInt(endTimeUnixNano) <= from + 300_000_000_000n;
      const above = ends.get(parentSpanId);
      if (!isWithin || (above !== undefined && above < BigInt(endTimeUnixNano))) t.fail(`${spans.length} ${atMs}`);
    }
  }
  t.pass();
});

t.test('it has what the pages and dashboards show', async (t) => {
  const text = bodies(HOUR).join('\n');
  const different = (pattern: RegExp): number => new Set(text.match(pattern)).size;
  t.ok(different(/"service\.name","value":\{"stringValue":"[^"]+/gu) > 3, 'services');
  t.ok(different(/"user\.id","value":\{"stringValue":"[^"]+/gu) > 5, 'users');
  t.ok(different(/"gen_ai\.conversation\.id","value":\{"stringValue":"[^"]+/gu) > 5, 'conversations');
  t.ok(different(/"gen_ai\.request\.model","value":\{"stringValue":"[^"]+/gu) > 3, 'models');
  for (const operation of ['chat', 'execute_tool', 'retrieval', 'invoke_agent']) t.match(text, `"${operation}"`);
  for (const key of ['error.type', 'gen_ai.usage.cache_read.input_tokens', 'http.route']) t.match(text, `"${key}"`);
  for (const member of ['"severityText":"ERROR"', '"histogram"', '"gauge"']) t.match(text, member);
});

interface WrittenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

function spansIn(body: object): readonly WrittenSpan[] {
  const { resourceSpans = [] } = body as {
    readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly WrittenSpan[] }[] }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

t.test('on a daemon', async (t) => {
  const { url: databaseUrl } = await createDatabase(t, SERVED);
  const config = postgresConfig({ databaseUrl, processors: 'auth, environment, normalization, pricing' }).replace(
    '  normalization: {}',
    '  normalization: {}\n  pricing: {}',
  );
  const daemon = await startDaemon(t, { config });
  const folder = folderOf({ 'a.yaml': config.replace('127.0.0.1:0', `127.0.0.1:${daemon.port}`) });
  const client = await connectTo(t, databaseUrl);
  const ask = async (text: string) => (await client.query(text)).rows;
  const stored = () =>
    ask(`SELECT (SELECT count(*)::int FROM spans) AS spans, (SELECT count(*)::int FROM logs) AS logs,
      (SELECT count(*)::int FROM metric_points) AS metric_points, (SELECT count(*)::int FROM traces) AS traces`);
  const demo = (...more: string[]) => call(['demo', '--scale', 'hour', '-c', 'a.yaml', ...more], { folder });

  await t.test('an hour is stored, once for two runs of the same time', async (t) => {
    const { code, out, err } = await demo('--json');
    t.equal(code, 0, err);
    const { traces, spans, logs, metric_points } = JSON.parse(out);
    t.match(await stored(), [{ traces, spans, logs, metric_points }]);
    t.ok(traces > 0 && spans > traces && logs > 0 && metric_points > 0, out);
    const again = await demo('--json');
    t.equal(again.code, 0);
    const second = JSON.parse(again.out);
    // The second run may be in the next slot, whose traces it adds.
    const [after] = await stored();
    t.ok(after.spans >= spans && after.spans <= spans + second.spans);
    if (second.last_trace_id === JSON.parse(out).last_trace_id) t.match(after, { traces, spans, logs, metric_points });
  });

  await t.test('an unknown scale is refused, and the key of a run is revoked', async (t) => {
    t.match(await call(['demo', '--scale', 'year'], { folder }), { code: 2, err: /hour, day, week/u });
    t.strictSame(await ask('SELECT count(*)::int AS keys FROM sluice.api_keys WHERE revoked_at IS NULL'), [
      { keys: 0 },
    ]);
  });

  await t.test('a signal stops after the request in flight and revokes the key', async (t) => {
    for (const signal of ['SIGINT', 'SIGHUP'] as const) {
      const [{ spans: before }] = await stored();
      const run = startExecutable(['demo', '--scale', 'week', '--seed', signal, '-c', 'a.yaml'], folder);
      await waitFor(async () => (((await stored())[0]?.spans ?? 0) > before ? true : undefined), {
        timeoutMs: PATIENCE_MS,
      });
      run.child.kill(signal);
      t.equal(await run.ended, 1);
      t.match(run.output.err, 'Stopped. Run it again to send the rest.');
      t.strictSame(await ask('SELECT count(*)::int AS keys FROM sluice.api_keys WHERE revoked_at IS NULL'), [
        { keys: 0 },
      ]);
    }
  });
});
