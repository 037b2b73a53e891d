/**
 * Sends the scenario with the OpenTelemetry SDK for JavaScript, configured by the environment, and prints its span ids.
 */
import { context, type Context, SpanKind, SpanStatusCode, trace, ValueType } from '@opentelemetry/api';
import { SeverityNumber } from '@opentelemetry/api-logs';
import { OTLPLogExporter as GrpcLogs } from '@opentelemetry/exporter-logs-otlp-grpc';
import { OTLPLogExporter as JsonLogs } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufLogs } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter as GrpcMetrics } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as JsonMetrics } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufMetrics } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as GrpcTraces } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufTraces } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

const EXPORTERS = {
  'http/json': { Traces: JsonTraces, Logs: JsonLogs, Metrics: JsonMetrics },
  'http/protobuf': { Traces: ProtobufTraces, Logs: ProtobufLogs, Metrics: ProtobufMetrics },
  grpc: { Traces: GrpcTraces, Logs: GrpcLogs, Metrics: GrpcMetrics },
};
const VERSION = '1.2.3';
const SECOND = 1763720000;

const { Traces, Logs, Metrics } =
  EXPORTERS[process.env['OTEL_EXPORTER_OTLP_PROTOCOL'] as keyof typeof EXPORTERS] ?? EXPORTERS['http/protobuf'];
const resource = defaultResource().merge(detectResources({ detectors: [envDetector] }));

async function sendSpans(): Promise<Context> {
  const provider = new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(new Traces())] });
  const tracer = provider.getTracer('interop', VERSION);
  const root = tracer.startSpan('chat gpt-5', {
    kind: SpanKind.CLIENT,
    startTime: [SECOND, 123456789],
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
  });
  const inside = trace.setSpan(context.active(), root);
  const own = root.spanContext();
  const child = tracer.startSpan(
    'fails',
    {
      startTime: [SECOND, 200000000],
      attributes: { depth: 1 },
      links: [{ context: own, attributes: { why: 'batch' } }],
    },
    inside,
  );
  child.addEvent('retry', { attempt: 2 }, [SECOND, 250000000]);
  child.setStatus({ code: SpanStatusCode.ERROR, message: 'gave up' });
  child.end([SECOND, 300000000]);
  root.setStatus({ code: SpanStatusCode.OK });
  root.end([SECOND + 1, 987654321]);
  await provider.shutdown();
  console.log(own.traceId, own.spanId, child.spanContext().spanId);
  return inside;
}

async function sendLogs(inside: Context): Promise<void> {
  const processors = [new BatchLogRecordProcessor({ exporter: new Logs() })];
  const provider = new LoggerProvider({ resource, processors });
  provider.getLogger('interop', VERSION).emit({
    context: inside,
    timestamp: [SECOND, 500000000],
    severityNumber: SeverityNumber.WARN,
    severityText: 'WARN',
    eventName: 'gen_ai.user.message',
    body: 'plain text ☃',
    attributes: { attempt: 1 },
  });
  await provider.shutdown();
}

async function sendMetrics(): Promise<void> {
  const readers = [new PeriodicExportingMetricReader({ exporter: new Metrics() })];
  const provider = new MeterProvider({ resource, readers });
  const meter = provider.getMeter('interop', VERSION);
  const requests = meter.createCounter('requests', { description: 'How many', unit: '1', valueType: ValueType.INT });
  requests.add(3, { route: '/a' });
  requests.add(39, { route: '/b' });
  meter.createUpDownCounter('open', { valueType: ValueType.INT }).add(-2);
  meter.createGauge('temperature', { unit: 'Cel' }).record(21.5);
  const latency = meter.createHistogram('latency', { unit: 'ms', advice: { explicitBucketBoundaries: [1, 10, 100] } });
  for (const value of [0.5, 5, 50, 500]) latency.record(value, { model: 'gpt-5' });
  await provider.shutdown();
}

await sendLogs(await sendSpans());
await sendMetrics();
