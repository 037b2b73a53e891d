// Export of everything that is stored: exact lines, spreadsheets without formulas, and OTLP that is stored again alike.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import t, { type Test } from 'tap';
import { openStream } from '../../src/cli/export/output.ts';
import { folderOf } from '../support/config-files.ts';
import { type Outcome, sluice as call } from '../support/command-line.ts';
import { connectTo } from '../support/connection.ts';
import { OTHER_KEY, startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { send } from '../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig, SERVED } from '../support/postgres-daemon.ts';
import { senders } from '../processors/normalization/captures.ts';
import { longTest } from '../support/long.ts';

t.setTimeout(300_000);

const configOf = (databaseUrl: string): string =>
  postgresConfig({
    databaseUrl,
    processors: 'auth, environment, normalization, pricing',
    exporters: 'postgres, file',
  }).replace('  normalization: {}', '  normalization: {}\n  pricing: {}');
const database = await createDatabase(t, SERVED);
const [config, otherConfig] = [configOf(database.url), configOf((await createDatabase(t, SERVED)).url)];
const daemon = await startDaemon(t, { config });
const other = await startDaemon(t, { config: otherConfig });
const folder = folderOf({ 'a.yaml': config, 'b.yaml': otherConfig });
const sluice = (...args: string[]): Promise<Outcome> => call([...args, '-c', 'a.yaml'], { folder });
const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

const START = 1_790_000_000_000_000_000n;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const VALUES = [
  { key: 'int', value: { intValue: '9223372036854775807' } },
  { key: 'least', value: { intValue: '-9223372036854775808' } },
  { key: 'double', value: { doubleValue: 0.1 } },
  { key: 'third', value: { doubleValue: 0.30000000000000004 } },
  { key: 'large', value: { doubleValue: 1e300 } },
  { key: 'nan', value: { doubleValue: 'NaN' } },
  { key: 'nothing', value: {} },
  { key: 'list', value: { arrayValue: { values: [{ stringValue: ' a  "b" \\" ' }, { intValue: '1' }] } } },
  { key: 'map', value: { kvlistValue: { values: [{ key: 'x y', value: { boolValue: true } }] } } },
];
const resource = { attributes: [text('service.name', 'shop'), ...VALUES.slice(0, 2)] };
const scope = { name: 'scope', version: '1', attributes: VALUES.slice(2, 4) };
const point = { startTimeUnixNano: String(START), timeUnixNano: String(START + 1n), attributes: VALUES };
const spanAt = (at: number, more: object) => ({
  traceId: TRACE,
  spanId: `00f067aa0ba902b${at}`,
  name: `step ${at}`,
  kind: 3,
  startTimeUnixNano: String(START + BigInt(at)),
  endTimeUnixNano: String(START + 10n),
  attributes: [],
  ...more,
});

const SPANS = [
  spanAt(7, {
    traceState: 'a=b',
    flags: 257,
    attributes: [
      ...VALUES,
      text('gen_ai.operation.name', 'chat'),
      text('gen_ai.request.model', 'gpt-5-mini'),
      text('gen_ai.input.messages', '[{"role":"user","parts":[{"type":"text","content":"=1+1"}]}]'),
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '12' } },
    ],
    droppedAttributesCount: 3,
    events: [{ name: 'event', timeUnixNano: String(START + 3n), attributes: VALUES, droppedAttributesCount: 2 }],
    links: [{ traceId: TRACE, spanId: SPAN, traceState: 'c=d', flags: 257, attributes: VALUES.slice(0, 1) }],
    status: { code: 2, message: '@SUM(A1), "quoted"\nline' },
  }),
  spanAt(8, { name: '=cmd()', parentSpanId: SPAN }),
  spanAt(9, { endTimeUnixNano: '0', name: '-1' }),
];
const LOG = {
  timeUnixNano: String(START),
  observedTimeUnixNano: String(START + 5n),
  severityNumber: 9,
  severityText: 'INFO',
  eventName: 'happened',
  body: { kvlistValue: { values: VALUES } },
  traceId: TRACE,
  spanId: SPAN,
  attributes: VALUES,
  flags: 1,
};
const METRICS = [
  {
    name: 'gauge',
    gauge: {
      dataPoints: [
        { ...point, asDouble: 3, attributes: [text('at', '1')] },
        {
          ...point,
          asInt: '9223372036854775807',
          exemplars: [
            { timeUnixNano: '5', asInt: '7', traceId: TRACE, spanId: SPAN, filteredAttributes: VALUES },
            { timeUnixNano: '6', asDouble: 1.5 },
          ],
        },
        { ...point, asDouble: 'NaN', attributes: [text('at', '2')] },
        { ...point, flags: 1, attributes: [text('at', '3')] },
      ],
    },
  },
  {
    name: 'sum',
    unit: '1',
    description: 'd',
    metadata: VALUES,
    sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints: [{ ...point, asInt: '1' }] },
  },
  {
    name: 'histogram',
    histogram: {
      aggregationTemporality: 2,
      dataPoints: [
        {
          ...point,
          count: '9007199254740993',
          sum: 0.30000000000000004,
          min: -1,
          max: 2.5,
          bucketCounts: ['9007199254740992', '1'],
          explicitBounds: [0.30000000000000004],
        },
      ],
    },
  },
  {
    name: 'exponential',
    exponentialHistogram: {
      aggregationTemporality: 2,
      dataPoints: [
        {
          ...point,
          count: '2',
          sum: 3.5,
          scale: -3,
          zeroCount: '1',
          zeroThreshold: 0.5,
          positive: { offset: 1, bucketCounts: ['1'] },
          negative: { offset: -1, bucketCounts: [] },
        },
      ],
    },
  },
  {
    name: 'summary',
    summary: { dataPoints: [{ ...point, count: '2', sum: 3.5, quantileValues: [{ quantile: 0.5, value: 1 }] }] },
  },
];

