/** The exporters of the three signals, for any provider of the OpenTelemetry SDK. */
import type { ReadableLogRecord, LogRecordExporter } from '@opentelemetry/sdk-logs';
import type {
  AggregationTemporality,
  InstrumentType,
  PushMetricExporter,
  ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';
import { type Remainder } from './blocking-send.ts';
import { type Clock, SYSTEM_CLOCK } from './clock.ts';
import { type ConnectionOptions, connectionOf } from './connection.ts';
import { sdkMetrics, transformer } from './peers.ts';
import { type Compression, type Done, Sender, type SenderOptions } from './sender.ts';

/** The contract's export timeout (What the service does, client-side guidance). */
export const EXPORT_TIMEOUT_MS = 30_000;

export interface ExporterOptions extends ConnectionOptions {
  /** How bodies are compressed. Default: `gzip`. */
  readonly compression?: Compression | undefined;
  /**
   * The time for one export with all its attempts, for a flush and for a shutdown, in milliseconds. Default: 30,000.
   */
  readonly exportTimeoutMs?: number | undefined;
}

export interface MetricExporterOptions extends ExporterOptions {
  /**
   * `delta` reports counters and histograms as the change since the last export. Such batches are sent once, because a
   * duplicate would count twice. Default: `cumulative`, which is sent again like traces.
   */
  readonly temporality?: 'cumulative' | 'delta' | undefined;
}

function senderOf<T>(
  signal: SenderOptions<T>['signal'],
  options: ExporterOptions,
  clock: Clock,
  serialize: SenderOptions<T>['serialize'],
): Sender<T> {
  return new Sender<T>({
    signal,
    connection: connectionOf(options),
    compression: options.compression ?? 'gzip',
    timeoutMs: options.exportTimeoutMs ?? EXPORT_TIMEOUT_MS,
    clock,
    serialize,
  });
}

/** Sends records in batches, each in at most three attempts. Without a key every export fails. */
class RecordExporter<T> {
  readonly #sender: Sender<T>;

  constructor(sender: Sender<T>) {
    this.#sender = sender;
  }

  export(records: T[], done: Done): void {
    this.#sender.export(records, done);
  }

  /** The requests for the batches, for the end of a process. */
  remainderOf(batches: readonly (readonly T[])[]): Remainder | undefined {
    return this.#sender.remainderOf(batches);
  }

  forceFlush(): Promise<void> {
    return this.#sender.flush();
  }

  shutdown(): Promise<void> {
    return this.#sender.shutdown();
  }
}

/** Sends spans to `/v1/traces`. */
export class SluiceTraceExporter extends RecordExporter<ReadableSpan> implements SpanExporter {
  constructor(options: ExporterOptions = {}, clock: Clock = SYSTEM_CLOCK) {
    const { ProtobufTraceSerializer } = transformer;
    super(senderOf('traces', options, clock, (spans) => ProtobufTraceSerializer.serializeRequest([...spans])));
  }
}

/** Sends log records to `/v1/logs`. */
export class SluiceLogExporter extends RecordExporter<ReadableLogRecord> implements LogRecordExporter {
  constructor(options: ExporterOptions = {}, clock: Clock = SYSTEM_CLOCK) {
    const { ProtobufLogsSerializer } = transformer;
    super(senderOf('logs', options, clock, (logs) => ProtobufLogsSerializer.serializeRequest([...logs])));
  }
}

/**
 * Sends metrics to `/v1/metrics`. A batch with a DELTA sum or histogram is sent once (Errors, rule 5); others in at
 * most three attempts. Without a key every export fails.
 */
export class SluiceMetricExporter implements PushMetricExporter {
  readonly #sender: Sender<ResourceMetrics>;
  readonly #temporality: 'cumulative' | 'delta';

  constructor(options: MetricExporterOptions = {}, clock: Clock = SYSTEM_CLOCK) {
    const { ProtobufMetricsSerializer } = transformer;
    // A batch is one resource with all its metrics.
    this.#sender = senderOf(
      'metrics',
      options,
      clock,
      ([batch]) => batch && ProtobufMetricsSerializer.serializeRequest(batch),
    );
    this.#temporality = options.temporality ?? 'cumulative';
  }

  export(metrics: ResourceMetrics, done: Done): void {
    const all = metrics.scopeMetrics.flatMap((scope) => scope.metrics);
    const isEmpty = all.every(({ dataPoints }) => dataPoints.length === 0);
    this.#sender.export(isEmpty ? [] : [metrics], done, !hasDelta(metrics));
  }

  /** Up-down counters are cumulative always, as the SDK's own exporters have it. */
  selectAggregationTemporality(instrument: InstrumentType): AggregationTemporality {
    const { AggregationTemporality, InstrumentType } = sdkMetrics;
    const isUpDown =
      instrument === InstrumentType.UP_DOWN_COUNTER || instrument === InstrumentType.OBSERVABLE_UP_DOWN_COUNTER;
    return this.#temporality === 'delta' && !isUpDown
      ? AggregationTemporality.DELTA
      : AggregationTemporality.CUMULATIVE;
  }

  forceFlush(): Promise<void> {
    return this.#sender.flush();
  }

  shutdown(): Promise<void> {
    return this.#sender.shutdown();
  }
}

/** A gauge has no temporality in OTLP, so its value here does not count. */
function hasDelta({ scopeMetrics }: ResourceMetrics): boolean {
  const { AggregationTemporality, DataPointType } = sdkMetrics;
  return scopeMetrics
    .flatMap(({ metrics }) => metrics)
    .some(
      ({ aggregationTemporality, dataPointType }) =>
        aggregationTemporality === AggregationTemporality.DELTA && dataPointType !== DataPointType.GAUGE,
    );
}
