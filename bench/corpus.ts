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
import {
  MODELS,
  modelCallAttributes,
  PLAIN_WORDS,
  PROVIDERS,
  prose,
  smallSpanAttributes,
} from '../src/cli/bench/span-content.ts';
import { Dice } from '../src/cli/demo/dice.ts';

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

interface SpanPlan {
  readonly name: string;
  readonly attributes: ReadableSpan['attributes'];
  readonly events: number;
}

function span(dice: Dice, owner: Resource, traceId: string, plan: SpanPlan): ReadableSpan {
  const start: [number, number] = [START_SECONDS + dice.between(0, 3599), dice.between(0, 999_999_999)];
  const end: [number, number] = [start[0] + 1 + dice.between(0, 3), dice.between(0, 999_999_999)];
  const context = { traceId, traceFlags: TraceFlags.SAMPLED };
  const made = {
    name: plan.name,
    kind: SpanKind.CLIENT,
    spanContext: () => ({ ...context, spanId: made.id }),
    id: dice.id(8),
    parentSpanContext: { ...context, spanId: dice.id(8) },
    startTime: start,
    endTime: end,
    duration: [1, 0] as [number, number],
    status: dice.chance(1 / 12)
      ? { code: SpanStatusCode.ERROR, message: 'rate limited' }
      : { code: SpanStatusCode.UNSET },
    attributes: plan.attributes,
    links: [],
    events: Array.from({ length: plan.events }, (_, index) => ({
      name: index === 0 ? 'gen_ai.first_token' : 'gen_ai.stream.end',
      time: end,
      attributes: { 'gen_ai.response.chunk': index, 'app.note': dice.pick(PLAIN_WORDS) },
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

function spans(dice: Dice, count: number, perTrace: number, plan: () => SpanPlan): ReadableSpan[] {
  const owner = resource();
  let traceId = '';
  return Array.from({ length: count }, (_, index) => {
    if (index % perTrace === 0) traceId = dice.id(16);
    return span(dice, owner, traceId, plan());
  });
}

function logRecords(dice: Dice): ReadableLogRecord[] {
  const owner = resource();
  return Array.from({ length: LOG_RECORDS }, () => ({
    hrTime: [START_SECONDS + dice.between(0, 3599), dice.between(0, 999_999_999)],
    hrTimeObserved: [START_SECONDS + 3600, dice.between(0, 999_999_999)],
    spanContext: { traceId: dice.id(16), spanId: dice.id(8), traceFlags: TraceFlags.SAMPLED },
    severityText: 'INFO',
    severityNumber: 9,
    body: prose(dice, 60 + dice.between(0, 189)),
    resource: owner,
    instrumentationScope: SCOPE,
    attributes: {
      'event.domain': 'app',
      'code.filepath': '/srv/app/src/handlers/chat.ts',
      'code.lineno': dice.between(0, 899),
      'app.tenant': `tenant-${dice.between(0, 39)}`,
      'gen_ai.conversation.id': `conv_${dice.id(8)}`,
      'app.cached': dice.chance(1 / 2),
    },
    droppedAttributesCount: 0,
  }));
}

const BOUNDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

function metricData(dice: Dice, name: string, kind: 'histogram' | 'sum'): MetricData {
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
    const dataPoints = series.map((point) => ({ ...point, value: dice.between(0, 99_999) }));
    return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
  }
  const dataPoints = series.map((point) => {
    const counts = [...BOUNDS, 0].map(() => dice.between(0, 59));
    const count = counts.reduce((total, value) => total + value, 0);
    const value = {
      buckets: { boundaries: BOUNDS, counts },
      sum: dice.between(0, 999_999) / 1000,
      count,
      min: 0.011,
      max: 79.25,
    };
    return { ...point, value };
  });
  return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints };
}

function metrics(dice: Dice): ResourceMetrics {
  return {
    resource: resource(),
    scopeMetrics: [
      {
        scope: SCOPE,
        metrics: [
          metricData(dice, 'gen_ai.client.operation.duration', 'histogram'),
          metricData(dice, 'gen_ai.server.time_to_first_token', 'histogram'),
          metricData(dice, 'app.tokens.input', 'sum'),
          metricData(dice, 'app.tokens.output', 'sum'),
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
  const dice = new Dice(String(seed));
  const genai = Array.from({ length: batches }, () =>
    traceBody(
      spans(dice, GENAI_SPANS, 8, () => ({
        name: 'chat gpt-5-mini',
        attributes: modelCallAttributes(dice),
        events: dice.between(0, 2),
      })),
    ),
  );
  const micro = [
    traceBody(
      spans(dice, MICRO_SPANS, 32, () => ({ name: 'GET /v1/items', attributes: smallSpanAttributes(dice), events: 0 })),
    ),
  ];
  const records = logRecords(dice);
  const points = metrics(dice);
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
