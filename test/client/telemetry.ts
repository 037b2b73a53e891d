/** Telemetry of the SDK for tests, and what was written to `diag`. */
import { type Attributes, diag, DiagLogLevel, type Meter, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  InMemoryLogRecordExporter,
  LoggerProvider,
  type ReadableLogRecord,
  SimpleLogRecordProcessor,
} from '@opentelemetry/sdk-logs';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';

const SERVICE = 'client-test';
const resource: Resource = resourceFromAttributes({ 'service.name': SERVICE });
/** So that no metric is sent by time. */
const LONG_MS = 2 ** 31 - 1;

export interface SpanShape {
  readonly name?: string;
  readonly attributes?: Attributes;
  readonly durationMs?: number;
  readonly failed?: boolean;
}

/** An ended span. */
export function aSpan({
  name = 'a span',
  attributes = {},
  durationMs = 250,
  failed = false,
}: SpanShape = {}): ReadableSpan {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ resource, spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const startTime = 1_763_720_000_000;
  const span = provider.getTracer('client-test').startSpan(name, { attributes, startTime });
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(startTime + durationMs);
  const [ended] = exporter.getFinishedSpans();
  if (ended === undefined) throw new Error('the span did not end');
  return ended;
}

export function someSpans(count: number, prefix = 'span'): ReadableSpan[] {
  return Array.from({ length: count }, (_, index) => aSpan({ name: `${prefix} ${index}` }));
}

export function unsampled(span: ReadableSpan): ReadableSpan {
  return Object.assign(Object.create(span) as ReadableSpan, {
    spanContext: () => ({ ...span.spanContext(), traceFlags: TraceFlags.NONE }),
  });
}

export function aLogRecord(body: string): ReadableLogRecord {
  const exporter = new InMemoryLogRecordExporter();
  const provider = new LoggerProvider({ resource, processors: [new SimpleLogRecordProcessor({ exporter })] });
  provider.getLogger('client-test').emit({ body });
  const [record] = exporter.getFinishedLogRecords();
  if (record === undefined) throw new Error('the log record was not emitted');
  return record;
}

/** A meter provider and what it has collected. */
export function openMeter(temporality = AggregationTemporality.CUMULATIVE): {
  readonly provider: MeterProvider;
  readonly meter: Meter;
  collect(): Promise<ResourceMetrics>;
} {
  const exporter = new InMemoryMetricExporter(temporality);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: LONG_MS });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return {
    provider,
    meter: provider.getMeter('client-test'),
    collect: async () => (await reader.collect()).resourceMetrics,
  };
}

/** The messages of `diag` from here to the end of the test, as `warn: text`. */
export function watchDiag(t: { teardown(task: () => void): unknown }): readonly string[] {
  const messages: string[] = [];
  const at = (level: string) => (text: string) => void messages.push(`${level}: ${text}`);
  const logger = { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug'), verbose: at('verbose') };
  diag.setLogger(logger, { logLevel: DiagLogLevel.INFO, suppressOverrideMessage: true });
  t.teardown(() => diag.disable());
  return messages;
}
