/** Random records: the commands, the API and the tools for agents list the same rows, with the same sums. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { type Count, parseExact } from '../../src/pdata/exact-json.ts';
import { Administration } from '../../src/extensions/postgres/administration.ts';
import { Database } from '../../src/extensions/postgres/database.ts';
import { PostgresPeople } from '../../src/extensions/postgres/people.ts';
import { Readers } from '../../src/extensions/postgres/reader.ts';
import { removeTrace } from '../../src/extensions/postgres/removal/trace.ts';
import type { Page } from '../../src/extensions/console/api/shapes/answers.ts';
import type { TraceRow } from '../../src/extensions/console/api/shapes/traces.ts';
import type { Usage, UsageFigures } from '../../src/extensions/console/api/shapes/usage.ts';
import { DatabaseApi } from '../../src/extensions/console/mcp/database-api.ts';
import { costOf, plural, tokensOf } from '../../src/extensions/console/mcp/figures.ts';
import { projectPath } from '../../src/extensions/console/mcp/tool.ts';
import { callTool } from '../../src/extensions/console/mcp/tools.ts';
import { CLOSED_MS, dropDays, makeScene } from '../support/archive-scene.ts';
import { DAY_MS } from '../../src/pdata/time-units.ts';
import { sluice as call } from '../support/command-line.ts';
import { hex, insertRows, textOf } from '../support/console-reading.ts';
import { Random } from '../support/generators-random.ts';
import { cases, isLong, longTest } from '../support/long.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { MS_NS } from '../../src/pdata/time-units.ts';
import '../support/long-file.ts';

t.setTimeout(600_000);
const SEED = 20_261_124;
const RUNS = cases(60);
const TRACES = isLong ? 90 : 40;
const PROJECTS = ['shop', 'blog'] as const;
const MIDDLE_MS = CLOSED_MS + 2 * DAY_MS;
/** More than a float keeps. */
const MANY_TOKENS = '9007199254740993';

const scene = await makeScene(t);
writeFileSync(join(scene.folder, 'sluice.yaml'), postgresConfig({ databaseUrl: scene.url }));
const database = new Database().use({ connectionString: scene.url });
const reader = new Readers(database, 'public').open({
  ...{ url: '', connections: 2, timeoutMs: 30_000, applicationName: 'test' },
});
t.teardown(async () => {
  await reader.close();
  await database.close();
});

const random = new Random(SEED);
let made = 0;

/** One of few times, so that many traces begin at the same one. The first day is archived later. */
const beginOf = (): number => random.below(4) * DAY_MS - DAY_MS + random.below(3) * 1000;

function figures(): object {
  const tokens = random.once(12) ? MANY_TOKENS : String(random.below(500));
  return {
    usage_scope: random.pick(['own', 'own', 'own', 'rollup']),
    category: 'model_call',
    provider: random.pick(['p', 'q', null]),
    request_model: random.pick(['m-1', null]),
    response_model: random.pick(['m-1', 'm-1-2026-01-01', 'm-2', 'm-3', null]),
    response_id: random.once(4) ? `r-${random.below(6)}` : null,
    input_tokens: random.pick([tokens, null]),
    output_tokens: random.pick([3, null]),
    cache_read_tokens: random.pick([1, null]),
    total_tokens: tokens,
    total_cost: random.pick(['0.01000000', '0.00000123', '123.45678901', null]),
  };
}

function span(trace: Readonly<Record<string, unknown>>, at: number, parent: string | null): object {
  made += 1;
  const start = BigInt(MIDDLE_MS + at) * MS_NS;
  const took = BigInt(random.below(3)) * 5_000_000n;
  return {
    ...trace,
    span_id: hex(made, 8),
    parent_span_id: parent,
    service_name: random.pick(['web', 'worker', null]),
    name: `span ${random.below(5)}`,
    status: random.pick(['unset', 'ok', 'error']),
    is_error: random.pick([true, false, null]),
    start_time_unix_nano: String(start),
    end_time_unix_nano: random.once(5) ? null : String(start + took),
    duration_ns: String(took),
    user_id: random.pick(['u-1', 'u-2', 'u-3', null, null]),
    conversation_id: random.pick(['c-1', 'c-2', null, null]),
    agent_name: random.pick(['a-1', null, null]),
    latency_ms: random.pick([1, 2, null]),
    resource: {},
    attributes: { route: random.pick(['/a', '/b']) },
    received_at: new Date(MIDDLE_MS + at).toISOString(),
    ...(random.once(2) ? figures() : {}),
  };
}

