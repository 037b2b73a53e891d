/**
 * The reading API of the console on many stored traces: the time of an answer in the daemon, without the socket. Prints
 * the median and the slowest of some runs, and the target. The control of usage is one plain statement that sums the
 * same calls, as a dashboard does: it does not look for calls that several spans report.
 *
 * `node dist/bench/console.js [--traces 100000] [--days 7] [--runs 9] [--large 10000]`: traces of ten spans each, of
 * which three are model calls, and one large trace in the middle of the time.
 */
import type { ReaderPool } from '../src/component/capabilities/postgres-reader.ts';
import { listFacets } from '../src/extensions/console/api/facets.ts';
import { listSpans } from '../src/extensions/console/api/spans.ts';
import { showTrace } from '../src/extensions/console/api/trace.ts';
import { listTraces } from '../src/extensions/console/api/traces.ts';
import { showUsage } from '../src/extensions/console/api/usage.ts';
import type { Reply, RequestContext, Route } from '../src/extensions/console/server/route.ts';
import { Database } from '../src/extensions/postgres/database.ts';
import { Readers } from '../src/extensions/postgres/reader.ts';
import { readArguments } from './arguments.ts';
import { BenchDatabase } from './database.ts';

const PROJECT = 'bench';
const SPANS = 10;
const BATCH = 10_000;
const READER = { url: '', connections: 3, timeoutMs: 60_000, applicationName: 'sluice-bench' };

/** `$1`: first number · `$2`: how many traces · `$3`: spans of each · `$4`: nanoseconds between traces · `$5`: now. */
const FILL = `
  INSERT INTO sluice.spans (project, environment, service_name, trace_id, span_id, parent_span_id, name, kind, status,
    start_time_unix_nano, end_time_unix_nano, duration_ns, category, provider, request_model, response_model, usage_scope, input_tokens,
    output_tokens, total_tokens, total_cost, latency_ms, is_error, conversation_id, user_id, input_content, resource, attributes, received_at)
  SELECT '${PROJECT}', 'default', 'service-' || n % 5, decode(md5(n::text), 'hex'), decode(lpad(to_hex(n * 16384 + i), 16, '0'), 'hex'),
    CASE WHEN i > 0 THEN decode(lpad(to_hex(n * 16384 + (i - 1) / 3), 16, '0'), 'hex') END,
    CASE WHEN i = 0 THEN 'invoke_agent' WHEN i % 3 = 1 THEN 'chat' ELSE 'step ' || i % 7 END, 'internal',
    CASE WHEN (n + i) % 97 = 0 THEN 'error' ELSE 'unset' END, began, began + 900000000, 900000000,
    CASE WHEN i = 0 THEN 'agent' WHEN is_call THEN 'model_call' WHEN i % 3 = 2 THEN 'tool_step' END,
    CASE WHEN is_call THEN 'openai' END, CASE WHEN is_call THEN 'model-' || n % 40 END, CASE WHEN is_call THEN 'model-' || n % 40 END,
    CASE WHEN is_call THEN 'own' END, CASE WHEN is_call THEN n % 4000 END, CASE WHEN is_call THEN n % 800 END,
    CASE WHEN is_call THEN n % 4800 END, CASE WHEN is_call THEN (n % 1000) / 10000.0 END, CASE WHEN is_call THEN 900 END,
    (n + i) % 97 = 0, 'c-' || n / 5, 'u-' || n % 1000, CASE WHEN is_call THEN repeat('A question about the weather. ', 20) END,
    '{"service.name": "bench"}', '{"gen_ai.operation.name": "chat", "app.key": "value"}', now()
  FROM (SELECT n, i, i % 3 = 1 AS is_call, $5::int8 - n * $4::int8 + i * 1000000 AS began
    FROM generate_series($1::int8, $1::int8 + $2::int8 - 1) n, generate_series(0, $3::int8 - 1) i) numbers`;
const CLAIM = `
  INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns)
  SELECT trace_id, project, min(environment), min(start_time_unix_nano), max(start_time_unix_nano) FROM sluice.spans GROUP BY 1, 2`;

