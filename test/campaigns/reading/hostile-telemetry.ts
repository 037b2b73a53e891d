/** OTLP/JSON requests with values at the edges of what senders can write. All of them are accepted by ingest. */
import { aLogRequest, aMetricRequest, aTraceRequest } from '../../support/payloads.ts';

/** Texts that break careless readers, all legal in OTLP. */
const TEXTS = [
  '',
  ' ',
  'plain',
  '\u2028line\u2029separators',
  '\u202eright to left\u202c',
  '\u0001\u001b[31mcontrol\u001b[0m\r\n',
  '"quoted", \\backslash\\ and \'apostrophe\'',
  '=1+1',
  '<script>alert(1)</script>',
  '\ud83d\ude00'.repeat(40),
  'e\u0301\u0301\u0301\u0301',
  '{"json":[1,2]}',
  '%00%zz\u007f',
  '__proto__',
  'constructor',
];
const LONGEST_INT = 2n ** 63n - 1n;
/** In everything that needs the right to content. */
export const CONTENT = 'only-with-the-right-to-content';
const HALF_PAIR = '\\ud800';

export interface Scene {
  readonly traces: readonly string[];
  readonly spans: readonly string[];
  readonly conversations: readonly string[];
  readonly metrics: readonly string[];
  readonly bodies: readonly (readonly [path: string, body: string])[];
}

const id = (marker: number, number: number, digits: number): string =>
  `${marker.toString(16)}${number.toString(16).padStart(digits - 1, '0')}`;

type Value = string | number | bigint | boolean | null | readonly Value[];

function anyValue(value: Value): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint') return { intValue: String(value) };
  if (value === null) return {};
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  return { doubleValue: Number.isFinite(value) ? value : String(value) };
}

const attributesOf = (values: Readonly<Record<string, Value>>): readonly object[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));

