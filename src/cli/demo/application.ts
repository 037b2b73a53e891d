/**
 * The telemetry of a small AI application, as OTLP/JSON: an assistant that retrieves documents, answers in a stream,
 * calls a tool that fails, and answers again with the model of another vendor. It follows OpenTelemetry's GenAI
 * conventions, as an SDK would send it.
 */
import { randomBytes } from 'node:crypto';
import { type Attributes, attributesOf, CLIENT, type DemoRequest, INTERNAL, spanOf, type Step } from './otlp.ts';
import { MS_NS } from '../../pdata/time-units.ts';

export interface Demo {
  readonly traceId: string;
  readonly conversation: string;
  /** One for each signal, with a line that describes it. */
  readonly requests: readonly (DemoRequest & { readonly content: string })[];
}

/** Distinguishes a demonstration from real telemetry. */
const SERVICE = 'sluice-demo';
const SCOPE = { name: 'sluice.demo', version: '1' };
/** The duration of the run, which ends now. */
const STORY_MS = 4_860;

export function makeDemo(nowMs: number, environment: string): Demo {
  const traceId = randomBytes(16).toString('hex');
  const conversation = `demo-${traceId.slice(0, 8)}`;
  const startNs = BigInt(Math.floor(nowMs) - STORY_MS) * MS_NS;
  const ids = Array.from({ length: 6 }, () => randomBytes(8).toString('hex'));
  const at = (ms: number): string => String(startNs + BigInt(ms) * MS_NS);
  const resource = {
    attributes: attributesOf({ 'service.name': SERVICE, 'deployment.environment.name': environment }),
  };
  const spans = tellStory(ids, conversation).map((step) => spanOf(step, traceId, at));
  const log = {
    timeUnixNano: at(3_120),
    observedTimeUnixNano: at(3_121),
    severityNumber: 13,
    severityText: 'WARN',
    eventName: 'tool.retry',
    body: { stringValue: 'the weather service did not answer in time; answering without it' },
    traceId,
    spanId: ids[4],
    attributes: attributesOf({ 'gen_ai.tool.name': 'get_weather', attempt: 1 }),
  };
  return {
    traceId,
    conversation,
    requests: [
      {
        path: '/v1/traces',
        body: { resourceSpans: [{ resource, scopeSpans: [{ scope: SCOPE, spans }] }] },
        content:
          '6 spans: an agent, a retrieval, two model calls (openai, streamed and partly cached; anthropic), a tool that fails',
      },
      {
        path: '/v1/logs',
        body: { resourceLogs: [{ resource, scopeLogs: [{ scope: SCOPE, logRecords: [log] }] }] },
        content: '1 log record: the warning about the tool',
      },
      {
        path: '/v1/metrics',
        body: { resourceMetrics: [{ resource, scopeMetrics: [{ scope: SCOPE, metrics: [durationMetric(at)] }] }] },
        content: '1 metric: a histogram of the durations of the calls',
      },
    ],
  };
}

const QUESTION = 'What should I pack for three days in Bergen?';
const ANSWER = 'Pack for rain: a waterproof jacket, boots that dry quickly, and a warm layer for the evenings.';

function tellStory(ids: readonly string[], conversation: string): readonly Step[] {
  const [root = '', search = '', chat = '', plan = '', tool = '', last = ''] = ids;
  const common = { 'gen_ai.conversation.id': conversation };
  return [...findOut(root, search, chat, common), ...useTool(root, plan, tool, common), answer(root, last, common)];
}

function findOut(root: string, search: string, chat: string, common: Attributes): readonly Step[] {
  return [
    {
      id: root,
      parent: null,
      name: 'invoke_agent travel-assistant',
      kind: INTERNAL,
      from: 0,
      to: STORY_MS,
      attributes: {
        ...common,
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'travel-assistant',
        'user.id': 'demo-user',
      },
    },
    {
      id: search,
      parent: root,
      name: 'retrieval guides',
      kind: CLIENT,
      from: 40,
      to: 210,
      attributes: {
        ...common,
        'gen_ai.operation.name': 'retrieval',
        'gen_ai.data_source.id': 'guides',
        'gen_ai.retrieval.query.text': 'packing list Bergen autumn',
      },
    },
    {
      id: chat,
      parent: root,
      name: 'chat gpt-5-mini',
      kind: CLIENT,
      from: 230,
      to: 2_050,
      attributes: { ...common, ...OPENAI_CALL, 'gen_ai.response.id': `chatcmpl-${chat}` },
      events: [{ name: 'gen_ai.first_token', at: 640, attributes: { 'gen_ai.server.time_to_first_token': 0.41 } }],
    },
  ];
}

/** The tool fails; the agent continues without it. */
function useTool(root: string, plan: string, tool: string, common: Attributes): readonly Step[] {
  return [
    {
      id: plan,
      parent: root,
      name: 'check the weather',
      kind: INTERNAL,
      from: 2_060,
      to: 3_130,
      attributes: common,
    },
    {
      id: tool,
      parent: plan,
      name: 'execute_tool get_weather',
      kind: INTERNAL,
      from: 2_070,
      to: 3_120,
      failure: 'the weather service did not answer within 1 s',
      attributes: {
        ...common,
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'get_weather',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': `call_${tool}`,
        'gen_ai.tool.call.arguments': '{"city":"Bergen","days":3}',
        'error.type': 'timeout',
      },
    },
  ];
}

function answer(root: string, last: string, common: Attributes): Step {
  return {
    id: last,
    parent: root,
    name: 'chat claude-sonnet-4-5',
    kind: CLIENT,
    from: 3_150,
    to: STORY_MS - 20,
    attributes: { ...common, ...ANTHROPIC_CALL, 'gen_ai.response.id': `msg_${last}` },
  };
}

const OPENAI_CALL: Attributes = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'gpt-5-mini',
  'gen_ai.response.model': 'gpt-5-mini-2025-08-07',
  'gen_ai.request.stream': true,
  'gen_ai.usage.input_tokens': 3_480,
  'gen_ai.usage.cache_read.input_tokens': 3_072,
  'gen_ai.usage.output_tokens': 412,
  'gen_ai.usage.reasoning.output_tokens': 256,
  'gen_ai.response.time_to_first_chunk': 0.41,
  'gen_ai.response.finish_reasons': ['tool_calls'],
  'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: QUESTION }] }]),
};

const ANTHROPIC_CALL: Attributes = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'anthropic',
  'gen_ai.request.model': 'claude-sonnet-4-5',
  'gen_ai.response.model': 'claude-sonnet-4-5-20250929',
  'gen_ai.request.max_tokens': 1_024,
  'gen_ai.usage.input_tokens': 1_210,
  'gen_ai.usage.output_tokens': 164,
  'gen_ai.response.finish_reasons': ['stop'],
  'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: QUESTION }] }]),
  'gen_ai.output.messages': JSON.stringify([
    { role: 'assistant', parts: [{ type: 'text', content: ANSWER }], finish_reason: 'stop' },
  ]),
};

function durationMetric(at: (ms: number) => string): object {
  const bounds = [0.1, 0.5, 1, 2, 5];
  const point = {
    attributes: attributesOf({ 'gen_ai.operation.name': 'chat' }),
    startTimeUnixNano: at(0),
    timeUnixNano: at(STORY_MS),
    count: '2',
    sum: 3.51,
    min: 1.69,
    max: 1.82,
    explicitBounds: bounds,
    bucketCounts: ['0', '0', '0', '2', '0', '0'],
  };
  return {
    name: 'gen_ai.client.operation.duration',
    unit: 's',
    histogram: { aggregationTemporality: 1, dataPoints: [point] },
  };
}
