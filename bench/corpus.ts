/**
 * The bodies every benchmark uses, made by the serializers of the official JavaScript SDK from synthetic but realistic
 * records: GenAI spans with long messages, small spans, log records and metric series. The same seed gives the same
 * bytes.
 */
import { gzipSync } from 'node:zlib';
import { SpanKind, SpanStatusCode, TraceFlags, ValueType } from '@opentelemetry/api';
import {
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { Random } from '../test/support/generators-random.ts';

/** One batch in the four encodings. */
export interface Body {
  readonly records: number;
  readonly pb: Buffer;
  readonly pbGz: Buffer;
  readonly json: Buffer;
  readonly jsonGz: Buffer;
}
export interface Corpus {
  /** Different batches of 64 model calls, ~255 KB each as protobuf. */
  readonly genai: readonly Body[];
  /** 512 spans of 8 short attributes. */
  readonly micro: readonly Body[];
  readonly logs: readonly Body[];
  /** 100 series in each of two histograms and two sums. */
  readonly metrics: readonly Body[];
}

const GENAI_BATCHES = 16;
const GENAI_SPANS = 64;
const MICRO_SPANS = 512;
const LOG_RECORDS = 512;
const METRIC_SERIES = 100;
const START_SECONDS = 1_767_225_600;
const MESSAGE_BYTES = { least: 900, spread: 1000 };
const PLAIN_WORDS =
  'the model answers with a short summary of every document it was given and names its sources when they are known'.split(
    ' ',
  );
const OTHER_WORDS = [
  'größere',
  'données',
  'модель',
  'ответ',
  '検索',
  '結果',
  'κείμενο',
  'año',
  '文書',
  'état',
  '🚀',
  '“quoted”',
];
const MODELS = ['gpt-5-mini', 'gpt-4.1', 'claude-sonnet-4-5', 'gemini-2.5-pro'] as const;
const PROVIDERS = ['openai', 'openai', 'anthropic', 'gcp.gemini'] as const;

const SCOPE = {
  name: '@example/genai-instrumentation',
  version: '1.4.2',
  schemaUrl: 'https://opentelemetry.io/schemas/1.37.0',
};

function resource(): Resource {
  return resourceFromAttributes({
    'service.name': 'assistant-api',
    'service.version': '2026.1.3',
    'service.instance.id': '7d2f1c6e-4d5e-4a5c-9a4e-0f7a1c2b3d4e',
    'deployment.environment.name': 'production',
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.name': 'opentelemetry',
    'telemetry.sdk.version': '2.12.0',
    'host.name': 'node-17.example.internal',
    'process.pid': 4711,
  });
}

function hex(random: Random, bytes: number): string {
  let result = '';
  while (result.length < bytes * 2) result += random.next().toString(16).padStart(8, '0');
  return result.slice(0, bytes * 2).replace(/^0/, '1');
}

const SYLLABLES = [
  'ba',
  'con',
  'de',
  'fi',
  'gra',
  'lo',
  'men',
  'ni',
  'per',
  'qua',
  'ri',
  'sta',
  'tor',
  'ul',
  'ver',
  'xi',
] as const;

/** Names, numbers and rare words, so that the text compresses about as well as real prompts do. */
function rareWord(random: Random): string {
  if (random.once(4)) return String(random.below(100_000));
  return Array.from({ length: 2 + random.below(3) }, () => random.pick(SYLLABLES)).join('');
}

/** Text in which about a quarter of the letters is not ASCII. */
function prose(random: Random, bytes: number): string {
  let result = '';
  let size = 0;
  while (size < bytes) {
    const word =
      random.below(100) < 28 ? random.pick(OTHER_WORDS) : random.once(2) ? rareWord(random) : random.pick(PLAIN_WORDS);
    result += `${word}${random.once(14) ? '.\n' : ' '}`;
    size += Buffer.byteLength(word) + 1;
  }
  return result;
}

/** Messages as instrumentations write them: JSON as a string. */
function messages(random: Random, roles: readonly string[]): string {
  const bytes = (MESSAGE_BYTES.least + random.below(MESSAGE_BYTES.spread)) / roles.length - 60;
  return JSON.stringify(roles.map((role) => ({ role, parts: [{ type: 'text', content: prose(random, bytes) }] })));
}

function genaiAttributes(random: Random): Record<string, string | number | boolean | string[]> {
  const index = random.below(MODELS.length);
  const [input, output] = [200 + random.below(4000), 20 + random.below(900)];
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': PROVIDERS[index] ?? 'openai',
    'gen_ai.request.model': MODELS[index] ?? 'gpt-5-mini',
    'gen_ai.response.model': `${MODELS[index]}-2026-01-01`,
    'gen_ai.response.id': `chatcmpl-${hex(random, 12)}`,
    'gen_ai.request.temperature': random.below(100) / 100,
    'gen_ai.request.top_p': 0.95,
    'gen_ai.request.max_tokens': 2048,
    'gen_ai.request.frequency_penalty': 0.1,
    'gen_ai.request.stream': true,
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': output,
    'gen_ai.usage.cache_read.input_tokens': Math.floor(input / 3),
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.output.type': 'text',
    'gen_ai.conversation.id': `conv_${hex(random, 8)}`,
    'gen_ai.agent.name': 'support-agent',
    'gen_ai.input.messages': messages(random, ['system', 'user']),
    'gen_ai.output.messages': messages(random, ['assistant']),
    'user.id': `user-${random.below(5000)}`,
    'session.id': hex(random, 8),
    'server.address': 'api.example.com',
    'server.port': 443,
    'http.response.status_code': 200,
    'app.tenant': `tenant-${random.below(40)}`,
    'app.feature': random.pick(['search', 'summary', 'chat'] as const),
    'app.retry': random.once(9),
  };
}

