/** The span processor: batches spans for the exporter, and records the client metrics from them. */
import { type Context, diag, type MeterProvider, TraceFlags } from '@opentelemetry/api';
import type {
  PeriodicExportingMetricReader,
  MeterProvider as SdkMeterProvider,
  ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { ReadableSpan, Span, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace-node';
import { type BatchLimits, BatchQueue } from './batch-queue.ts';
import { type Remainder } from './blocking-send.ts';
import { type Clock, settledWithin, SYSTEM_CLOCK } from './clock.ts';
import { connectionOf } from './connection.ts';
import {
  EXPORT_TIMEOUT_MS,
  type MetricExporterOptions,
  SluiceMetricExporter,
  SluiceTraceExporter,
} from './exporters.ts';
import { DropReports } from './drop-reports.ts';
import { exportBatch } from './export-batch.ts';
import { sdkMetrics } from './peers.ts';
import { SpanMetrics } from './span-metrics.ts';

/** The contract's automatic metric interval (What the service does, client-side guidance). */
const METRIC_INTERVAL_MS = 60_000;
const METER_NAME = 'sluice/client';

export interface SpanProcessorOptions extends MetricExporterOptions, BatchLimits {
  /** Sends the spans in place of Sluice's own exporter. With it, the processor works without a key. */
  readonly exporter?: SpanExporter | undefined;
  /** Record `gen_ai.client.operation.duration` and `gen_ai.client.token.usage` from the spans. Default: true. */
  readonly spanMetrics?: boolean | undefined;
  /** Records these metrics. Default: a provider of its own, which sends them with the same key. */
  readonly meterProvider?: MeterProvider | undefined;
  /** The interval at which its own provider sends metrics, in milliseconds. Default: 60,000. */
  readonly metricIntervalMs?: number | undefined;
}

/**
 * Sends sampled spans in batches of 64, after 1,000 ms at the latest, from a queue of 2,048 spans. It does nothing
 * without a key or an exporter, and never throws into the application.
 */
export class SluiceSpanProcessor implements SpanProcessor {
  readonly #options: SpanProcessorOptions;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** A key is known, so that metrics can be sent. */
  readonly #canSend: boolean;
  readonly #exporter: SpanExporter | undefined;
  readonly #queue: BatchQueue<ReadableSpan> | undefined;
  #ownMeterProvider: SdkMeterProvider | undefined;
  #metrics: SpanMetrics | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SpanProcessorOptions = {}, clock: Clock = SYSTEM_CLOCK) {
    this.#options = options;
    this.#clock = clock;
    this.#timeoutMs = options.exportTimeoutMs ?? EXPORT_TIMEOUT_MS;
    this.#canSend = connectionOf(options) !== undefined;
    const exporter = options.exporter ?? (this.#canSend ? new SluiceTraceExporter(options, clock) : undefined);
    if (exporter === undefined) return;
    this.#exporter = exporter;
    const send = (batch: ReadableSpan[]): Promise<void> => exportBatch(exporter, batch, this.#timeoutMs, clock);
    this.#queue = new BatchQueue<ReadableSpan>({ items: 'spans', limits: options, clock, send });
  }

  /** The spans that were not stored, as far as this process knows. */
  get droppedSpans(): number {
    return this.#queue?.dropped ?? 0;
  }

  /** The spans that were taken into the queue. */
  get acceptedSpans(): number {
    return this.#queue?.accepted ?? 0;
  }

  onStart(_span: Span, _context: Context): void {
    // Everything is read at the end of a span.
  }

  onEnd(span: ReadableSpan): void {
    if (this.#queue === undefined) return;
    try {
      if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0) this.#queue.add(span);
      if (this.#closing === undefined && SpanMetrics.measures(span)) this.#metricsFor(span)?.record(span);
    } catch (error) {
      diag.error('sluice: a span was not recorded', error);
    }
  }

  /** Sends the spans that have ended and the metrics, within the export timeout. Resolves also after failures. */
  async forceFlush(): Promise<void> {
    const flushing = [
      this.#queue?.flush(),
      started(() => this.#exporter?.forceFlush?.()),
      this.#ownMeterProvider?.forceFlush(),
    ];
    await settledWithin(this.#clock, this.#timeoutMs, Promise.allSettled(flushing));
  }

  /**
   * Sends what is left within the limit, in milliseconds; the default is the export timeout. Spans that end during the
   * shutdown are sent too, later ones are dropped. Resolves also after failures.
   */
  shutdown(limitMs: number = this.#timeoutMs): Promise<void> {
    this.#closing ??= this.#close(this.#clock.monotonicMs() + limitMs);
    return this.#closing;
  }

  /** From here on only `forceFlush` and `shutdown` begin an export. */
  hold(): void {
    this.#queue?.hold();
  }

  /** Closes the queue and returns the requests for what waits in it. Empty with an exporter of the application. */
  takeRemainder(): Remainder | undefined {
    const { exporter } = this.#options;
    if (exporter !== undefined || !(this.#exporter instanceof SluiceTraceExporter)) return undefined;
    return this.#exporter.remainderOf(this.#queue?.takeRest() ?? []);
  }

  async #close(deadline: number): Promise<void> {
    const leftMs = (): number => Math.max(0, deadline - this.#clock.monotonicMs());
    const first = Promise.allSettled([this.#ownMeterProvider?.shutdown(), this.#queue?.flush()]);
    await settledWithin(this.#clock, leftMs(), first);
    await this.#queue?.shutdown(leftMs());
    await settledWithin(
      this.#clock,
      leftMs(),
      started(() => this.#exporter?.shutdown()),
    );
  }

  /** Made at the first span that is measured, because its resource is the metrics' resource. */
  #metricsFor({ resource }: ReadableSpan): SpanMetrics | undefined {
    const { spanMetrics, meterProvider } = this.#options;
    if (this.#metrics !== undefined || spanMetrics === false) return this.#metrics;
    if (meterProvider === undefined && !this.#canSend) return undefined;
    if (meterProvider === undefined) {
      const readers = [metricReader(this.#options, this.#clock)];
      this.#ownMeterProvider = new sdkMetrics.MeterProvider({ resource, readers });
    }
    const provider = meterProvider ?? this.#ownMeterProvider;
    this.#metrics = provider && new SpanMetrics(provider.getMeter(METER_NAME));
    return this.#metrics;
  }
}

/** Reports its failures itself. The SDK's reader would report each of them, with a stack trace. */
class ReportedMetrics extends SluiceMetricExporter {
  readonly #reports = new DropReports('metrics');

  override export(metrics: ResourceMetrics, done: (result: { readonly code: 0 }) => void): void {
    super.export(metrics, ({ error }) => {
      if (error !== undefined) this.#reports.failed(error);
      done({ code: 0 });
    });
  }
}

/** A reader that sends metrics to Sluice at the interval. */
export function metricReader(
  options: MetricExporterOptions & Pick<SpanProcessorOptions, 'metricIntervalMs'>,
  clock: Clock,
): PeriodicExportingMetricReader {
  const exportIntervalMillis = options.metricIntervalMs ?? METRIC_INTERVAL_MS;
  return new sdkMetrics.PeriodicExportingMetricReader({
    exporter: new ReportedMetrics(options, clock),
    exportIntervalMillis,
    // The SDK refuses a timeout above the interval.
    exportTimeoutMillis: Math.min(options.exportTimeoutMs ?? EXPORT_TIMEOUT_MS, exportIntervalMillis),
  });
}

/** An exporter of the application may throw where it should reject. */
async function started(task: () => Promise<void> | undefined): Promise<void> {
  await task();
}
