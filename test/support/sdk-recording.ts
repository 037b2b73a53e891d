/** Telemetry of the official OpenTelemetry SDK, sent by its own exporters and kept as the SDK recorded it. */
import {
  context,
  createTraceState,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  ValueType,
  type Context,
} from '@opentelemetry/api';
import { SeverityNumber } from '@opentelemetry/api-logs';
import { type ChannelCredentials, Metadata } from '@grpc/grpc-js';
import { OTLPLogExporter as GrpcLogs } from '@opentelemetry/exporter-logs-otlp-grpc';
import { OTLPLogExporter as JsonLogs } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufLogs } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter as GrpcMetrics } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as JsonMetrics } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufMetrics } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as GrpcTraces } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufTraces } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider, type ReadableLogRecord } from '@opentelemetry/sdk-logs';
import {
  AggregationType,
  MeterProvider,
  PeriodicExportingMetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, NodeTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-node';

export interface Transport {
  readonly format: 'protobuf' | 'json' | 'grpc';
  readonly compression: 'gzip' | 'none';
  /** For gRPC over TLS. */
  readonly credentials?: ChannelCredentials;
}

/** The records that the SDK passed to its exporters, and the errors of the exporters. */
export interface Recording {
  readonly spans: readonly ReadableSpan[];
  readonly logs: readonly ReadableLogRecord[];
  readonly metrics: readonly ResourceMetrics[];
  readonly failures: readonly unknown[];
}

interface Exporter<T> {
  export(items: T, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

/** Records the calls of an exporter and their results without changing it. */
function watch<T, E extends Exporter<T>>(exporter: E, note: (items: T) => void, failures: unknown[]): E {
  const original = exporter.export.bind(exporter);
  exporter.export = (items, done) => {
    note(items);
    original(items, (result) => {
      if (result.code !== 0) failures.push(result.error ?? result.code);
      done(result);
    });
  };
  return exporter;
}

/** Records some telemetry of every kind, and resolves when all of it is sent. */
export async function recordTelemetry(
  url: string,
  key: string,
  transport: Transport,
  service: string,
): Promise<Recording> {
  const recording = { spans: [], logs: [], metrics: [], failures: [] };
  const { tracing, logging, metering } = openProviders(exportersFor(url, key, transport), service, recording);
  const inside = recordSpans(tracing);
  recordLogs(logging, inside);
  recordMetrics(metering);
  // Each flushes at its shutdown. The metric reader rejects when its export fails; `failures` has that error as well.
  await Promise.allSettled([tracing, logging, metering].map((provider) => provider.shutdown()));
  return recording;
}

function exportersFor(url: string, key: string, { format, compression, credentials }: Transport) {
  if (format === 'grpc') {
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${key}`);
    const secure = credentials === undefined ? {} : { credentials };
    const config = { url, metadata, compression: compression as never, ...secure };
    return { traces: new GrpcTraces(config), logs: new GrpcLogs(config), metrics: new GrpcMetrics(config) };
  }
  const config = (path: string) => ({
    url: `${url}${path}`,
    headers: { Authorization: `Bearer ${key}` },
    // The SDK's enum is in a package that is not a dependency.
    compression: compression as never,
  });
  const isJson = format === 'json';
  return {
    traces: new (isJson ? JsonTraces : ProtobufTraces)(config('/v1/traces')),
    logs: new (isJson ? JsonLogs : ProtobufLogs)(config('/v1/logs')),
    metrics: new (isJson ? JsonMetrics : ProtobufMetrics)(config('/v1/metrics')),
  };
}

interface OpenRecording {
  readonly spans: ReadableSpan[];
  readonly logs: ReadableLogRecord[];
  readonly metrics: ResourceMetrics[];
  readonly failures: unknown[];
}

function openProviders(exporters: ReturnType<typeof exportersFor>, service: string, recording: OpenRecording) {
  const { failures } = recording;
  const traces = watch(exporters.traces, (batch: ReadableSpan[]) => recording.spans.push(...batch), failures);
  const logs = watch(exporters.logs, (batch: ReadableLogRecord[]) => recording.logs.push(...batch), failures);
  const metrics = watch(exporters.metrics, (batch: ResourceMetrics) => recording.metrics.push(batch), failures);
  const resource = resourceFromAttributes({
    'service.name': service,
    'deployment.environment.name': 'Staging ',
    'process.pid': 4711,
    tags: ['a', 'b'],
  });
  const spanProcessors = [new BatchSpanProcessor(traces)];
  return {
    tracing: new NodeTracerProvider({ resource, spanLimits: { eventCountLimit: 2 }, spanProcessors }),
    logging: new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter: logs })] }),
    metering: new MeterProvider({
      resource,
      views: [{ instrumentName: 'size', aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM } }],
      readers: [new PeriodicExportingMetricReader({ exporter: metrics })],
    }),
  };
}

/** Returns the context of one of its spans. */
function recordSpans(provider: NodeTracerProvider): Context {
  const tracer = provider.getTracer('test-tracer', '1.2.3');
  const remote = trace.setSpanContext(context.active(), {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
    traceState: createTraceState('vendor=opaque'),
  });
  const stranger = tracer.startSpan('below a remote parent', { kind: SpanKind.SERVER }, remote);
  stranger.end();
  const root = tracer.startSpan('chat gpt-5', {
    kind: SpanKind.CLIENT,
    attributes: {
      'gen_ai.request.model': 'gpt-5',
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.request.temperature': 0.7,
      'gen_ai.request.stream': true,
      'gen_ai.response.finish_reasons': ['stop', 'length'],
      numbers: [1, 2, 3],
      text: 'naïve ☃ 🎿 "quoted" \\ \n',
      negative: -9007199254740991,
    },
    links: [{ context: stranger.spanContext(), attributes: { why: 'batch' } }],
  });
  const inside = trace.setSpan(context.active(), root);
  const child = tracer.startSpan('fails', { attributes: { depth: 1 } }, inside);
  child.recordException(new RangeError('out of range'));
  child.addEvent('retry', { attempt: 2 });
  child.addEvent('retry', { attempt: 3 });
  child.setStatus({ code: SpanStatusCode.ERROR, message: 'gave up' });
  child.end();
  root.setStatus({ code: SpanStatusCode.OK });
  root.end();
  return inside;
}

function recordLogs(provider: LoggerProvider, inside: Context): void {
  const logger = provider.getLogger('test-logger', '4.5.6');
  logger.emit({
    context: inside,
    severityNumber: SeverityNumber.WARN,
    severityText: 'WARN',
    body: { message: 'slow', nested: { list: [1, 2.5, 'x', true, null] }, bytes: new Uint8Array([0, 1, 254, 255]) },
    attributes: { attempt: 1, nested: { deep: ['a', { b: 1 }] } },
  });
  logger.emit({ eventName: 'gen_ai.user.message', body: 'plain text', timestamp: 1_763_720_000_123 });
  logger.emit({ severityNumber: SeverityNumber.FATAL4 });
}

function recordMetrics(provider: MeterProvider): void {
  const meter = provider.getMeter('test-meter', '7.8.9');
  const requests = meter.createCounter('requests', { description: 'How many', unit: '1', valueType: ValueType.INT });
  requests.add(3, { route: '/a' });
  requests.add(39, { route: '/b', ok: true });
  meter.createCounter('spent', { unit: 'USD' }).add(0.1);
  meter.createUpDownCounter('open', { valueType: ValueType.INT }).add(-2);
  meter.createGauge('temperature', { unit: 'Cel' }).record(21.5);
  meter.createObservableGauge('observed').addCallback((result) => result.observe(1e-7, { at: 'callback' }));
  const latency = meter.createHistogram('latency', { unit: 'ms', advice: { explicitBucketBoundaries: [1, 10, 100] } });
  for (const value of [0.5, 5, 50, 500]) latency.record(value, { model: 'gpt-5' });
  const size = meter.createHistogram('size');
  for (const value of [0, 1, 2, 1024]) size.record(value);
}