async function post(
  url: string,
  signal: string,
  body: string | Buffer,
  contentType = 'application/json',
): Promise<void> {
  const answer = await send(url, { path: `/v1/${signal}`, body, headers: { 'content-type': contentType } });
  if (answer.status !== 200) throw new Error(`${signal} ${answer.status} ${answer.body}`);
}

/** One sender of each kind of storing content. */
const CAPTURED = ['openinference-openai-py', 'ai-sdk-v5-openai', 'genkit-gemini', 'otel-openai-py', 'mlflow-anthropic'];

t.before(async () => {
  await post(
    daemon.url,
    'traces',
    JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: SPANS }] }] }),
  );
  await post(
    daemon.url,
    'logs',
    JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords: [LOG] }] }] }),
  );
  await post(
    daemon.url,
    'metrics',
    JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics: METRICS }] }] }),
  );
  for (const { sender, scenarios } of senders().filter(({ sender }) => CAPTURED.includes(sender)))
    for (const { file, path, content_type } of ['tool', 'retrieval'].flatMap((name) => scenarios[name]?.files ?? [])) {
      const body = readFileSync(new URL(`../../../test/fixtures/genai/${sender}/${file}`, import.meta.url));
      await post(daemon.url, path.slice(path.lastIndexOf('/') + 1), body, content_type);
    }
});

/** The lines of the file exporter, by signal. */
function written(signal: string): readonly Record<string, unknown>[] {
  const lines = linesOf(readFileSync(join(daemon.folder, 'out.ndjson'), 'utf8'));
  return lines.filter((line) => line.startsWith(`{"signal":"${signal}"`)).map((line) => JSON.parse(line));
}

const sorted = (rows: readonly unknown[]): readonly string[] => rows.map((row) => JSON.stringify(row, sortKeys)).sort();
function sortKeys(key: string, value: unknown): unknown {
  if (key === 'received_at') return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [two]) => (one < two ? -1 : 1)));
}

