// Every token once: the view `counted_usage`, compared with the rule written out for one trace at a time.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DIALECTS } from '../../../src/dialects/families.ts';
import { readViews } from '../../../src/extensions/postgres/schema-state.ts';
import { sluice } from '../../support/command-line.ts';
import { openFolder } from '../../support/executable.ts';
import { Random } from '../../support/generators-random.ts';
import { cases } from '../../support/long.ts';
import { send } from '../../support/otlp-client.ts';
import { aLogRequest, aSpan, aTraceRequest, attributes, START_NS } from '../../support/payloads.ts';
import { type PostgresDaemon, postgresConfig, startPostgresDaemon } from '../../support/postgres-daemon.ts';
import { byTrace, hexId, type NodeContents, randomTree, sendNodes, type TreeNode } from '../../support/random-trees.ts';

t.setTimeout(300_000);

const TRACES = cases(500);
const LARGEST = 14;
const SEED = 20_261_122;

type Role = 'plain' | 'call' | 'embedding' | 'sum';
interface Node extends TreeNode {
  readonly role: Role;
  readonly tokens: number;
}

const OPERATIONS: Readonly<Record<Role, string>> = {
  plain: 'send_data',
  call: 'chat',
  embedding: 'embeddings',
  sum: 'invoke_agent',
};

function randomTrace(random: Random, number: number): readonly Node[] {
  // Traces differ in what they have: most spans of some are sums, some have no call at all.
  const sums = random.below(10);
  const calls = random.below(6);
  return randomTree(random, { number, largest: LARGEST, lost: 15 }).map((node) => {
    const chance = random.below(16);
    const role: Role =
      chance < sums ? 'sum' : chance < sums + calls ? (random.once(4) ? 'embedding' : 'call') : 'plain';
    return { ...node, role, tokens: 1 + random.below(1000), isLog: role === 'call' && random.once(4) };
  });
}

/** The rule, by walking the tree from every span. */
function countedTokens(nodes: readonly Node[]): number {
  const spans = nodes.filter(({ isLog }) => !isLog);
  const span = (id: string | null): Node | undefined => spans.find((node) => node.id === id);
  const isCall = (node: Node | undefined): boolean => node?.role === 'call' || node?.role === 'embedding';
  const above = (node: Node): Node[] => {
    const parent = span(node.parent);
    return parent === undefined ? [] : [parent, ...above(parent)];
  };
  // A record that names a span with usage of its own is the same call.
  const counting = nodes.filter((node) => isCall(node) && !(node.isLog && isCall(span(node.parent))));
  const eligible = spans.filter(
    (node) =>
      node.role === 'sum' &&
      !counting.some((call) => above(call).includes(node)) &&
      !above(node).some(({ role }) => role === 'call'),
  );
  const topmost = eligible.filter((node) => !above(node).some((other) => eligible.includes(other)));
  return [...counting, ...topmost].reduce((sum, { tokens }) => sum + tokens, 0);
}

const attributesOf = ({ role, tokens }: Node): Record<string, string | number> => ({
  'gen_ai.operation.name': OPERATIONS[role],
  'gen_ai.request.model': 'm',
  ...(role === 'plain' ? {} : { 'gen_ai.usage.input_tokens': tokens }),
});

const CONTENTS: NodeContents<Node> = { startNs: START_NS, attributesOf };

async function comparedWith(daemon: PostgresDaemon, nodes: readonly Node[]): Promise<readonly unknown[]> {
  const rows = await daemon.query('SELECT trace_id, input_tokens::int FROM traces');
  const stored = new Map(rows.map((row) => [row['trace_id'], row['input_tokens'] ?? 0]));
  let sum = 0;
  const different: unknown[] = [];
  for (const [trace, its] of byTrace(nodes)) {
    const expected = countedTokens(its);
    sum += expected;
    if (stored.get(trace) !== expected) different.push({ trace, expected, stored: stored.get(trace), its });
  }
  const [daily] = await daemon.query('SELECT sum(input_tokens)::int AS sum FROM usage_daily');
  return daily?.['sum'] === sum ? different : [...different, { daily: daily?.['sum'], sum }];
}

