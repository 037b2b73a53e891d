/** The API of a trace answers the same when its day was archived and dropped, from a process that reads the lake. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { ArchivedAnswer, ArchivedQuestion } from '../../src/extensions/console/server/archive-readers.ts';
import { CLOSED_MS, dropDays, makeScene } from '../support/archive-scene.ts';
import { DAY_MS } from '../../src/pdata/time-units.ts';
import { sluice } from '../support/command-line.ts';
import { freePort, startExecutable } from '../support/executable.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { spanIdOf, storeClaims, storeSpan, storeStory, traceIdOf } from '../support/usage-rows.ts';
import { isLong, longTest } from '../support/long.ts';
import { DAY_NS } from '../../src/pdata/time-units.ts';
import '../support/long-file.ts';

t.setTimeout(600_000);

const API = '/api/v1';
const scene = await makeScene(t);
const traces = await storeStory(scene);
/** Ids that could be taken for something else on their way to the process that reads. */
const PLAIN_IDS = ['--id=y', '-x', 'two words', 'a/b?c#d%', '$HOME', 'ä'.repeat(1200)];
/** A process is started for each of them. */
const IDS = ['line\nbreak\u2028 "quoted"', ...(isLong ? PLAIN_IDS : [])];
const UNKNOWN_IDS = ['none', ...(isLong ? ['a\0b'] : [])];
for (const [index, conversation] of IDS.entries()) {
  const trace = { id: traceIdOf(700 + index), project: 'shop', at: 1000 * index };
  await storeSpan(scene, trace, { number: 700 + index, conversation_id: conversation, category: 'model_call' });
}
await storeClaims(scene);
const port = await freePort();
const console_ = `console: { endpoint: "127.0.0.1:${port}", ui: false, auth: { mode: none, anonymous_role: admin } }`;
const config = postgresConfig({ databaseUrl: scene.url })
  .replace('allow_unsafe: true } }', `allow_unsafe: true }, ${console_} }`)
  .replace('extensions: [postgres]', 'extensions: [postgres, console]');
writeFileSync(join(scene.folder, 'sluice.yaml'), config);
await scene.query(
  "INSERT INTO sluice.projects (name, plan) VALUES ('shop', 'paid'), ('blog', 'paid') ON CONFLICT DO NOTHING",
);
const daemon = startExecutable(['run'], scene.folder);
t.teardown(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.ended;
});
await daemon.until('everything is ready');

interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
}

async function fetchPath(path: string, init: RequestInit): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, init);
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, type: answer.headers.get('content-type'), text: bytes.toString('latin1') };
}

const ask = (path: string, method = 'GET'): Promise<Answer> =>
  fetchPath(`${API}${path}`, { method, headers: { origin: `http://127.0.0.1:${port}` } });
const askFor = (path: string, headers: Readonly<Record<string, string>>): Promise<Answer> =>
  fetchPath(path, { headers });