t.test('NDJSON has the lines of the file exporter, with every digit', async (t) => {
  for (const [what, signal] of [
    ['spans', 'span'],
    ['logs', 'log'],
    ['metrics', 'metric'],
  ] as const) {
    const { out, err, code } = await sluice('export', '--what', what);
    t.equal(code, 0, err);
    const lines = linesOf(out);
    t.ok(lines.length > 0);
    t.same(Object.keys(JSON.parse(lines[0] ?? '')), Object.keys(written(signal)[0] ?? {}), 'names and order');
    t.same(sorted(lines.map((line) => JSON.parse(line))), sorted(written(signal)));
    t.match(out, '9223372036854775807');
    t.match(out, what === 'metrics' ? '"value":9223372036854775807' : '"least":-9223372036854775808');
  }
});

t.test('filters, times and projects choose the exported records', async (t) => {
  const names = async (...filters: string[]): Promise<readonly string[]> =>
    linesOf((await sluice('export', ...filters)).out).map((line) => (JSON.parse(line) as { name: string }).name);
  const at = ['--since', '2026-09-21T14:13:20Z', '--until', '2026-09-21T14:13:21Z'];
  t.same(await names(...at), ['step 7', '=cmd()', '-1']);
  t.same(await names(...at, '--errors'), ['step 7']);
  t.same(await names(...at, '--model', 'gpt-5'), ['step 7']);
  t.same(await names(...at, '--search', 'CMD'), ['=cmd()']);
  t.match(await sluice('export', '--project', 'unused'), { code: 1, out: '', err: /no project "unused"/u });
  t.same(await names('--since', '0001-01-01', '--until', '9999-12-31', '--errors'), ['step 7'], 'beyond 64 bits');
  t.same(await names('--since', '9999-12-31'), []);
  t.match(await sluice('export', '--what', 'metrics', '--model', 'x'), { code: 2, err: /metrics have no --model/u });
  t.match(await sluice('export', '--what', 'all'), { code: 2, err: /--what takes one of traces, spans/u });
  t.match(await sluice('export', '--since', '2026-02-30'), { code: 2, err: /--since takes a duration or a time/u });
  t.match(await sluice('export', '--since', '1h', '--until', '2h'), { code: 2, err: /--since is not before --until/u });
  t.match(await sluice('export', '--output', 'no/such/folder'), { code: 1, err: /there is no such file or folder\n/u });
  t.match(await sluice('export', '--since', 'soon'), { code: 2, err: /--since takes a duration or a time/u });
});

t.test('--errors chooses the log records of severity ERROR and above, as the filter of the console does', async (t) => {
  const ERROR = { ...LOG, severityNumber: 17, severityText: 'ERROR', eventName: 'broken' };
  const worse = { ...ERROR, severityNumber: 21, severityText: 'FATAL', eventName: 'ended' };
  const body = { resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords: [ERROR, worse] }] }] };
  await post(daemon.url, 'logs', JSON.stringify(body));
  const { out } = await sluice('export', '--what', 'logs', '--errors');
  t.same(
    linesOf(out).map((line) => JSON.parse(line).event_name),
    ['broken', 'ended'],
  );
});

t.test('traces are rows of the view', async (t) => {
  const { out } = await sluice('export', '--what', 'traces', '--search', '@sum');
  t.match(
    linesOf(out).map((line) => JSON.parse(line)),
    [
      {
        trace_id: TRACE,
        project: 'demo',
        span_count: 3,
        error_count: 1,
        model_call_count: 1,
        start_time_unix_nano: String(START + 7n),
        input_tokens: 12,
      },
    ],
  );
  const filtered = await sluice('export', '--what', 'traces', '--as', 'otlp', '--filter', 'model:gpt-5-mini error');
  t.match(JSON.parse(filtered.out), { resourceSpans: [{ scopeSpans: [{ spans: { length: 3 } }] }] }, 'complete traces');
  t.match(await sluice('export', '--filter', 'error'), { code: 2, err: /--filter selects traces/u });
  const csv = linesOf((await sluice('export', '--what', 'traces', '--as', 'csv')).out);
  t.match(csv[0], /^project,environment,trace_id,/u);
  t.equal(csv.length, linesOf((await sluice('export', '--what', 'traces')).out).length + 1);
});

