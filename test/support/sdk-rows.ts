/** The expected rows of records of the OpenTelemetry SDK, made from the SDK's objects and not from its wire format. */
import type { HrTime, SpanContext } from '@opentelemetry/api';
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { SPAN_KINDS, SPAN_STATUSES } from '../../src/pdata/columns.ts';

export type ExpectedRow = Readonly<Record<string, unknown>>;

const HAS_REMOTE_BIT = 0x100;
const IS_REMOTE_BIT = 0x200;

const nanos = ([seconds, rest]: HrTime): string => String(BigInt(seconds) * 1_000_000_000n + BigInt(rest));

interface Source {
  readonly resource: { readonly attributes: Readonly<Record<string, unknown>> };
}

const place = ({ resource }: Source, scope: { readonly name: string; readonly version?: string }): ExpectedRow => ({
  environment: 'staging',
  service_name: resource.attributes['service.name'],
  resource: { ...resource.attributes },
  scope_name: scope.name,
  scope_version: scope.version ?? null,
  scope_attributes: null,
});

/** Bytes are stored as base64. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}

const flagsOf = (spanContext: SpanContext, isRemote: boolean | undefined): number =>
  spanContext.traceFlags | HAS_REMOTE_BIT | (isRemote === true ? IS_REMOTE_BIT : 0);

export function expectedSpan(span: ReadableSpan): ExpectedRow {
  const own = span.spanContext();
  return {
    signal: 'span',
    ...place(span, span.instrumentationScope),
    trace_id: own.traceId,
    span_id: own.spanId,
    parent_span_id: span.parentSpanContext?.spanId ?? null,
    trace_state: own.traceState?.serialize() ?? null,
    name: span.name,
    // OTLP counts kinds from 1, the SDK from 0.
    kind: SPAN_KINDS[span.kind + 1],
    status: SPAN_STATUSES[span.status.code],
    status_message: span.status.message ?? null,
    start_time_unix_nano: nanos(span.startTime),
    end_time_unix_nano: nanos(span.endTime),
    duration_ns: String(BigInt(nanos(span.endTime)) - BigInt(nanos(span.startTime))),
    flags: flagsOf(own, span.parentSpanContext?.isRemote),
    dropped_attributes_count: span.droppedAttributesCount,
    dropped_events_count: span.droppedEventsCount,
    dropped_links_count: span.droppedLinksCount,
    events: span.events.map((event) => ({
      name: event.name,
      time_unix_nano: nanos(event.time),
      attributes: plain(event.attributes ?? {}),
    })),
    links: span.links.map((link) => ({
      trace_id: link.context.traceId,
      span_id: link.context.spanId,
      ...(link.context.traceState === undefined ? {} : { trace_state: link.context.traceState.serialize() }),
      attributes: plain(link.attributes ?? {}),
      flags: flagsOf(link.context, link.context.isRemote),
    })),
    attributes: plain(span.attributes),
  };
}

export function expectedLog(log: ReadableLogRecord): ExpectedRow {
  return {
    signal: 'log',
    ...place(log, log.instrumentationScope),
    time_unix_nano: nanos(log.hrTime),
    observed_time_unix_nano: nanos(log.hrTimeObserved),
    severity_number: log.severityNumber ?? null,
    severity_text: log.severityText ?? null,
    event_name: log.eventName ?? null,
    body: plain(log.body),
    trace_id: log.spanContext?.traceId ?? null,
    span_id: log.spanContext?.spanId ?? null,
    flags: log.spanContext?.traceFlags ?? 0,
    dropped_attributes_count: log.droppedAttributesCount,
    attributes: plain(log.attributes),
  };
}

export function expectedPoints(metrics: ResourceMetrics): readonly ExpectedRow[] {
  return metrics.scopeMetrics.flatMap(({ scope, metrics: list }) =>
    list.flatMap((metric) =>
      pointsOf(metric).map((point) => ({ signal: 'metric', ...place(metrics, scope), ...describe(metric), ...point })),
    ),
  );
}

function describe({ descriptor, ...metric }: MetricData): ExpectedRow {
  const isGauge = metric.dataPointType === DataPointType.GAUGE;
  return {
    name: descriptor.name,
    description: descriptor.description || null,
    unit: descriptor.unit || null,
    type: TYPES[metric.dataPointType],
    temporality: isGauge
      ? null
      : metric.aggregationTemporality === AggregationTemporality.DELTA
        ? 'delta'
        : 'cumulative',
    is_monotonic: metric.dataPointType === DataPointType.SUM ? metric.isMonotonic : null,
  };
}

const TYPES: Readonly<Record<DataPointType, string>> = {
  [DataPointType.SUM]: 'sum',
  [DataPointType.GAUGE]: 'gauge',
  [DataPointType.HISTOGRAM]: 'histogram',
  [DataPointType.EXPONENTIAL_HISTOGRAM]: 'exponential_histogram',
};

function pointsOf(metric: MetricData): readonly ExpectedRow[] {
  const common = (point: { startTime: HrTime; endTime: HrTime; attributes: object }) => ({
    start_time_unix_nano: nanos(point.startTime),
    time_unix_nano: nanos(point.endTime),
    attributes: plain(point.attributes),
    exemplars: null,
    quantiles: null,
  });
  switch (metric.dataPointType) {
    case DataPointType.HISTOGRAM:
      return metric.dataPoints.map((point) => {
        const { buckets, count, sum, min, max } = point.value;
        const json = { explicit_bounds: buckets.boundaries, bucket_counts: buckets.counts.map(String) };
        return { ...common(point), value: null, count, sum, min, max, buckets: json };
      });
    case DataPointType.EXPONENTIAL_HISTOGRAM:
      return metric.dataPoints.map((point) => {
        const { count, sum, min, max, scale, zeroCount, positive, negative } = point.value;
        const side = ({ offset, bucketCounts }: typeof positive) => ({
          offset,
          bucket_counts: bucketCounts.map(String),
        });
        const buckets = {
          scale,
          zero_count: String(zeroCount),
          zero_threshold: 0,
          positive: side(positive),
          negative: side(negative),
        };
        return { ...common(point), value: null, count, sum, min, max, buckets };
      });
    default:
      return metric.dataPoints.map((point) => ({
        ...common(point),
        value: point.value,
        count: null,
        sum: null,
        min: null,
        max: null,
        buckets: null,
      }));
  }
}

/** Converts counts to numbers, which SQL and the file write as text to keep all digits. */
const NUMBERS = ['flags', 'dropped_attributes_count', 'dropped_events_count', 'dropped_links_count', 'count', 'value'];

/** The expected fields of a stored row. */
export function comparable(row: Readonly<Record<string, unknown>>, expected: ExpectedRow): ExpectedRow {
  return Object.fromEntries(
    Object.keys(expected).map((name) => {
      const value = row[name];
      return [name, NUMBERS.includes(name) && typeof value === 'string' ? Number(value) : value];
    }),
  );
}