t.test(`the totals of ${TRACES} random trees follow the rule, whatever has arrived`, async (t) => {
  const daemon = await startPostgresDaemon(t, { processors: 'auth, environment, normalization' });
  const random = new Random(SEED);
  const nodes = Array.from({ length: TRACES }, (_, number) => randomTrace(random, number)).flat();
  const shuffled = random.shuffle(nodes);
  const half = Math.floor(shuffled.length / 2);
  await sendNodes(daemon.url, shuffled.slice(0, half), CONTENTS);
  t.strictSame((await comparedWith(daemon, shuffled.slice(0, half))).slice(0, 3), [], 'halfway');
  await sendNodes(daemon.url, shuffled.slice(half), CONTENTS);
  t.strictSame((await comparedWith(daemon, shuffled)).slice(0, 3), [], 'at the end');
  t.ok(nodes.filter(({ role }) => role === 'sum').length > TRACES, 'there was something to count');

  const folder = openFolder(t);
  writeFileSync(join(folder, 'a.yaml'), postgresConfig({ databaseUrl: daemon.databaseUrl }));
  const read = async (...args: readonly string[]) =>
    JSON.parse((await sluice([...args, '--json', '-c', 'a.yaml'], { folder })).out);
  const listed: { trace_id: string; input_tokens: number | null }[] = await read('traces', '--limit', '1000');
  t.strictSame(
    listed.map(({ trace_id, input_tokens }) => [trace_id, input_tokens ?? 0]).sort(),
    [...new Set(nodes.map(({ trace }) => trace))]
      .map((trace) => [trace, countedTokens(nodes.filter((node) => node.trace === trace))])
      .sort(),
    'sluice traces',
  );
  const sum = listed.reduce((total, { input_tokens }) => total + (input_tokens ?? 0), 0);
  for (const since of ['all', '9999d'])
    t.equal((await read('usage', '--since', since)).total.input_tokens, sum, `sluice usage --since ${since}`);
});

interface Case {
  readonly what: string;
  readonly spans: readonly (Parameters<typeof aSpan>[0] & { readonly at: number; readonly under?: number })[];
  readonly logs?: readonly {
    readonly at?: number;
    readonly name: string;
    readonly attributes: Readonly<Record<string, string | number>>;
  }[];
  readonly scope?: string;
  readonly service?: string;
  /** Left out: the same. */
  readonly logService?: string;
  readonly counted: string;
}

const usage = (input: number, output: number): Record<string, number> => ({
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
});
const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' };
const agent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'a' };
const EVENT = { 'gcp.vertex.agent.event_id': 'e1' };
const ANTHROPIC = { ...chat, 'anthropic.request.id': 'anthropic_1' };
const MESSAGE = { 'gen_ai.response.id': 'msg_1' };
const BEDROCK = { ...chat, 'rpc.service': 'Bedrock Runtime', 'gen_ai.system': 'aws.bedrock' };
const MISTRAL = { ...chat, 'agent.trace.public': '', 'gen_ai.provider.name': 'mistral_ai' };
const OPENINFERENCE = { 'openinference.span.kind': 'LLM', 'llm.model_name': 'm' };
const counts = (input: number, output: number): Record<string, number> => ({
  'llm.token_count.prompt': input,
  'llm.token_count.completion': output,
});
const ANSWER = { 'output.value': '{"id":"chatcmpl-1"}' };
const ASSOCIATED = { 'traceloop.association.properties.user_id': 'u1' };
const RUN = {
  'gen_ai.system': 'az.ai.agents',
  'gen_ai.operation.name': 'get_thread_run',
  'gen_ai.thread.run.id': 'run_1',
};
const REQUEST = { 'gen_ai.request.model': 'claude', input_tokens: 100, output_tokens: 10 };
const CODEX = { input_token_count: '200', output_token_count: '20', model: 'gpt-5-codex' };