t.test('no cell of CSV is a formula', async (t) => {
  const { out } = await sluice(
    'export',
    '--as',
    'csv',
    '--since',
    '2026-09-21T14:13:20Z',
    '--until',
    '2026-09-21T14:13:21Z',
  );
  t.match(out, /^signal,project,environment,service_name,trace_id,.*,received_at\r\n/u);
  t.match(out, /,"'=cmd\(\)",/u);
  t.match(out, /,"'-1",/u);
  t.match(out, `,"'@SUM(A1), ""quoted""\nline",`);
  t.notMatch(out, /(?:^|,)"?[=@+]/mu);
});

t.test('OTLP is stored again as the same rows', async (t) => {
  for (const [what, signal] of [
    ['traces', 'traces'],
    ['logs', 'logs'],
    ['metrics', 'metrics'],
  ] as const) {
    const { out, err } = await sluice('export', '--what', what, '--as', 'otlp');
    t.equal(err, '');
    for (const line of linesOf(out)) await post(other.url, signal, line);
    const rows = what === 'traces' ? 'spans' : what;
    const stored = await call(['export', '--what', rows, '-c', 'b.yaml'], { folder });
    t.same(
      sorted(linesOf(stored.out).map((line) => withoutAttributes(JSON.parse(line)))),
      sorted(linesOf((await sluice('export', '--what', rows)).out).map((line) => withoutAttributes(JSON.parse(line)))),
      what,
    );
  }
});

/** Content and facts out of documents get other keys, which stay when their value is read elsewhere. */
function withoutAttributes(row: Record<string, unknown>): Record<string, unknown> {
  return row['signal'] === 'metric' || String(row['name']).startsWith('step') ? row : { ...row, attributes: null };
}

t.test('requests of OTLP stay below the limit of receivers, also with lists of small numbers', async (t) => {
  const values = Array.from({ length: 30_000 }, () => ({ intValue: '7' }));
  const traceId = randomBytes(16).toString('hex');
  for (let request = 0; request < 4; request++) {
    const spans = Array.from({ length: 4 }, (_, at) => ({
      ...aSpan({ traceId, name: `numbers ${request} ${at}` }),
      attributes: [{ key: 'numbers', value: { arrayValue: { values } } }, text('gen_ai.conversation.id', 'numbers')],
    }));
    await post(daemon.url, 'traces', JSON.stringify(aTraceRequest(spans)));
  }
  const path = join(folder, 'numbers.otlp');
  const args = ['--what', 'traces', '--as', 'otlp', '--conversation', 'numbers', '--output', path];
  t.match((await sluice('export', ...args)).err, /^16 spans in /u);
  const lines = linesOf(readFileSync(path, 'utf8'));
  for (const line of lines) await post(other.url, 'traces', line);
  const { out } = await call(['export', '-c', 'b.yaml', '--conversation', 'numbers'], { folder });
  t.equal(linesOf(out).length, 16);
});

t.test('a file appears when it is complete, for its owner only', async (t) => {
  const path = join(folder, 'spans.ndjson');
  const { code, out, err } = await sluice('export', '--output', path);
  t.equal(code, 0);
  t.equal(out, '');
  t.match(err, /^\d+ spans in .*spans\.ndjson, /u);
  t.equal(linesOf(readFileSync(path, 'utf8')).length, written('span').length);
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.match(await sluice('export', '--output', join(folder, 'none', 'x')), {
    code: 1,
    err: /cannot write .*: there is no such file or folder\n {2}hint: Name a file in a folder with/u,
  });
  t.match(await sluice('export', '--output', folder), { code: 1, err: /^error: cannot write .*: it is a folder\n$/u });
  t.notOk(existsSync(`${folder}.partial`));
});

t.test('only a regular file is replaced, and a link at the unfinished name is not followed', async (t) => {
  const [pipe, link, note] = ['pipe', 'link', 'note'].map((name) => join(folder, name)) as [string, string, string];
  t.equal(spawnSync('mkfifo', [pipe]).status, 0);
  writeFileSync(note, 'a note');
  symlinkSync(note, link);
  for (const path of [pipe, link])
    t.match(await sluice('export', '--output', path), { code: 1, err: /cannot write .*: it is not a regular file/u });
  t.ok(lstatSync(pipe).isFIFO());
  t.ok(lstatSync(link).isSymbolicLink());
  symlinkSync(note, join(folder, 'linked.ndjson.partial'));
  t.match(await sluice('export', '--output', join(folder, 'linked.ndjson')), { code: 0 });
  t.ok(lstatSync(join(folder, 'linked.ndjson')).isFile());
  t.equal(readFileSync(note, 'utf8'), 'a note');
});

longTest('long rows after many short ones are read and written in parts', async (t) => {
  const [rows, length] = [40, 3_000_000];
  await post(other.url, 'traces', manySpans(1, 1000, '-'));
  for (let row = 0; row < rows; row++) {
    const traceId = randomBytes(16).toString('hex');
    await post(other.url, 'traces', manySpans(2, 1, '-', { traceId, name: 'many '.padEnd(length, 'x') }));
  }
  for (const [what, form] of [
    ['spans', 'ndjson'],
    ['spans', 'otlp'],
    ['traces', 'csv'],
  ] as const) {
    const path = join(folder, `long.${form}`);
    const words = ['export', '--what', what, '--as', form, '-c', 'b.yaml', '--output', path, '--search', 'many'];
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--max-old-space-size=96', fileURLToPath(new URL('../../../bin/sluice.js', import.meta.url)), ...words],
      { cwd: folder, encoding: 'utf8' },
    );
    t.equal(status, 0, stderr.slice(0, 1000));
    t.ok(statSync(path).size > rows * length, form);
    rmSync(path);
  }
});