const agent = traces['agent']?.id ?? '';
const midnight = traces['midnight']?.id ?? '';
const OF_AGENT = `/projects/shop/traces/${agent}`;
const PATHS = [
  `/traces/${agent}`,
  OF_AGENT,
  ...['spans', 'steps', 'logs', 'markdown', 'otlp?as=json', 'otlp?as=protobuf'].map((name) => `${OF_AGENT}/${name}`),
  `${OF_AGENT}/spans/${spanIdOf(2)}`,
  `${OF_AGENT}/spans/${spanIdOf(2)}/content/output_content`,
  `${OF_AGENT}/spans/${spanIdOf(99)}`,
  `/projects/blog/traces/${agent}`,
  ...(isLong ? [`/projects/shop/traces/${midnight}/spans`] : []),
];
/** Requests to the APIs of Tempo and Jaeger, which name the project in the query or the header. */
const SHOP = { 'x-scope-orgid': 'shop' };
const FOREIGN: readonly (readonly [path: string, headers: Readonly<Record<string, string>>])[] = [
  [`/tempo/api/traces/${agent}`, SHOP],
  [`/tempo/api/traces/${agent.replace(/^0+/u, '')}?project=shop`, { accept: 'application/protobuf' }],
  [`/tempo/api/v2/traces/${agent}`, SHOP],
  [`/tempo/api/v2/traces/${agent}`, { ...SHOP, accept: 'application/protobuf' }],
  [`/jaeger/api/traces/${agent}`, SHOP],
  [`/jaeger/api/v3/traces/${agent.toUpperCase()}?project=shop`, {}],
  [`/tempo/api/traces/${agent}`, { 'x-scope-orgid': 'blog' }],
  [`/jaeger/api/traces/${agent}`, { 'x-scope-orgid': 'blog' }],
  [`/tempo/api/traces/${agent}`, {}],
  [`/jaeger/api/traces/${agent}`, {}],
];
const all = async () => {
  const found = [];
  for (const path of PATHS) found.push(await ask(path));
  for (const [path, headers] of FOREIGN) found.push(await askFor(path, headers));
  return found;
};
const USAGE_FROM = BigInt(CLOSED_MS - 30 * DAY_MS) * 1_000_000n;
const USAGE_TO = BigInt(CLOSED_MS + 9 * DAY_MS) * 1_000_000n;
const USAGE_MIDDLE = BigInt(CLOSED_MS + 2 * DAY_MS) * 1_000_000n;
const [PART_FROM, PART_TO] = [USAGE_MIDDLE - DAY_NS, USAGE_MIDDLE + DAY_NS];
/** A process is started for each range, and for the spans above the calls, which users and conversations are from. */
const PART_USAGES = [
  `from=${PART_FROM}&to=${PART_TO}&interval=1d`,
  `from=${PART_FROM}&to=${PART_TO}&env=default`,
  `from=${USAGE_FROM}&to=${USAGE_TO}&q=user:u-1`,
];
const USAGES = [
  ...(isLong ? PART_USAGES : []),
  ...(isLong ? ['user', 'conversation', 'service', 'none', 'model'] : ['service', 'none', 'model']).map(
    (group) => `from=${USAGE_FROM}&to=${USAGE_TO}&group=${group}`,
  ),
];
const BY_MODEL = USAGES.length - 1;
const askUsage = async (query: string): Promise<Readonly<Record<string, unknown>>> => {
  const { as_of: _, ...usage } = JSON.parse((await ask(`/projects/shop/usage?${query}`)).text);
  return usage;
};
const allUsages = async () => {
  const found = [];
  for (const query of USAGES) found.push(await askUsage(query));
  return found;
};
const usagesBefore = await allUsages();
const NARROW_LISTS = ['q=text:hello', `from=${USAGE_FROM}&to=${USAGE_MIDDLE}`, 'q=user:u-1'];
const LISTS = [`from=${USAGE_FROM}`, ...(isLong ? NARROW_LISTS : [])];
/** All pages. `reached` and `examined` are of a search. */
async function traceList(query: string): Promise<{ readonly items: unknown[]; readonly completeFrom: unknown }> {
  const items: unknown[] = [];
  for (let [next, isFirst] = [null as string | null, true]; isFirst || next !== null; isFirst = false) {
    const cursor = next === null ? '' : `&cursor=${next}`;
    const page = JSON.parse((await ask(`/projects/shop/traces?limit=2&${query}${cursor}`)).text);
    items.push(...page.items);
    next = page.next;
    if (next === null) return { items, completeFrom: page.complete_from };
  }
  return { items, completeFrom: undefined };
}
const turnsOf = (conversation: string): Promise<Answer> =>
  ask(`/projects/shop/conversations/${encodeURIComponent(conversation)}/turns`);
const allTurns = async () => {
  const found = [];
  for (const id of [...IDS, ...UNKNOWN_IDS]) found.push(await turnsOf(id));
  return found;
};
const turnsBefore = await allTurns();
const allLists = async () => {
  const found = [];
  for (const query of LISTS) found.push(await traceList(query));
  return found;
};
const listsBefore = await allLists();
const before = await all();
t.same(
  before.map(({ status }) => status),
  [
    ...PATHS.map((_, index) => (index === 10 || index === 11 ? 404 : 200)),
    ...FOREIGN.map((_, index) => [200, 404, 400][Math.max(0, Math.floor((index - 4) / 2))]),
  ],
);