const PLAIN_USAGE = `
  SELECT request_model, start_time_unix_nano / $3::int8 AS bucket, count(*), sum(input_tokens), sum(output_tokens), sum(total_cost),
    count(*) FILTER (WHERE is_error), count(DISTINCT user_id), percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY latency_ms)
  FROM sluice.spans
  WHERE project = '${PROJECT}' AND category = 'model_call' AND start_time_unix_nano >= $1 AND start_time_unix_nano < $2
  GROUP BY 1, 2`;
const HOUR_NS = 3_600_000_000_000n;

const { values } = readArguments(import.meta.url, {
  options: {
    traces: { type: 'string', default: '100000' },
    days: { type: 'string', default: '7' },
    runs: { type: 'string', default: '9' },
    large: { type: 'string', default: '10000' },
  },
});

const traces = Number(values.traces);
const days = Number(values.days);
/** The beginning of the large trace, in nanoseconds. */
let largeNs = 0n;
const bench = await BenchDatabase.open();
const database = new Database().use({ connectionString: bench.url });
const reader = new Readers(database, 'public').open(READER);
try {
  await fill();
  await measureAll();
} finally {
  await reader.close();
  await database.close();
  await bench.close();
}

async function fill(): Promise<void> {
  await bench.openDays(days + 1);
  const now = BigInt(Date.now()) * 1_000_000n;
  const apart = (BigInt(days) * 86_400_000_000_000n) / BigInt(traces);
  // Longer than the limit of the pool allows.
  await bench.database.session({ statementTimeoutMs: 600_000, lockTimeoutMs: 60_000 }, async (query) => {
    for (let done = 0; done < traces; done += BATCH)
      await query(FILL, [done + 1, Math.min(BATCH, traces - done), SPANS, String(apart), String(now)]);
    largeNs = now - (BigInt(traces) * apart) / 2n;
    await query(FILL, [traces + 1, 1, Number(values.large), '0', String(largeNs)]);
    await query(CLAIM);
    await query('VACUUM ANALYZE sluice.spans');
    await query('VACUUM ANALYZE sluice.traces');
  });
}

function context(
  reader: ReaderPool,
  query: Readonly<Record<string, string>>,
  path: Readonly<Record<string, string>>,
): RequestContext {
  const values: Partial<RequestContext> = {
    caller: { by: 'none', id: '', name: 'bench', role: 'viewer', projects: null, seesContent: true },
    parameter: (name) => path[name] ?? PROJECT,
    project: PROJECT,
    query: new URLSearchParams(query),
    headers: {},
    signal: new AbortController().signal,
    // A state of its own for each run, so that no answer is kept.
    people: {} as RequestContext['people'],
    leftOut: null,
    reader,
    now: () => Date.now(),
  };
  return values as RequestContext;
}

/** Until the first piece, until the end, and the size. */
async function readAll(reply: Reply): Promise<{ readonly firstMs: number; readonly bytes: number }> {
  const start = performance.now();
  if (reply.kind === 'json_text') return { firstMs: 0, bytes: Buffer.byteLength(reply.text) };
  if (reply.kind === 'json') return { firstMs: 0, bytes: JSON.stringify(reply.value).length };
  if (reply.kind !== 'lines') throw new Error(`unexpected: ${reply.kind}`);
  let firstMs = 0;
  let bytes = 0;
  for await (const piece of reply.pieces) {
    if (firstMs === 0) firstMs = performance.now() - start;
    bytes += Buffer.byteLength(piece);
  }
  return { firstMs, bytes };
}

interface Question {
  readonly name: string;
  readonly route: Pick<Route, 'handle'>;
  readonly query?: Readonly<Record<string, string>>;
  readonly path?: Readonly<Record<string, string>>;
  readonly target: string;
}

/** The sums of the last hours. */
function plainUsage(hours: number, bucketHours: number): Pick<Route, 'handle'> {
  return {
    handle: async ({ reader, now }) => {
      const to = BigInt(now()) * 1_000_000n;
      const times = [to - BigInt(hours) * HOUR_NS, to, BigInt(bucketHours) * HOUR_NS];
      return { kind: 'json', value: await reader.query(PLAIN_USAGE, times.map(String)) };
    },
  };
}