function log(trace: Readonly<Record<string, unknown>>, at: number): object {
  const ns = String(BigInt(MIDDLE_MS + at) * MS_NS);
  return {
    ...trace,
    ...random.pick([{ time_unix_nano: ns }, { observed_time_unix_nano: ns }, {}]),
    body: `record ${++made}`,
    user_id: random.pick(['u-1', null]),
    resource: {},
    attributes: {},
    received_at: new Date(MIDDLE_MS + at).toISOString(),
    ...(random.once(2) ? { ...figures(), usage_scope: 'own' } : {}),
  };
}

const CLAIM = `INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns, created_at)
  SELECT trace_id, project, min(environment), min(start), max(start), min(received_at) FROM (
    SELECT trace_id, project, environment, start_time_unix_nano AS start, received_at FROM sluice.spans
    UNION ALL SELECT trace_id, project, environment, NULL, received_at FROM sluice.logs
  ) r GROUP BY trace_id, project
  ON CONFLICT (trace_id) DO UPDATE SET first_ns = excluded.first_ns, last_ns = excluded.last_ns`;

interface Made {
  readonly owner: Readonly<Record<string, unknown>>;
  readonly at: number;
}

const stored: readonly Made[] = Array.from({ length: TRACES }, () => ({
  owner: {
    trace_id: `\\x${Array.from({ length: 4 }, () => random.next().toString(16).padStart(8, '0')).join('')}`,
    project: random.pick(PROJECTS),
    environment: random.pick(['default', 'staging']),
  },
  at: beginOf(),
}));

/** Stores up to `most` spans of each trace, at times around its own. */
async function storeRecords(most: number, times: readonly number[]): Promise<void> {
  const spans: object[] = [];
  const logs: object[] = [];
  for (const { owner, at } of stored) {
    const ids: string[] = [];
    for (let left = random.below(most + 1); left > 0; left--) {
      spans.push(
        span(
          owner,
          at + random.pick(times),
          ids.length === 0 ? random.pick([null, null, hex(1, 8)]) : random.pick(ids),
        ),
      );
      ids.push(hex(made, 8));
    }
    if (random.once(3)) logs.push(log(owner, at + random.pick(times)));
  }
  await insertRows({ query: scene.query }, 'spans', spans);
  await insertRows({ query: scene.query }, 'logs', logs);
  await scene.query(CLAIM);
}

const opened = new DatabaseApi({
  ...{ reader, administration: new Administration(database, { id: null, name: 'a test' }) },
  ...{ people: new PostgresPeople(database), projects: PROJECTS, seesContent: true },
});
/** The API of a program that opens the database, or of one that has loaded the archived days. */
let api: { get(path: string): Promise<string> } = opened;

const archived = {
  get: async (path: string): Promise<string> => {
    const [, project = ''] = /^\/api\/v1\/projects\/(\w+)\//u.exec(path) ?? [];
    const [command, ...flags] = path.includes('/usage')
      ? ['archived-usage', '--owners']
      : ['archived-traces', '--content'];
    const question = { path, headers: {}, projects: PROJECTS, seesContent: true };
    const words = [command ?? '', project, '0', '9000000000000000000', ...flags];
    const { out, err, code } = await call(words, { folder: scene.folder, input: [JSON.stringify(question)] });
    if (code !== 0) throw new Error(err);
    return (JSON.parse(out) as { readonly reply: { readonly text: string } }).reply.text;
  },
};

/** Integers of JSON as texts, because a number does not keep every digit. */
const exact = (json: string): unknown => JSON.parse(json.replaceAll(/(: ?)(-?\d+)(?=[,}\]\s])/gu, '$1"$2"'));