t.test('a trace of an archived day', async (t) => {
  await scene.run();
  await dropDays(scene);
  t.match(JSON.parse((await ask(OF_AGENT)).text), { span_count: 4 });
  for (const [index, answer] of (await all()).entries())
    t.same(answer, before[index], PATHS[index] ?? FOREIGN[index - PATHS.length]?.[0] ?? '');
  const began = performance.now();
  await ask(OF_AGENT);
  t.comment(`a further request: ${Math.round(performance.now() - began)} ms`);
});

t.test('the command shows no more than the caller may see', async (t) => {
  const path = `${API}${OF_AGENT}/spans/${spanIdOf(2)}`;
  const questions: readonly ArchivedQuestion[] = [
    { path, projects: ['shop'], seesContent: true },
    { path, projects: ['shop'], seesContent: false },
    { path: `${path}/content/output_content`, projects: ['shop'], seesContent: false },
    { path, projects: ['blog'], seesContent: true },
    { path: `${API}/traces/${agent}`, projects: ['blog'], seesContent: true },
    { path: `${API}/people`, projects: null, seesContent: true },
    { path: `/tempo/api/v2/traces/${agent}`, projects: ['shop'], seesContent: false },
    { path: `/jaeger/api/traces/${agent}?project=shop`, projects: ['blog'], seesContent: true },
  ].map((question) => ({ ...question, headers: {} }));
  const input = questions.map((question) => JSON.stringify(question));
  const { code, out } = await sluice(['archived-trace', agent], { folder: scene.folder, input });
  t.equal(code, 0);
  const answers = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ArchivedAnswer);
  const texts = answers.map((answer) => ('reply' in answer ? answer.reply.text : answer.refusal.code));
  t.match(texts[0], /another \\\\N one/u);
  t.match(texts[1], /"span_id"/u);
  t.notMatch(texts[1], /one|hello|"attributes"/u);
  t.same(texts.slice(2, 6), ['forbidden', 'not_found', 'not_found', 'forbidden']);
  t.match(texts[6], /"spanId"/u);
  t.notMatch(texts[6], /one|hello/u);
  t.match(answers[7], { reply: { status: 404, text: /"data":null/u } });
});

t.test('usage of archived days is counted', async (t) => {
  for (const [index, usage] of (await allUsages()).entries()) t.same(usage, usagesBefore[index], USAGES[index] ?? '');
  const began = performance.now();
  await askUsage(USAGES[BY_MODEL] ?? '');
  t.comment(`a further request: ${Math.round(performance.now() - began)} ms`);
  const usual = await askUsage(`${USAGES[BY_MODEL]}&archived=false`);
  t.match(usual, { complete_from: String });
  t.notSame(usual['total'], usagesBefore[BY_MODEL]?.['total']);
  const recent = await askUsage(`from=${BigInt(CLOSED_MS + 8 * DAY_MS) * 1_000_000n}&to=${USAGE_TO}&archived=true`);
  t.notOk('complete_from' in recent, 'PostgreSQL has all of it');
  t.equal((await ask('/projects/shop/usage?archived=yes')).status, 400);
});

longTest('conversations of archived days, whatever their ids are', async (t) => {
  t.same(
    turnsBefore.map(({ status }) => status),
    [...IDS.map(() => 200), ...UNKNOWN_IDS.map(() => 404)],
  );
  for (const [index, answer] of (await allTurns()).entries()) t.same(answer, turnsBefore[index], `id ${index}`);
  for (const [index, id] of IDS.entries()) {
    const { code, err } = await sluice(['conversation', '--project', 'shop', '--', id], scene);
    t.equal(code, 0, `id ${index} as an argument`);
    t.match(err, /^Read \d+ archived/u);
  }
});

