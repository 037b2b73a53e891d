// Sends the scenario of ../scenario.ts with the OpenTelemetry SDK for Java, as the environment says, and prints the ids of its spans.
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import java.util.List;

public final class Sender {
  private static final String VERSION = "1.2.3";

  public static void main(String[] arguments) {
    OpenTelemetrySdk sdk = AutoConfiguredOpenTelemetrySdk.initialize().getOpenTelemetrySdk();
    Context inside = recordSpans(sdk);
    recordLog(sdk, inside);
    recordMetrics(sdk);
    sdk.getSdkTracerProvider().forceFlush().join(20, SECONDS);
    sdk.getSdkLoggerProvider().forceFlush().join(20, SECONDS);
    sdk.getSdkMeterProvider().forceFlush().join(20, SECONDS);
    // An orderly end would export the metrics once more.
    Runtime.getRuntime().halt(0);
  }

  private static Context recordSpans(OpenTelemetrySdk sdk) {
    Tracer tracer = sdk.getTracerProvider().tracerBuilder("interop").setInstrumentationVersion(VERSION).build();
    Span root = tracer.spanBuilder("chat gpt-5").setSpanKind(SpanKind.CLIENT).setNoParent()
        .setStartTimestamp(1763720000123456789L, NANOSECONDS)
        .setAttribute("gen_ai.request.model", "gpt-5")
        .setAttribute("gen_ai.usage.input_tokens", 12)
        .setAttribute("gen_ai.request.temperature", 0.7)
        .setAttribute("gen_ai.request.stream", true)
        .setAttribute(AttributeKey.stringArrayKey("gen_ai.response.finish_reasons"), List.of("stop", "length"))
        .setAttribute(AttributeKey.longArrayKey("numbers"), List.of(1L, 2L, 3L))
        .setAttribute("text", "naïve ☃ 🎿 \"quoted\" \\ \n")
        .setAttribute("negative", -9007199254740991L)
        .startSpan();
    Context inside = Context.root().with(root);
    Span child = tracer.spanBuilder("fails").setParent(inside)
        .setStartTimestamp(1763720000200000000L, NANOSECONDS)
        .addLink(root.getSpanContext(), Attributes.of(AttributeKey.stringKey("why"), "batch"))
        .setAttribute("depth", 1)
        .startSpan();
    child.addEvent("retry", Attributes.of(AttributeKey.longKey("attempt"), 2L), 1763720000250000000L, NANOSECONDS);
    child.setStatus(StatusCode.ERROR, "gave up");
    child.end(1763720000300000000L, NANOSECONDS);
    root.setStatus(StatusCode.OK);
    root.end(1763720001987654321L, NANOSECONDS);
    System.out.println(String.join(" ", root.getSpanContext().getTraceId(), root.getSpanContext().getSpanId(),
        child.getSpanContext().getSpanId()));
    return inside;
  }

  private static void recordLog(OpenTelemetrySdk sdk, Context inside) {
    sdk.getSdkLoggerProvider().loggerBuilder("interop").setInstrumentationVersion(VERSION).build().logRecordBuilder()
        .setContext(inside)
        .setTimestamp(1763720000500000000L, NANOSECONDS)
        .setSeverity(Severity.WARN)
        .setSeverityText("WARN")
        .setEventName("gen_ai.user.message")
        .setBody("plain text ☃")
        .setAttribute(AttributeKey.longKey("attempt"), 1L)
        .emit();
  }

  private static void recordMetrics(OpenTelemetrySdk sdk) {
    Meter meter = sdk.getSdkMeterProvider().meterBuilder("interop").setInstrumentationVersion(VERSION).build();
    var requests = meter.counterBuilder("requests").setDescription("How many").setUnit("1").build();
    requests.add(3, Attributes.of(AttributeKey.stringKey("route"), "/a"));
    requests.add(39, Attributes.of(AttributeKey.stringKey("route"), "/b"));
    meter.upDownCounterBuilder("open").build().add(-2);
    meter.gaugeBuilder("temperature").setUnit("Cel").build().set(21.5);
    var latency = meter.histogramBuilder("latency").setUnit("ms")
        .setExplicitBucketBoundariesAdvice(List.of(1.0, 10.0, 100.0)).build();
    for (double value : new double[] {0.5, 5, 50, 500}) {
      latency.record(value, Attributes.of(AttributeKey.stringKey("model"), "gpt-5"));
    }
  }
}