/** `marker`: 1 to 15, the first digit of all ids. `word`: in every name, so that it shows whose a text is. */
export function hostileScene(marker: number, word: string, nowNs: bigint): Scene {
  const trace = (number: number): string => id(marker, number, 32);
  const named = (text: string): string => `${word}${text}`;
  const span = (fields: object): object => ({
    kind: 2,
    name: word,
    startTimeUnixNano: String(nowNs),
    endTimeUnixNano: String(nowNs + 1_000_000n),
    ...fields,
  });
  const call = (model: string, values: Readonly<Record<string, Value>>): readonly object[] =>
    attributesOf({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': model,
      'gen_ai.provider.name': 'openai',
      ...values,
    });
  const conversations = [named('-c'), named('\u2028 /%2F?'), named('-logs'), named('x'.repeat(1500))];
  const spans: object[] = [];
  let count = 0;
  const add = (of: number, fields: object): string => {
    count += 1;
    const spanId = id(marker, count, 16);
    spans.push(span({ traceId: trace(of), spanId, ...fields }));
    return spanId;
  };
  for (const [at, text] of TEXTS.entries())
    add(1, {
      name: named(text),
      startTimeUnixNano: String(nowNs - BigInt(at) * 1_000_000n),
      attributes: call(named(text), {
        'gen_ai.conversation.id': conversations[at % 2] ?? '',
        'user.id': named(text),
        'gen_ai.agent.name': text,
        'gen_ai.usage.input_tokens': BigInt(at),
        'gen_ai.usage.output_tokens': 3,
        'gen_ai.usage.cost': 0.1 + at / 3,
        'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: CONTENT + text }] }]),
        'gen_ai.output.messages': CONTENT + text,
        note: CONTENT,
        [`${CONTENT}-key`]: 1,
        [text || 'empty']: text,
      }),
      status: { code: 2, message: CONTENT + text },
      events: [{ name: text, timeUnixNano: String(nowNs), attributes: attributesOf({ [text]: [CONTENT, 1n, null] }) }],
      links: [{ traceId: trace(2), spanId: id(marker, 1, 16), traceState: 'a=b', attributes: [] }],
    });
  // The highest figures that columns take, and some that they cannot.
  for (const tokens of [LONGEST_INT, -LONGEST_INT - 1n, 0n, 2n ** 53n + 1n])
    add(2, {
      attributes: call(named('-int'), { 'gen_ai.usage.input_tokens': tokens, 'gen_ai.usage.output_tokens': tokens }),
    });
  for (const cost of ['123456789012345678901234567890.1', '0.000000000000000000000000000001', 1e300, -1, Number.NaN])
    add(2, {
      attributes: call(named('-cost'), { 'gen_ai.usage.cost': cost, 'sluice.cost': cost, 'llm.usage.cost': cost }),
    });
  // Times at the ends, ends before starts, the same time.
  for (const [start, end] of [
    [1n, 0n],
    [1n, LONGEST_INT],
    [LONGEST_INT, LONGEST_INT],
    [LONGEST_INT - 1n, 1n],
  ] as const)
    add(3, { startTimeUnixNano: String(start), endTimeUnixNano: String(end) });
  add(4, { startTimeUnixNano: String(LONGEST_INT), endTimeUnixNano: String(LONGEST_INT) });
  add(5, { startTimeUnixNano: '1', endTimeUnixNano: '0' });
  // A circle of parents, a span that is its own parent, a parent that is missing.
  const [one, other] = [id(marker, count + 1, 16), id(marker, count + 2, 16)];
  add(6, { parentSpanId: other });
  add(6, { parentSpanId: one });
  add(6, { parentSpanId: id(marker, count + 1, 16) });
  add(6, { parentSpanId: 'ffffffffffffffff' });
  // One id and one time for several spans.
  for (let at = 0; at < 7; at += 1)
    spans.push(
      span({
        traceId: trace(7),
        spanId: id(marker, 0xabc, 16),
        name: named(`-repeated-${at}`),
        attributes: call('m', { at: BigInt(at) }),
      }),
    );
  // A chain that is deep, and a trace with many spans at one time.
  let parent = '';
  for (let at = 0; at < 1200; at += 1)
    parent = add(8, { ...(parent === '' ? {} : { parentSpanId: parent }), name: named(`-${at % 20}`) });
  // Long names.
  add(9, {
    name: named('n'.repeat(1_000_000)),
    attributes: call(named('m'.repeat(300_000)), { ['k'.repeat(100_000)]: 'v'.repeat(200_000) }),
  });
  // Many traces at one time.
  for (let at = 0; at < 60; at += 1)
    add(100 + at, {
      attributes: call('many', { 'gen_ai.conversation.id': named(`-m${at % 25}`), 'gen_ai.tool.name': 't' }),
    });
  const tool = (values: Readonly<Record<string, Value>>): readonly object[] =>
    attributesOf({ 'gen_ai.operation.name': 'execute_tool', ...values });
  for (const text of TEXTS)
    add(10, {
      attributes: tool({
        'gen_ai.tool.name': named(text),
        'gen_ai.tool.call.arguments': CONTENT + text,
        'gen_ai.tool.call.result': `[${text}`,
      }),
    });

  const logs = TEXTS.map((text, at) => ({
    ...(at % 3 === 0 ? {} : { timeUnixNano: String(nowNs) }),
    ...(at % 2 === 0 ? { traceId: trace(11), spanId: id(marker, 1, 16) } : {}),
    severityNumber: at % 25,
    severityText: text,
    eventName: at === 0 ? '' : named(text),
    body: anyValue(CONTENT + text),
    attributes: attributesOf({
      'gen_ai.conversation.id': conversations[2] ?? '',
      [text]: text,
      duration_ms: 1e300,
      'event.name': 'claude_code.api_request',
      input_tokens: '5',
    }),
  }));
  const extremes = [0n, 1n, LONGEST_INT].map((time) => ({
    timeUnixNano: String(time),
    body: anyValue([word, [[]], null, Number.NaN, LONGEST_INT]),
    attributes: attributesOf({ duration_ms: '1e300', 'gen_ai.conversation.id': conversations[2] ?? '' }),
  }));
  const numbers = ['NaN', 'Infinity', '-Infinity', 1.7976931348623157e308, 5e-324, -0];
  const time = (at: number): string => String(nowNs - BigInt(at) * 1_000_000_000n);
  const metric = (name: string, fields: object): object => ({
    name: named(name),
    unit: '\u2028',
    description: 'd'.repeat(5000),
    ...fields,
  });
  const metrics = [
    metric('-gauge', {
      gauge: {
        dataPoints: numbers.map((asDouble, at) => ({
          timeUnixNano: time(at),
          asDouble,
          attributes: attributesOf({ [TEXTS[at] ?? '']: TEXTS[at + 3] ?? '' }),
        })),
      },
    }),
    metric('-int', {
      sum: {
        isMonotonic: true,
        aggregationTemporality: 2,
        dataPoints: [LONGEST_INT, -LONGEST_INT - 1n, 0n].map((value, at) => ({
          startTimeUnixNano: time(100),
          timeUnixNano: time(at),
          asInt: String(value),
        })),
      },
    }),
    metric('-histogram', {
      histogram: {
        aggregationTemporality: 1,
        dataPoints: numbers.map((bound, at) => ({
          startTimeUnixNano: time(100),
          timeUnixNano: time(at),
          count: '18446744073709551615',
          sum: bound,
          min: bound,
          max: bound,
          bucketCounts: ['18446744073709551615', '1'],
          explicitBounds: [bound],
        })),
      },
    }),
    metric('-exponential', {
      exponentialHistogram: {
        aggregationTemporality: 2,
        dataPoints: [2147483647, -2147483648, 0].map((edge, at) => ({
          startTimeUnixNano: time(100),
          timeUnixNano: time(at),
          count: '3',
          sum: 1,
          scale: edge,
          zeroCount: '1',
          zeroThreshold: 'NaN',
          positive: { offset: edge, bucketCounts: ['1', '1'] },
          negative: { offset: edge, bucketCounts: ['1'] },
        })),
      },
    }),
    metric('-summary', {
      summary: {
        dataPoints: [
          { timeUnixNano: time(0), count: '5', sum: 'NaN', quantileValues: [{ quantile: 0.5, value: 'Infinity' }] },
        ],
      },
    }),
    metric('', {
      gauge: {
        dataPoints: [
          { timeUnixNano: '0', asInt: '1' },
          { timeUnixNano: String(LONGEST_INT), asInt: '1' },
        ],
      },
    }),
    metric('n'.repeat(200_000), { gauge: { dataPoints: [{ timeUnixNano: time(0), asInt: '1' }] } }),
  ];
  const resource = { 'service.name': named('-web'), 'host.name': '\u202eh' };
  const parts: object[][] = [];
  for (let at = 0; at < spans.length; at += 500) parts.push(spans.slice(at, at + 500));
  return {
    traces: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 100].map(trace),
    spans: [1, 2, 20, 0xabc].map((number) => id(marker, number, 16)),
    conversations,
    metrics: ['-gauge', '-int', '-histogram', '-exponential', '-summary', ''].map(named),
    bodies: [
      ...parts.map(
        (part) => ['/v1/traces', JSON.stringify(aTraceRequest(part, resource)).replaceAll('%zz', HALF_PAIR)] as const,
      ),
      ['/v1/logs', JSON.stringify(aLogRequest([...logs, ...extremes], resource))],
      ['/v1/metrics', JSON.stringify(aMetricRequest(metrics, resource))],
    ],
  };
}