const CASES: readonly Case[] = [
  {
    what: 'an agent with calls and an agent without',
    spans: [
      { at: 1, attributes: { ...agent, ...usage(1000, 100) } },
      { at: 2, under: 1, attributes: { ...chat, ...usage(1000, 100) } },
      { at: 3, attributes: { ...agent, ...usage(2000, 200) } },
    ],
    counted: '3000/300',
  },
  {
    what: 'a sum below a call',
    scope: 'litellm',
    spans: [
      { at: 1, name: 'litellm_request', attributes: usage(1000, 100) },
      { at: 2, under: 1, name: 'raw_gen_ai_request', attributes: usage(1000, 100) },
    ],
    counted: '1000/100',
  },
  {
    what: 'a span that is its own parent',
    spans: [{ at: 1, under: 1, attributes: { ...agent, ...usage(5, 1) } }],
    counted: '5/1',
  },
  {
    what: 'two spans of Google ADK for one event',
    spans: [
      { at: 1, name: 'call_llm', attributes: { ...EVENT, ...usage(1000, 100) } },
      { at: 2, under: 1, attributes: { ...EVENT, 'gen_ai.operation.name': 'generate_content', ...usage(1000, 100) } },
    ],
    counted: '1000/100',
  },
  {
    what: 'two events of Google ADK',
    spans: [
      { at: 1, name: 'call_llm', attributes: { ...EVENT, ...usage(1000, 100) } },
      { at: 2, name: 'call_llm', attributes: { 'gcp.vertex.agent.event_id': 'e2', ...usage(1000, 100) } },
    ],
    counted: '2000/200',
  },
  {
    what: 'a call that an instrumentation, the client of Anthropic and its platform report',
    spans: [
      { at: 1, attributes: { ...chat, ...MESSAGE, ...usage(1000, 100) } },
      { at: 2, under: 1, attributes: { ...ANTHROPIC, ...MESSAGE, ...usage(1000, 100) } },
      { at: 3, under: 2, attributes: { ...ANTHROPIC, ...usage(1000, 100) } },
    ],
    counted: '1000/100',
  },
  {
    what: 'a call of an instrumentation without response ids over the client of Anthropic',
    spans: [
      { at: 1, attributes: { ...chat, ...usage(1000, 100) } },
      { at: 2, under: 1, attributes: { ...ANTHROPIC, ...MESSAGE, ...usage(1000, 100) } },
    ],
    counted: '1000/100',
  },
  {
    what: 'a call of Strands that an instrumentation of the AWS SDK reports too, which has no response ids',
    spans: [
      { at: 1, attributes: { ...chat, 'gen_ai.system': 'strands-agents', ...usage(1000, 100) } },
      { at: 2, under: 1, attributes: { ...BEDROCK, ...usage(1000, 100) } },
    ],
    counted: '1000/100',
  },
  {
    what: 'two calls of the AWS SDK in a span without usage',
    spans: [
      { at: 1, attributes: agent },
      { at: 2, under: 1, attributes: { ...BEDROCK, ...usage(1000, 100) } },
      { at: 3, under: 1, attributes: { ...BEDROCK, ...usage(1000, 100) } },
    ],
    counted: '2000/200',
  },
  {
    what: 'a call of OpenLLMetry that the client of Mistral reports too, below associated properties',
    spans: [
      { at: 1, attributes: { ...chat, ...MESSAGE, ...ASSOCIATED, ...usage(1000, 100) } },
      { at: 2, under: 1, attributes: { ...MISTRAL, ...ASSOCIATED, ...usage(1000, 100) } },
    ],
    counted: '1000/100',
  },
  {
    what: 'a call of a framework without response ids that OpenInference reports for the client library too',
    spans: [
      { at: 1, attributes: { ...OPENINFERENCE, ...counts(1000, 100) } },
      { at: 2, under: 1, attributes: { ...OPENINFERENCE, ...ANSWER, ...counts(1000, 100) } },
    ],
    counted: '1000/100',
  },
  {
    what: 'a call of a framework of another sender that OpenInference reports for the client library too',
    spans: [
      { at: 1, attributes: { ...chat, 'gen_ai.system': 'strands-agents', ...usage(1000, 100) } },
      { at: 2, under: 1, attributes: { ...OPENINFERENCE, ...ANSWER, ...counts(1000, 100) } },
    ],
    counted: '1000/100',
  },
  {
    what: 'a call of ADK that OpenInference reports for the client library too',
    spans: [
      { at: 1, name: 'call_llm', attributes: { ...EVENT, ...usage(1000, 100) } },
      { at: 2, under: 1, attributes: { ...EVENT, 'gen_ai.operation.name': 'generate_content', ...usage(1000, 100) } },
      { at: 3, under: 2, attributes: { ...OPENINFERENCE, ...ANSWER, ...counts(1000, 100) } },
    ],
    counted: '1000/100',
  },
  {
    what: 'two calls of OpenInference with response ids, one below the other',
    spans: [
      { at: 1, attributes: { ...OPENINFERENCE, 'output.value': '{"id":"chatcmpl-0"}', ...counts(1000, 100) } },
      { at: 2, under: 1, attributes: { ...OPENINFERENCE, ...ANSWER, ...counts(500, 50) } },
    ],
    counted: '1500/150',
  },
  {
    what: 'two calls of Anthropic, of which only the platform reports one',
    spans: [
      { at: 1, attributes: { ...ANTHROPIC, ...MESSAGE, ...usage(1000, 100) } },
      { at: 2, under: 1, attributes: { ...ANTHROPIC, 'anthropic.request.id': 'anthropic_2', ...usage(1000, 100) } },
      { at: 3, attributes: { ...ANTHROPIC, 'anthropic.request.id': 'anthropic_2', ...usage(1000, 100) } },
    ],
    counted: '2000/200',
  },
  {
    what: 'a run of Azure that is asked for twice',
    spans: [
      { at: 1, attributes: { ...RUN, ...usage(1300, 130) } },
      { at: 2, attributes: { ...RUN, ...usage(1300, 130) } },
    ],
    counted: '1300/130',
  },
  {
    what: 'two requests of Claude Code, of which a log record tells one and both tell the other',
    service: 'claude-code',
    spans: [{ at: 1, name: 'claude_code.llm_request', attributes: { ...REQUEST, request_id: 'req_1' } }],
    logs: [
      { name: 'claude_code.api_request', attributes: { ...REQUEST, request_id: 'req_1' } },
      { name: 'claude_code.api_request', attributes: { ...REQUEST, input_tokens: 200, request_id: 'req_2' } },
    ],
    counted: '300/20',
  },
  {
    what: 'a call of another sender beside log records of Codex',
    logService: 'codex_cli_rs',
    spans: [{ at: 1, attributes: { ...chat, ...usage(1000, 100) } }],
    logs: [{ name: 'codex.sse_event', attributes: CODEX }],
    counted: '1200/120',
  },
  {
    what: 'a call of Codex that its span and its log record tell',
    service: 'codex_cli_rs',
    scope: 'codex_exec',
    spans: [{ at: 1, name: 'handle_responses', attributes: usage(200, 20) }],
    logs: [{ name: 'codex.sse_event', attributes: CODEX }],
    counted: '200/20',
  },
  {
    what: 'a turn of Codex and the log record of its call',
    service: 'codex_cli_rs',
    scope: 'codex_cli_rs',
    spans: [
      {
        at: 1,
        name: 'session_task.turn',
        attributes: { 'codex.turn.token_usage.input_tokens': 200, 'codex.turn.token_usage.output_tokens': 20 },
      },
    ],
    logs: [{ at: 1, name: 'codex.sse_event', attributes: CODEX }],
    counted: '200/20',
  },
  {
    what: 'the log record of a call that names the span of the call',
    spans: [
      { at: 1, attributes: { ...chat, ...usage(1000, 100) } },
      { at: 2, attributes: { 'http.route': '/' } },
    ],
    logs: [
      { at: 1, name: 'gen_ai.client.inference.operation.details', attributes: { ...chat, ...usage(1000, 100) } },
      { at: 2, name: 'gen_ai.client.inference.operation.details', attributes: { ...chat, ...usage(50, 5) } },
    ],
    counted: '1050/105',
  },
  {
    what: 'an agent whose calls only log records tell',
    spans: [{ at: 1, attributes: { ...agent, ...usage(1000, 100) } }],
    logs: [{ at: 1, name: 'gen_ai.client.inference.operation.details', attributes: { ...chat, ...usage(1000, 100) } }],
    counted: '1000/100',
  },
];