t.test('a conversation that is resumed later has its archived turns', async (t) => {
  const [conversation = ''] = IDS;
  const resumed = { id: traceIdOf(790), project: 'shop', at: 12 * DAY_MS };
  await storeSpan(scene, resumed, { number: 790, conversation_id: conversation, category: 'model_call' });
  await storeClaims(scene);
  t.teardown(async () => {
    for (const table of ['spans', 'traces'])
      await scene.query(`DELETE FROM sluice.${table} WHERE trace_id = $1`, [`\\x${resumed.id}`]);
  });
  const { conversation: row, items, ...rest } = JSON.parse((await turnsOf(conversation)).text);
  t.equal(row.trace_count, 2);
  t.same(
    items.map(({ trace }: { trace: { trace_id: string } }) => trace.trace_id),
    [resumed.id, traceIdOf(700)],
  );
  t.same(rest, { next: null });

  const since = (days: number): bigint => BigInt(CLOSED_MS + days * DAY_MS) * 1_000_000n;
  const listOf = async (query: string) => {
    const { text } = await ask(`/projects/shop/conversations?${query}`);
    const { items: rows, complete_from: from } = JSON.parse(Buffer.from(text, 'latin1').toString());
    const listed = rows.find((each: { conversation_id: string }) => each.conversation_id === conversation);
    return { traces: listed?.trace_count, from };
  };
  const partial = { traces: 1, from: String(since(5)) };
  t.same(await listOf(`from=${since(13)}`), partial, 'PostgreSQL alone');
  t.same(await listOf(`from=${since(13)}&limit=1`), partial, 'PostgreSQL alone, of a page');
  t.same(await listOf(''), { traces: 2, from: undefined }, 'all days');
  if (isLong) {
    // Archived days are read from a day before the range to a day after it.
    const late = await listOf(`from=${since(4)}`);
    t.same(late, { traces: 1, from: String(since(3)) }, 'a range after the conversation began');
    const middle = await listOf(`from=${since(2)}&to=${since(3)}`);
    t.same(middle, { traces: 2, from: String(since(1)) }, 'earlier days may have further records');
  }
});

t.test('traces of archived days are listed', async (t) => {
  t.ok(listsBefore.every(({ items }) => items.length > 0));
  for (const [index, list] of (await allLists()).entries()) t.same(list, listsBefore[index], LISTS[index] ?? '');
  const usual = await traceList(`${LISTS[0]}&archived=false`);
  t.match(usual, { items: [], completeFrom: String });
  t.equal((await ask('/projects/shop/traces?archived=yes')).status, 400);
});

t.test('lists and sums of PostgreSQL alone say from which time on they are complete', async (t) => {
  const firstOpen = String(BigInt(CLOSED_MS + 5 * DAY_MS) * 1_000_000n);
  const since = (days: number): string => String(BigInt(CLOSED_MS + days * DAY_MS) * 1_000_000n);
  for (const path of ['traces?', 'conversations?', 'logs?', `usage?to=${since(9)}&`]) {
    const old = JSON.parse((await ask(`/projects/shop/${path}archived=false&from=${since(0)}`)).text);
    t.equal(old.complete_from, firstOpen, path);
    const usual = JSON.parse((await ask(`/projects/shop/${path}from=${since(8)}`)).text);
    t.notOk('complete_from' in usual, path);
  }
});

