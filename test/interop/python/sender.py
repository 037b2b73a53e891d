"""Sends the scenario of ../scenario.ts with the OpenTelemetry SDK for Python, as the environment says, and prints its spans' ids."""
import os

from opentelemetry import trace
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

if os.environ["OTEL_EXPORTER_OTLP_PROTOCOL"] == "grpc":
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
else:
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

VERSION = "1.2.3"


def send_spans():
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("interop", VERSION)
    root = tracer.start_span(
        "chat gpt-5",
        kind=trace.SpanKind.CLIENT,
        start_time=1763720000123456789,
        attributes={
            "gen_ai.request.model": "gpt-5",
            "gen_ai.usage.input_tokens": 12,
            "gen_ai.request.temperature": 0.7,
            "gen_ai.request.stream": True,
            "gen_ai.response.finish_reasons": ["stop", "length"],
            "numbers": [1, 2, 3],
            "text": 'naïve ☃ 🎿 "quoted" \\ \n',
            "negative": -9007199254740991,
        },
    )
    inside = trace.set_span_in_context(root)
    child = tracer.start_span(
        "fails",
        context=inside,
        start_time=1763720000200000000,
        attributes={"depth": 1},
        links=[trace.Link(root.get_span_context(), {"why": "batch"})],
    )
    child.add_event("retry", {"attempt": 2}, timestamp=1763720000250000000)
    child.set_status(trace.StatusCode.ERROR, "gave up")
    child.end(1763720000300000000)
    root.set_status(trace.StatusCode.OK)
    root.end(1763720001987654321)
    provider.shutdown()
    own = root.get_span_context()
    print(f"{own.trace_id:032x} {own.span_id:016x} {child.get_span_context().span_id:016x}")
    return inside


def send_logs(inside):
    provider = LoggerProvider()
    provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    provider.get_logger("interop", VERSION).emit(
        LogRecord(
            timestamp=1763720000500000000,
            context=inside,
            severity_number=SeverityNumber.WARN,
            severity_text="WARN",
            event_name="gen_ai.user.message",
            body="plain text ☃",
            attributes={"attempt": 1},
        )
    )
    provider.shutdown()


def send_metrics():
    provider = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())])
    meter = provider.get_meter("interop", VERSION)
    requests = meter.create_counter("requests", unit="1", description="How many")
    requests.add(3, {"route": "/a"})
    requests.add(39, {"route": "/b"})
    meter.create_up_down_counter("open").add(-2)
    meter.create_gauge("temperature", unit="Cel").set(21.5)
    latency = meter.create_histogram("latency", unit="ms", explicit_bucket_boundaries_advisory=[1.0, 10.0, 100.0])
    for value in (0.5, 5.0, 50.0, 500.0):
        latency.record(value, {"model": "gpt-5"})
    provider.shutdown()


send_logs(send_spans())
send_metrics()