t.test('calls and sums of known senders count once', async (t) => {
  const daemon = await startPostgresDaemon(t, { processors: 'auth, environment, normalization' });
  for (const [
    number,
    { what, spans, logs = [], scope = 'test', service = 'shop', counted, ...more },
  ] of CASES.entries()) {
    const traceId = hexId(number + 1, 32);
    const idOf = (at: number): string => hexId((number + 1) * 100 + at, 16);
    const body = aTraceRequest(
      spans.map(({ at, under, ...sketch }) =>
        aSpan({ ...sketch, traceId, spanId: idOf(at), ...(under === undefined ? {} : { parentSpanId: idOf(under) }) }),
      ),
      { 'service.name': service },
    );
    const named = JSON.stringify(body).replaceAll('"name":"test"', `"name":"${scope}"`);
    const records = logs.map(({ at, name, attributes: values }) => ({
      timeUnixNano: String(START_NS),
      traceId,
      ...(at === undefined ? {} : { spanId: idOf(at) }),
      eventName: name,
      attributes: attributes(values),
    }));
    if (records.length > 0) {
      const sent = JSON.stringify(aLogRequest(records, { 'service.name': more.logService ?? service }));
      t.equal((await send(daemon.url, { path: '/v1/logs', body: sent })).status, 200);
    }
    t.equal((await send(daemon.url, { path: '/v1/traces', body: named })).status, 200);
    const [row] = await daemon.query(
      "SELECT sum(input_tokens) || '/' || sum(output_tokens) AS counted FROM counted_usage WHERE trace_id = decode($1, 'hex')",
      [traceId],
    );
    t.equal(row?.['counted'], counted, what);
  }
});

