// Sends the scenario of ../scenario.ts with the OpenTelemetry SDK for Go, as the environment says, and prints the ids of its spans.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const version = "1.2.3"

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func check(err error) { must(0, err) }

func at(nanos int64) time.Time { return time.Unix(0, nanos) }

func main() {
	ctx := context.Background()
	grpc := os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL") == "grpc"
	inside := sendSpans(ctx, grpc)
	sendLogs(ctx, inside, grpc)
	sendMetrics(ctx, grpc)
}

func sendSpans(ctx context.Context, grpc bool) context.Context {
	var exporter sdktrace.SpanExporter
	if grpc {
		exporter = must(otlptracegrpc.New(ctx))
	} else {
		exporter = must(otlptracehttp.New(ctx))
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
	tracer := provider.Tracer("interop", trace.WithInstrumentationVersion(version))
	inside, root := tracer.Start(ctx, "chat gpt-5", trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(at(1763720000123456789)), trace.WithAttributes(
			attribute.String("gen_ai.request.model", "gpt-5"),
			attribute.Int("gen_ai.usage.input_tokens", 12),
			attribute.Float64("gen_ai.request.temperature", 0.7),
			attribute.Bool("gen_ai.request.stream", true),
			attribute.StringSlice("gen_ai.response.finish_reasons", []string{"stop", "length"}),
			attribute.IntSlice("numbers", []int{1, 2, 3}),
			attribute.String("text", "naïve ☃ 🎿 \"quoted\" \\ \n"),
			attribute.Int64("negative", -9007199254740991)))
	link := trace.Link{SpanContext: root.SpanContext(), Attributes: []attribute.KeyValue{attribute.String("why", "batch")}}
	_, child := tracer.Start(inside, "fails", trace.WithTimestamp(at(1763720000200000000)), trace.WithLinks(link),
		trace.WithAttributes(attribute.Int("depth", 1)))
	child.AddEvent("retry", trace.WithTimestamp(at(1763720000250000000)), trace.WithAttributes(attribute.Int("attempt", 2)))
	child.SetStatus(codes.Error, "gave up")
	child.End(trace.WithTimestamp(at(1763720000300000000)))
	root.SetStatus(codes.Ok, "")
	root.End(trace.WithTimestamp(at(1763720001987654321)))
	check(provider.Shutdown(ctx))
	own := root.SpanContext()
	fmt.Println(strings.Join([]string{own.TraceID().String(), own.SpanID().String(), child.SpanContext().SpanID().String()}, " "))
	return inside
}

func sendLogs(ctx context.Context, inside context.Context, grpc bool) {
	var exporter sdklog.Exporter
	if grpc {
		exporter = must(otlploggrpc.New(ctx))
	} else {
		exporter = must(otlploghttp.New(ctx))
	}
	provider := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter)))
	var record log.Record
	record.SetTimestamp(at(1763720000500000000))
	record.SetSeverity(log.SeverityWarn)
	record.SetSeverityText("WARN")
	record.SetEventName("gen_ai.user.message")
	record.SetBody(attribute.StringValue("plain text ☃"))
	record.AddAttributes(attribute.Int("attempt", 1))
	provider.Logger("interop", log.WithInstrumentationVersion(version)).Emit(inside, record)
	check(provider.Shutdown(ctx))
}

func sendMetrics(ctx context.Context, grpc bool) {
	var exporter sdkmetric.Exporter
	if grpc {
		exporter = must(otlpmetricgrpc.New(ctx))
	} else {
		exporter = must(otlpmetrichttp.New(ctx))
	}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
	meter := provider.Meter("interop", metric.WithInstrumentationVersion(version))
	requests := must(meter.Int64Counter("requests", metric.WithDescription("How many"), metric.WithUnit("1")))
	requests.Add(ctx, 3, metric.WithAttributes(attribute.String("route", "/a")))
	requests.Add(ctx, 39, metric.WithAttributes(attribute.String("route", "/b")))
	must(meter.Int64UpDownCounter("open")).Add(ctx, -2)
	must(meter.Float64Gauge("temperature", metric.WithUnit("Cel"))).Record(ctx, 21.5)
	latency := must(meter.Float64Histogram("latency", metric.WithUnit("ms"), metric.WithExplicitBucketBoundaries(1, 10, 100)))
	for _, value := range []float64{0.5, 5, 50, 500} {
		latency.Record(ctx, value, metric.WithAttributes(attribute.String("model", "gpt-5")))
	}
	check(provider.Shutdown(ctx))
}