async function measure({ name, route, query = {}, path = {}, target }: Question): Promise<void> {
  const runs: { readonly wholeMs: number; readonly firstMs: number; readonly bytes: number }[] = [];
  for (let run = 0; run <= Number(values.runs); run += 1) {
    const start = performance.now();
    const reply = await route.handle(context(reader, query, path));
    const answeredMs = performance.now() - start;
    const { firstMs, bytes } = await readAll(reply);
    // The first run fills the caches.
    if (run > 0) runs.push({ wholeMs: performance.now() - start, firstMs: answeredMs + firstMs, bytes });
  }
  const sorted = (of: (run: (typeof runs)[number]) => number): readonly number[] => runs.map(of).sort((a, b) => a - b);
  const whole = sorted(({ wholeMs }) => wholeMs);
  const first = sorted(({ firstMs }) => firstMs);
  const at = (list: readonly number[], part: number): string =>
    (list[Math.floor((list.length - 1) * part)] ?? 0).toFixed(1);
  console.log(
    [
      name.padEnd(44),
      `${at(whole, 0.5)} ms`.padStart(10),
      `${at(whole, 1)} ms`.padStart(10),
      `${at(first, 0.5)} ms`.padStart(10),
    ].join(' '),
    `${((runs[0]?.bytes ?? 0) / 1024).toFixed(0)} KiB`.padStart(9),
    `  ${target}`,
  );
}

async function measureAll(): Promise<void> {
  const { rows } = await bench.database.query(
    `SELECT encode(decode(md5($1::text), 'hex'), 'hex') AS large, encode(decode(md5('77'), 'hex'), 'hex') AS small, count(*) AS spans FROM sluice.spans`,
    [String(traces + 1)],
  );
  const [{ large, small, spans } = {}] = rows;
  console.log(`${traces} traces, ${spans} spans\n`);
  console.log(
    `${'question'.padEnd(44)} ${'median'.padStart(10)} ${'slowest'.padStart(10)} ${'first'.padStart(10)} ${'size'.padStart(9)}   target`,
  );
  const ofSmall = { trace: String(small) };
  const ofLarge = { trace: String(large) };
  const questions: readonly Question[] = [
    { name: 'list of 50, no filter', route: listTraces, target: '50 ms' },
    {
      name: `list of 50, one of ${values.large} spans`,
      route: listTraces,
      query: { to: String(largeNs + 1n) },
      target: '–',
    },
    {
      name: 'list, model:model-7 (every 40th trace)',
      route: listTraces,
      query: { q: 'model:model-7' },
      target: '700 ms a slice, 2 s',
    },
    { name: 'list, nothing matches', route: listTraces, query: { q: 'model:none' }, target: '2 s' },
    { name: 'list, "snow" in content, nothing matches', route: listTraces, query: { q: '"snow"' }, target: '2 s' },
    { name: 'header of a trace of 10 spans', route: showTrace, path: ofSmall, target: '30 ms' },
    { name: `header of a trace of ${values.large} spans`, route: showTrace, path: ofLarge, target: '30 ms' },
    { name: `all of ${values.large} spans`, route: listSpans, path: ofLarge, target: 'first 150 ms, all 1 s' },
    {
      name: 'usage of 24 h by model',
      route: showUsage,
      query: { from: '-24h', to: 'now', interval: '1h' },
      target: '300 ms',
    },
    { name: 'plain sums of 24 h by model', route: plainUsage(24, 1), target: '–' },
    {
      name: `usage of ${days} d by model`,
      route: showUsage,
      query: { from: `-${days * 24}h`, to: 'now', interval: days < 2 ? '1h' : '1d' },
      target: '30 d × 1 M: 1.5 s',
    },
    { name: `plain sums of ${days} d by model`, route: plainUsage(days * 24, days < 2 ? 1 : 24), target: '–' },
    { name: 'facets', route: listFacets, target: '200 ms' },
  ];
  for (const question of questions) await measure(question);
}