/** The last time that can be stored: an hour after it is no bigint. */
const LAST_NS = 2n ** 63n - 1n;

for (const [when, atNs, untilNs] of [
  ['now', START_NS, START_NS + 1_000_000n],
  ['at the last time that can be stored', LAST_NS - 1n, LAST_NS],
] as const)
  t.test(
    `log records of Codex outside of a trace count if no trace of their conversation reports the calls, ${when}`,
    async (t) => {
      const daemon = await startPostgresDaemon(t, { processors: 'auth, environment, normalization' });
      const codex = { 'service.name': 'codex_exec' };
      const tokens = { 'codex.turn.token_usage.input_tokens': 200, 'codex.turn.token_usage.output_tokens': 20 };
      const times = { start: atNs, end: atNs };
      const traceId = hexId(1, 32);
      const [turn, sampling, response] = [hexId(1, 16), hexId(2, 16), hexId(3, 16)];
      const traces = aTraceRequest(
        [
          aSpan({
            ...times,
            traceId,
            spanId: turn,
            name: 'session_task.turn',
            attributes: { ...tokens, model: 'o4-mini' },
          }),
          aSpan({
            ...times,
            traceId,
            spanId: sampling,
            parentSpanId: turn,
            attributes: { 'conversation.id': 'traced' },
          }),
          aSpan({
            ...{ ...times, traceId, spanId: response, parentSpanId: sampling, name: 'handle_responses' },
            attributes: { 'gen_ai.usage.input_tokens': 200, 'gen_ai.usage.output_tokens': 20 },
          }),
        ],
        codex,
      );
      const records = ['traced', 'recorded'].map((conversation) => ({
        timeUnixNano: String(atNs),
        eventName: 'codex.sse_event',
        attributes: attributes({ ...CODEX, 'conversation.id': conversation, model: 'o4-mini' }),
      }));
      const scoped = JSON.stringify(traces).replaceAll('"name":"test"', '"name":"codex_exec"');
      t.equal((await send(daemon.url, { path: '/v1/traces', body: scoped })).status, 200);
      t.equal(
        (await send(daemon.url, { path: '/v1/logs', body: JSON.stringify(aLogRequest(records, codex)) })).status,
        200,
      );
      for (const usage of ['counted_usage', `counted_usage_between(NULL, ${atNs - 1n}, ${untilNs})`]) {
        const rows = await daemon.query(
          `SELECT signal, total_tokens::int AS tokens, model FROM ${usage} ORDER BY signal`,
        );
        t.strictSame(
          rows.map((row) => ({ ...row })),
          [
            { signal: 'log', tokens: 220, model: 'o4-mini' },
            { signal: 'span', tokens: 220, model: 'o4-mini' },
          ],
          usage,
        );
      }
    },
  );

t.test('the view has what the dialects state about reports of one call', async (t) => {
  const view = await readViews();
  const both = DIALECTS.filter(({ logsRepeatSpans }) => logsRepeatSpans === true).map(({ id }) => `'${id}'`);
  t.match(view, `s.dialect IN (${both.sort().join(', ')})`);
  const clients = DIALECTS.filter(({ repeatsCallAbove }) => repeatsCallAbove === true).map(({ id }) => `'${id}'`);
  t.match(view, `CASE WHEN dialect IN (${clients.sort().join(', ')})`);
  for (const { id, callId } of DIALECTS) {
    if (callId !== undefined) t.match(view, `WHEN '${id}' THEN attributes ->> '${callId}'`);
  }
});