function manySpans(at: number, count: number, value: string, more: object = {}): string {
  const attributes = [text('value', value)];
  const spans = Array.from({ length: count }, () => ({
    ...spanAt(at, { name: 'many', attributes }),
    spanId: randomBytes(8).toString('hex'),
    ...more,
  }));
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] });
}

t.test('a slow reader of standard output adds no listeners', async (t) => {
  const slow = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void setImmediate(done) });
  const output = openStream(slow);
  const listeners = slow.listenerCount('close');
  for (let piece = 0; piece < 20; piece++) await output.write('text');
  t.equal(slow.listenerCount('close'), listeners);
  t.equal(output.bytes, 80);
  slow.destroy(new Error('the reader is gone'));
  await output.write('more');
  t.ok(output.isClosed);
});

/** A session that holds a lock, so that an export waits before its first row. */
async function lockSpans(t: Test): Promise<pg.Client> {
  const holder = await connectTo(t, database.url);
  await holder.query('BEGIN; LOCK TABLE sluice.spans IN ACCESS EXCLUSIVE MODE');
  return holder;
}

t.test('a file that cannot get its name is no export', async (t) => {
  const holder = await lockSpans(t);
  const path = join(folder, 'late.csv');
  const exported = sluice('export', '--as', 'csv', '--output', path);
  await eventually('the file is open', () => existsSync(`${path}.partial`));
  mkdirSync(path);
  await holder.query('ROLLBACK');
  const { code, err } = await exported;
  t.equal(code, 1);
  t.match(err, /^error: cannot write /u);
  t.notOk(existsSync(`${path}.partial`));
});

t.test('a lost connection is reported with its reason', async (t) => {
  await lockSpans(t);
  const client = await connectTo(t, database.url);
  const exported = sluice('export');
  await eventually('the export waits', async () => {
    const { rowCount } = await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%sluice.spans%'`,
    );
    return rowCount === 1;
  });
  t.match(await exported, { code: 1, out: '', err: /due to administrator command/u });
});

t.test('on a terminal the projects are counted, also those without rows', async (t) => {
  const body = JSON.stringify(aTraceRequest([aSpan()]));
  t.equal((await send(daemon.url, { authorization: `Bearer ${OTHER_KEY}`, body })).status, 200);
  const { err } = await call(['export', '--service', 'none', '-c', 'a.yaml'], { folder, columns: 80 });
  t.match(err, /0 spans, 0 B, project 1 of 2/u);
});