const MICRO_KEYS = [
  'http.request.method',
  'url.path',
  'server.address',
  'thread.name',
  'code.function',
  'app.stage',
] as const;

function microAttributes(random: Random): Record<string, string | number | boolean> {
  const result: Record<string, string | number | boolean> = {};
  for (const key of MICRO_KEYS) result[key] = `${random.pick(PLAIN_WORDS)}-${random.below(100)}`;
  return { ...result, 'http.response.status_code': 200 + random.below(5), 'app.cached': random.once(2) };
}

interface SpanPlan {
  readonly name: string;
  readonly attributes: ReadableSpan['attributes'];
  readonly events: number;
}

function span(random: Random, owner: Resource, traceId: string, plan: SpanPlan): ReadableSpan {
  const start: [number, number] = [START_SECONDS + random.below(3600), random.below(1_000_000_000)];
  const end: [number, number] = [start[0] + 1 + random.below(4), random.below(1_000_000_000)];
  const context = { traceId, traceFlags: TraceFlags.SAMPLED };
  const made = {
    name: plan.name,
    kind: SpanKind.CLIENT,
    spanContext: () => ({ ...context, spanId: made.id }),
    id: hex(random, 8),
    parentSpanContext: { ...context, spanId: hex(random, 8) },
    startTime: start,
    endTime: end,
    duration: [1, 0] as [number, number],
    status: random.once(12) ? { code: SpanStatusCode.ERROR, message: 'rate limited' } : { code: SpanStatusCode.UNSET },
    attributes: plan.attributes,
    links: [],
    events: Array.from({ length: plan.events }, (_, index) => ({
      name: index === 0 ? 'gen_ai.first_token' : 'gen_ai.stream.end',
      time: end,
      attributes: { 'gen_ai.response.chunk': index, 'app.note': random.pick(PLAIN_WORDS) },
      droppedAttributesCount: 0,
    })),
    ended: true,
    resource: owner,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
  return made;
}

function spans(random: Random, count: number, perTrace: number, plan: () => SpanPlan): ReadableSpan[] {
  const owner = resource();
  let traceId = '';
  return Array.from({ length: count }, (_, index) => {
    if (index % perTrace === 0) traceId = hex(random, 16);
    return span(random, owner, traceId, plan());
  });
}

function logRecords(random: Random): ReadableLogRecord[] {
  const owner = resource();
  return Array.from({ length: LOG_RECORDS }, () => ({
    hrTime: [START_SECONDS + random.below(3600), random.below(1_000_000_000)],
    hrTimeObserved: [START_SECONDS + 3600, random.below(1_000_000_000)],
    spanContext: { traceId: hex(random, 16), spanId: hex(random, 8), traceFlags: TraceFlags.SAMPLED },
    severityText: 'INFO',
    severityNumber: 9,
    body: prose(random, 60 + random.below(190)),
    resource: owner,
    instrumentationScope: SCOPE,
    attributes: {
      'event.domain': 'app',
      'code.filepath': '/srv/app/src/handlers/chat.ts',
      'code.lineno': random.below(900),
      'app.tenant': `tenant-${random.below(40)}`,
      'gen_ai.conversation.id': `conv_${hex(random, 8)}`,
      'app.cached': random.once(2),
    },
    droppedAttributesCount: 0,
  }));
}

const BOUNDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

function metricData(random: Random, name: string, kind: 'histogram' | 'sum'): MetricData {
  const common = {
    descriptor: {
      name,
      description: `What ${name} measures.`,
      unit: kind === 'sum' ? '{token}' : 's',
      valueType: ValueType.INT,
    },
    aggregationTemporality: AggregationTemporality.DELTA,
  };
  const series = Array.from({ length: METRIC_SERIES }, (_, index) => ({
    startTime: [START_SECONDS, 0] as [number, number],
    endTime: [START_SECONDS + 60, 0] as [number, number],
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': PROVIDERS[index % PROVIDERS.length] ?? 'openai',
      'gen_ai.request.model': `${MODELS[index % MODELS.length]}-${index}`,
      'server.address': 'api.example.com',
    },
  }));
  if (kind === 'sum') {
    const dataPoints = series.map((point) => ({ ...point, value: random.below(100_000) }));
    return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
  }
  const dataPoints = series.map((point) => {
    const counts = [...BOUNDS, 0].map(() => random.below(60));
    const count = counts.reduce((total, value) => total + value, 0);
    const value = {
      buckets: { boundaries: BOUNDS, counts },
      sum: random.below(1e6) / 1000,
      count,
      min: 0.011,
      max: 79.25,
    };
    return { ...point, value };
  });
  return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints };
}