longTest('what is in a file that is lost is left out, and the answer says so', async (t) => {
  const day = new Date(CLOSED_MS + 2 * DAY_MS).toISOString().slice(0, 10);
  const key = scene.files().find((name) => name.startsWith(`lake/spans/day=${day}`)) ?? '';
  const path = join(scene.lake, key);
  renameSync(path, `${path}.away`);
  t.teardown(() => renameSync(`${path}.away`, path));
  const lost = {
    complete_from: String(BigInt(CLOSED_MS + 3 * DAY_MS) * 1_000_000n),
    unread: `The archive cannot read ${key}: it does not exist.`,
  };
  const from = BigInt(CLOSED_MS - 31 * DAY_MS) * 1_000_000n;
  const list = JSON.parse((await ask(`/projects/shop/traces?from=${from}&archived=true`)).text);
  t.match(list, lost);
  t.ok(list.items.length > 0, 'days before and after the file are listed');
  t.match(JSON.parse((await ask(`/projects/shop/usage?from=${from}&to=${USAGE_TO}`)).text), lost);
  for (const archived of ['auto', 'true']) {
    const { status, text } = await ask(`/projects/shop/export?from=${from}&archived=${archived}`);
    t.equal(status, 503, `a file cannot say what it does not have: ${archived}`);
    t.match(JSON.parse(text), { error: { code: 'archive_unavailable', message: lost.unread } });
  }
  t.equal((await ask(`/projects/shop/export?from=${from}&archived=false`)).status, 200);
  const recent = JSON.parse((await ask(`/projects/shop/traces?from=${lost.complete_from}&archived=true`)).text);
  t.notOk('unread' in recent, 'a range after the file is complete');
  await daemon.until('an answer of archived days is incomplete');
});

longTest('without its claim a trace is searched', async (t) => {
  await scene.query('DELETE FROM sluice.traces');
  const { id } = traces['repeated'] ?? { id: '' };
  t.match(JSON.parse((await ask(`/traces/${id}`)).text), { project: 'shop' });
  t.match(JSON.parse((await ask(`/projects/shop/traces/${id}/spans/${spanIdOf(8)}`)).text), { span_id: spanIdOf(8) });
  t.equal((await ask(`/projects/shop/traces/${'ab'.repeat(16)}`)).status, 404);
  t.match(await askFor(`/tempo/api/v2/traces/${id}`, SHOP), { status: 200, text: /"resourceSpans":\[\{/u });
  t.match(await askFor(`/tempo/api/traces/${'ab'.repeat(16)}`, SHOP), { status: 404, text: 'trace not found' });
  t.match(await askFor(`/jaeger/api/traces/${'ab'.repeat(16)}`, SHOP), {
    status: 404,
    text: /"msg":"trace not found"/u,
  });
});

longTest('a trace that was removed is not shown, although the archive still has it', async (t) => {
  const { id } = traces['adk'] ?? { id: '' };
  const path = `/projects/shop/traces/${id}`;
  const first = Math.floor((CLOSED_MS + 4 * DAY_MS) / 1000);
  await scene.query(
    `INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns) VALUES ($1, 'shop', 'default', $2, $2)`,
    [`\\x${id}`, `${first}000000000`],
  );
  t.equal((await ask(path)).status, 200);
  t.equal((await ask(path, 'DELETE')).status, 200);
  t.equal((await scene.query('SELECT FROM sluice.lake_erasures')).length, 1);
  t.equal((await ask(path)).status, 404);
});

longTest('an archive that cannot be read is named', async (t) => {
  await scene.query("DELETE FROM sluice.maintenance_state WHERE name = 'lake'");
  const { status, text } = await ask(`/projects/shop/traces/${midnight}`);
  t.equal(status, 503);
  t.match(JSON.parse(text), {
    error: { code: 'archive_unavailable', message: /cannot be read: no run has recorded where they are/u },
  });
  const why = /cannot be read: no run has recorded where they are/u;
  const list = JSON.parse((await ask(`/projects/shop/traces?from=${USAGE_FROM}`)).text);
  t.match(list, { items: [], complete_from: String, unread: why }, 'a list says what it does not have');
  t.equal((await ask(`/projects/shop/traces?from=${USAGE_FROM}&archived=true`)).status, 503);
  t.match(await askFor('/tempo/api/search', SHOP), { status: 503, type: /^text\/plain/u, text: why });
  t.match(await askFor(`/tempo/api/traces/${midnight}`, SHOP), { status: 503, type: /^text\/plain/u, text: why });
  const jaeger = await askFor(`/jaeger/api/traces/${midnight}`, SHOP);
  t.match(jaeger, { status: 503, type: 'application/json' });
  t.match(JSON.parse(jaeger.text), { data: null, errors: [{ code: 503, msg: why }] });
});