async function command(...args: readonly string[]): Promise<unknown> {
  const { code, out, err } = await call([...args, '--json'], scene);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${err}`);
  return exact(out);
}

type Row = Readonly<Record<string, unknown>>;

/** The members that the command and the API both have. */
const traceOf = (row: Row): Row => ({
  ...Object.fromEntries(
    [
      ...[
        'trace_id',
        'environment',
        'start_time_unix_nano',
        'duration_ns',
        'span_count',
        'error_count',
        'model_call_count',
      ],
      ...['user_id', 'input_tokens', 'output_tokens', 'total_cost'],
    ].map((name) => [name, row[name]]),
  ),
});
const ofCommand = (row: Row): Row => ({ ...traceOf(row), service: row['service_name'], name: row['root_name'] });
const ofApi = (row: Row): Row => ({
  ...traceOf(row),
  service: row['service'],
  name: row['complete'] === true ? row['name'] : null,
});

/** Traces of log records alone are not in the list of the API. */
async function listedByCommand(args: readonly string[]): Promise<readonly Row[]> {
  const rows = (await command('traces', '--limit', '1000', ...args)) as readonly Row[];
  return rows.filter((row) => row['span_count'] !== '0');
}

async function listedByApi(project: string, query: Readonly<Record<string, string>>, sizes: readonly number[]) {
  const items: Row[] = [];
  let cursor = '';
  for (let at = 0; ; at++) {
    const limit = String(sizes[at % sizes.length]);
    const page = exact(await api.get(projectPath(project, ['traces'], { ...query, limit, cursor })));
    const { items: more, next } = page as Page<TraceRow>;
    items.push(...(more as unknown as readonly Row[]));
    if (next === null) return items;
    cursor = next;
  }
}

async function tool(name: string, values: Readonly<Record<string, unknown>>): Promise<string> {
  const { text, isError } = await callTool({ api, explain: null, sql: null }, name, values);
  if (isError) throw new Error(text);
  return text;
}

async function listedByTool(project: string, filter: string, limit: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const text = await tool('search_traces', { project, filter, limit, cursor, from: '-2400h' });
    ids.push(...[...text.matchAll(/^([0-9a-f]{32}) /gmu)].map(([, id = '']) => id));
    cursor = / More: cursor (\S+)$/u.exec(text)?.[1] ?? '';
    if (cursor === '') return ids;
  }
}

const TERMS = [
  ...[
    'model:m-1',
    'model:m-*',
    '-model:m-2',
    'error',
    '-error',
    'service:web',
    '-service:worker',
    'user:u-1',
    '-user:u-2',
  ],
  ...[
    'conversation:c-1',
    'agent:a-1',
    'root',
    'unpriced',
    'tokens:>100',
    'cost:>0.001',
    'duration:>4ms',
    'env:staging',
  ],
  ...['trace.cost:>0.01', 'trace.tokens:>100', 'trace.spans:>2', 'trace.errors:0', 'trace.duration:>1ms', '"span 3"'],
  ...['attr.route:/a', 'category:model_call', 'name:span*', 'provider:p,q', 'latency:>1ms'],
];
const filters = fc.uniqueArray(fc.constantFrom(...TERMS), { maxLength: 3 }).map((terms) => terms.join(' '));

async function checkTraces(t: Test, runs: number): Promise<void> {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 3 });
  const check = async (filter: string, chosen: readonly number[]): Promise<void> => {
    const option = filter === '' ? [] : ['--filter', filter];
    const everyRow: Row[] = [];
    for (const project of PROJECTS) {
      const rows = (await listedByCommand(['--project', project, ...option])).map(ofCommand);
      const found = (await listedByApi(project, { q: filter }, chosen)).map(ofApi);
      t.strictSame(found, rows, `${project}, ${filter}, in pages of ${chosen}`);
      const named = await listedByTool(project, filter, Math.min(50, chosen[0] ?? 1));
      t.strictSame(
        named,
        rows.map((row) => row['trace_id']),
        `the tool: ${project}, ${filter}`,
      );
      everyRow.push(...rows);
    }
    const key = (row: Row): string => `${row['start_time_unix_nano']} ${row['trace_id']}`;
    const together = (await listedByCommand(option)).map(ofCommand);
    t.strictSame(
      together,
      everyRow.sort((left, right) => (key(left) < key(right) ? 1 : -1)),
      `all projects, ${filter}`,
    );
  };
  await check('', [7]);
  await fc.assert(fc.asyncProperty(filters, sizes, check), { seed: SEED, numRuns: runs });
}

const GROUPS = {
  model: ['provider', 'model'],
  service: ['service_name'],
  user: ['user_id'],
  agent: ['agent_name'],
  conversation: ['conversation_id'],
  environment: ['environment'],
} as const;
const CALLS: readonly (readonly [args: readonly string[], q: string])[] = [
  [['--service', 'web'], 'service:web'],
  [['--user', 'u-1'], 'user:u-1'],
  [['--conversation', 'c-1'], 'conversation:c-1'],
  [['--agent', 'a-1'], 'agent:a-1'],
  [['--environment', 'staging'], 'env:staging'],
  [['--errors'], 'error'],
  // The command also takes the dated versions of a model.
  [['--model', 'm-1'], 'model:m-1,m-1-*'],
];
const SUMS = ['call_count', 'unpriced_count', 'input_tokens', 'cache_read_tokens', 'output_tokens', 'total_cost'];
const sumsOf = (row: Row): Row => Object.fromEntries(SUMS.map((name) => [name, row[name]]));

/** As the tool writes them, whose numbers are floats. */
function figuresOf({ call_count, input_tokens, output_tokens, cache_read_tokens, total_cost }: UsageFigures): string {
  const countOf = (sum: Count | null): Count | null => parseExact(String(sum)) as Count | null;
  const sums = {
    input_tokens: countOf(input_tokens),
    output_tokens: countOf(output_tokens),
    cache_read_tokens: countOf(cache_read_tokens),
  };
  const tokens = tokensOf(sums);
  return [plural(Number(call_count), 'call'), ...(tokens === '' ? [] : [tokens]), `cost ${costOf(total_cost)}`].join(
    ' · ',
  );
}

interface CommandUsage {
  readonly usage: readonly Row[];
  readonly total: Row;
  readonly unpriced: readonly Row[];
}

const sinceMs = 30 * DAY_MS;
const range = (): Readonly<Record<string, string>> => ({
  from: String(BigInt(Date.now() - sinceMs) * MS_NS),
  to: String(BigInt(Date.now() + DAY_MS) * MS_NS),
});
const usageOf = async (project: string, query: Readonly<Record<string, string>>): Promise<Usage> =>
  exact(await api.get(projectPath(project, ['usage'], { interval: '1d', ...query, ...range() }))) as Usage;

async function checkUsage(t: Test, runs: number): Promise<void> {
  const groups = fc.constantFrom(...(Object.keys(GROUPS) as (keyof typeof GROUPS)[]));
  const calls = fc.uniqueArray(fc.constantFrom(...CALLS), { maxLength: 2, selector: ([args]) => args[0] });
  const check = async (
    project: string,
    group: keyof typeof GROUPS,
    chosen: readonly (readonly [readonly string[], string])[],
  ): Promise<void> => {
    const [args, q] = [chosen.flatMap(([each]) => each), chosen.map(([, term]) => term).join(' ')];
    const about = `${project} by ${group}, ${q}`;
    const words = ['usage', '--since', '30d', '--project', project, ...args];
    const told = (await command(...words, '--by', group)) as CommandUsage;
    const found = await usageOf(project, { group, q });
    const rows = told.usage.map((row) => ({
      ...Object.fromEntries(GROUPS[group].map((name) => [name, row[name]])),
      ...sumsOf(row),
    }));
    t.strictSame(
      found.series.map(({ key, total }) => ({ ...key, ...sumsOf(total as unknown as Row) })),
      rows,
      about,
    );
    t.strictSame(sumsOf(found.total as unknown as Row), sumsOf(told.total), `${about}: total`);
    const unpriced = await usageOf(project, { group: 'model', q: `${q} unpriced` });
    t.strictSame(
      unpriced.series.map(({ key, total }) => ({ ...key, call_count: total.call_count })),
      told.unpriced,
      `${about}: without a price`,
    );
    const days = (await command(...words, '--by', 'day')) as CommandUsage;
    const points = (await usageOf(project, { group: 'none', q })).series.flatMap((one) => one.points);
    t.strictSame(
      points
        .map(([ns, sums]) => ({
          day: new Date(Number(BigInt(ns) / MS_NS)).toISOString().slice(0, 10),
          ...sumsOf(sums as unknown as Row),
        }))
        .reverse(),
      days.usage.map((row) => ({ day: row['day'], ...sumsOf(row) })),
      `${about}: by day`,
    );
    const text = await tool('usage', { project, group, filter: q, limit: 100, ...range() });
    const [, , ...lines] = text.split('\n');
    const shown = found.series.map(
      ({ key, total }) =>
        `${Object.values(key)
          .map((value) => value ?? '(unknown)')
          .join('/')}: ${figuresOf(total)}`,
    );
    t.ok(
      shown.every((begin, at) => lines[at]?.startsWith(begin)),
      `${about}: the tool`,
      { shown, lines },
    );
    t.equal(lines.length, shown.length, `${about}: lines of the tool`);
  };
  await fc.assert(fc.asyncProperty(fc.constantFrom(...PROJECTS), groups, calls, check), { seed: SEED, numRuns: runs });
}

const SPLIT_MS = MIDDLE_MS + 1000;
const UNTIL = ['--until', new Date(SPLIT_MS).toISOString()];

/** Its own time, else that of its observation, else that of its arrival. */
const timeOf = (line: Row): string =>
  String(
    line['time_unix_nano'] ??
      line['observed_time_unix_nano'] ??
      BigInt(Date.parse(String(line['received_at']))) * MS_NS,
  );

async function checkLogs(t: Test): Promise<void> {
  for (const project of PROJECTS) {
    const { out } = await call(['export', '--what', 'logs', '--project', project], scene);
    const told = linesOf(out).map((line) => [timeOf(line), line['body']]);
    const listed: (readonly [string, unknown])[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Page<Row> = JSON.parse(await api.get(projectPath(project, ['logs'], { limit: '7', cursor })));
      listed.push(
        ...page.items.map(
          (row) => [String(row['time_unix_nano']), JSON.parse((row['body'] as { text: string }).text)] as const,
        ),
      );
      cursor = page.next;
    }
    const written = linesOf(await opened.reply(projectPath(project, ['export'], { what: 'logs' }), textOf));
    t.ok(listed.length > 5, `there are records of ${project}`);
    t.strictSame(
      written.map((line) => [timeOf(line), line['body']]),
      listed,
      `${project}: list and file`,
    );
    t.strictSame([...told].sort(), [...listed].sort(), `${project}: command and list`);
    const early = listed.filter(([ns]) => BigInt(ns) < BigInt(SPLIT_MS) * MS_NS);
    const { out: since } = await call(['export', '--what', 'logs', '--project', project, ...UNTIL], scene);
    t.strictSame(
      linesOf(since)
        .map((line) => timeOf(line))
        .sort(),
      early.map(([ns]) => ns).sort(),
      `${project}: of a time`,
    );
  }
}

const linesOf = (text: string): readonly Row[] =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));

await storeRecords(5, [0, 1, 2, 5000]);

t.test('lists of traces are the same', (t) => checkTraces(t, RUNS));
t.test('sums of usage are the same', (t) => checkUsage(t, RUNS));
t.test('lists of log records are the same', checkLogs);

t.test('with late spans, which begin before and after the others', async (t) => {
  await storeRecords(2, [-2000, -1000, 0, 9000]);
  await checkTraces(t, isLong ? Math.ceil(RUNS / 4) : 1);
  await checkUsage(t, isLong ? Math.ceil(RUNS / 4) : 1);
});

longTest('without deleted traces', async (t) => {
  for (const { owner } of stored.filter((_, at) => at % 7 === 0)) {
    const traceId = String(owner['trace_id']).slice(2);
    await scene.query('BEGIN');
    await removeTrace(async (text, values) => ({ rows: [...(await scene.query(text, values))], rowCount: 0 }), {
      project: null,
      traceId,
    });
    await scene.query('COMMIT');
  }
  await checkTraces(t, Math.ceil(RUNS / 4));
  await checkUsage(t, Math.ceil(RUNS / 4));
});

longTest('without spans that have expired, whose claims are still there', async (t) => {
  const expired = String(stored[1]?.owner['trace_id']);
  await scene.query('DELETE FROM sluice.spans WHERE trace_id = $1', [expired]);
  await checkTraces(t, 1);
});

longTest('with days that are archived', async (t) => {
  await scene.run();
  await dropDays(scene, 9);
  api = archived;
  await checkTraces(t, Math.ceil(RUNS / 12));
  await checkUsage(t, Math.ceil(RUNS / 12));
});
