/** The client metrics: which spans are measured, with which attributes, buckets and units. */
import type { Attributes } from '@opentelemetry/api';
import type { MetricData } from '@opentelemetry/sdk-metrics';
import t from 'tap';
import { SpanMetrics } from '../../src/client/span-metrics.ts';
import { aSpan, openMeter, type SpanShape } from './telemetry.ts';

interface Point {
  readonly attributes: Attributes;
  readonly value: { readonly count: number; readonly sum: number; readonly buckets: { readonly boundaries: number[] } };
}

async function measured(...spans: readonly SpanShape[]) {
  const { meter, collect } = openMeter();
  const metrics = new SpanMetrics(meter);
  for (const shape of spans) metrics.record(aSpan(shape));
  const all: readonly MetricData[] = (await collect()).scopeMetrics.flatMap((scope) => scope.metrics);
  const named = (name: string) => all.find(({ descriptor }) => descriptor.name === name);
  const [duration, tokens] = [named('gen_ai.client.operation.duration'), named('gen_ai.client.token.usage')];
  return {
    duration,
    tokens,
    durations: (duration?.dataPoints ?? []) as readonly Point[],
    usage: (tokens?.dataPoints ?? []) as readonly Point[],
  };
}

const USAGE = { 'gen_ai.usage.input_tokens': 120, 'gen_ai.usage.output_tokens': 30 };

for (const [operation, countsTokens] of Object.entries({
  chat: true,
  generate_content: true,
  text_completion: true,
  invoke_agent: true,
  create_agent: true,
  embeddings: true,
  execute_tool: false,
})) {
  t.test(`${operation}: the duration${countsTokens ? ' and the tokens' : ', no tokens'}`, async (t) => {
    const attributes = { 'gen_ai.operation.name': operation, ...USAGE };
    const { durations, usage } = await measured({ attributes, durationMs: 1500 });
    t.match(durations, [{ attributes: { 'gen_ai.operation.name': operation }, value: { count: 1, sum: 1.5 } }]);
    const counts = usage.map(({ attributes, value }) => [attributes['gen_ai.token.type'], value.sum]);
    t.strictSame(
      counts,
      countsTokens
        ? [
            ['input', 120],
            ['output', 30],
          ]
        : [],
    );
  });
}

t.test('other spans are not measured', async (t) => {
  const others = ['retrieval', 'workflow', 'agent_step', 'toString', ''];
  const shapes = others.map((operation) => ({ attributes: { 'gen_ai.operation.name': operation, ...USAGE } }));
  const { durations, usage } = await measured({}, { attributes: USAGE }, ...shapes);
  t.strictSame([...durations, ...usage], []);
});

t.test('the names, units and buckets are those of the semantic conventions', async (t) => {
  const { duration, tokens, durations, usage } = await measured({
    attributes: { 'gen_ai.operation.name': 'chat', ...USAGE },
  });
  t.match(duration, { descriptor: { unit: 's', description: 'GenAI operation duration.' } });
  t.match(tokens, { descriptor: { unit: '{token}', description: 'Number of input and output tokens used.' } });
  t.strictSame(
    durations[0]?.value.buckets.boundaries,
    Array.from({ length: 14 }, (_, index) => Math.round(2 ** index) / 100),
  );
  t.strictSame(
    usage[0]?.value.buckets.boundaries,
    Array.from({ length: 14 }, (_, index) => 4 ** index),
  );
});

t.test('the attributes are those of the semantic conventions, and no content', async (t) => {
  const { durations, usage } = await measured({
    failed: true,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-5',
      'gen_ai.response.model': 'gpt-5-2026',
      'server.address': 'api.openai.com',
      'server.port': 443,
      'error.type': 'timeout',
      'gen_ai.input.messages': '[{"role":"user"}]',
      'user.id': 'u-1',
      ...USAGE,
    },
  });
  const common = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-5',
    'gen_ai.response.model': 'gpt-5-2026',
    'server.address': 'api.openai.com',
    'server.port': 443,
  };
  t.strictSame(durations[0]?.attributes, { ...common, 'error.type': 'timeout' });
  t.strictSame(usage[0]?.attributes, { ...common, 'gen_ai.token.type': 'input' });
});

t.test('an error without a type is _OTHER; without an error there is none', async (t) => {
  const attributes = { 'gen_ai.operation.name': 'execute_tool' };
  const { durations } = await measured({ attributes, failed: true }, { attributes });
  t.strictSame(
    durations.map((point) => point.attributes),
    [{ ...attributes, 'error.type': '_OTHER' }, attributes],
  );
});

t.test('an unknown, negative, fractional or unsafe count is not recorded', async (t) => {
  for (const count of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '12', true]) {
    const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': count } as Attributes;
    t.strictSame((await measured({ attributes })).usage, [], String(count));
  }
  const zero = { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.output_tokens': 0 };
  t.match((await measured({ attributes: zero })).usage, [{ value: { count: 1, sum: 0 } }]);
});

t.test('the spans of the AI SDK up to version 6 are measured once per call', async (t) => {
  const call = {
    'ai.operationId': 'ai.generateText.doGenerate',
    'ai.model.provider': 'openai.chat',
    'ai.model.id': 'gpt-5',
    'gen_ai.system': 'openai',
    'gen_ai.request.model': 'gpt-5',
    'ai.usage.promptTokens': 10,
    'gen_ai.usage.input_tokens': 10,
    'ai.usage.completionTokens': 4,
  };
  const outer = { ...call, 'ai.operationId': 'ai.generateText' };
  const tool = { 'ai.operationId': 'ai.toolCall', 'ai.toolCall.name': 'weather' };
  const embedding = { 'ai.operationId': 'ai.embed.doEmbed', 'ai.model.id': 'small', 'ai.usage.tokens': 7 };
  const shapes = [outer, call, tool, embedding].map((attributes) => ({ attributes }));
  const { durations, usage } = await measured(...shapes);
  t.strictSame(
    durations.map(({ attributes }) => attributes),
    [
      { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'gpt-5' },
      { 'gen_ai.operation.name': 'execute_tool' },
      { 'gen_ai.operation.name': 'embeddings', 'gen_ai.request.model': 'small' },
    ],
  );
  t.strictSame(
    usage.map(({ attributes, value }) => [attributes['gen_ai.operation.name'], value.sum]),
    [
      ['chat', 10],
      ['chat', 4],
      ['embeddings', 7],
    ],
  );
});