function metrics(random: Random): ResourceMetrics {
  return {
    resource: resource(),
    scopeMetrics: [
      {
        scope: SCOPE,
        metrics: [
          metricData(random, 'gen_ai.client.operation.duration', 'histogram'),
          metricData(random, 'gen_ai.server.time_to_first_token', 'histogram'),
          metricData(random, 'app.tokens.input', 'sum'),
          metricData(random, 'app.tokens.output', 'sum'),
        ],
      },
    ],
  };
}

function body(records: number, pb: Uint8Array | undefined, json: Uint8Array | undefined): Body {
  if (pb === undefined || json === undefined) throw new Error('the serializer gave no bytes');
  const [pbBytes, jsonBytes] = [Buffer.from(pb), Buffer.from(json)];
  return { records, pb: pbBytes, pbGz: gzipSync(pbBytes), json: jsonBytes, jsonGz: gzipSync(jsonBytes) };
}

function traceBody(batch: ReadableSpan[]): Body {
  return body(
    batch.length,
    ProtobufTraceSerializer.serializeRequest(batch),
    JsonTraceSerializer.serializeRequest(batch),
  );
}

/** The whole corpus; `batches` bounds how many GenAI batches are made. */
export function makeCorpus(seed = 1, batches = GENAI_BATCHES): Corpus {
  const random = new Random(seed);
  const genai = Array.from({ length: batches }, () =>
    traceBody(
      spans(random, GENAI_SPANS, 8, () => ({
        name: 'chat gpt-5-mini',
        attributes: genaiAttributes(random),
        events: random.below(3),
      })),
    ),
  );
  const micro = [
    traceBody(
      spans(random, MICRO_SPANS, 32, () => ({ name: 'GET /v1/items', attributes: microAttributes(random), events: 0 })),
    ),
  ];
  const records = logRecords(random);
  const points = metrics(random);
  return {
    genai,
    micro,
    logs: [
      body(
        records.length,
        ProtobufLogsSerializer.serializeRequest(records),
        JsonLogsSerializer.serializeRequest(records),
      ),
    ],
    metrics: [
      body(
        METRIC_SERIES * 4,
        ProtobufMetricsSerializer.serializeRequest(points),
        JsonMetricsSerializer.serializeRequest(points),
      ),
    ],
  };
}
