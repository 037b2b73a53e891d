/** One call sets up traces, logs and metrics of a process. */
import { type Attributes, context, diag, metrics, propagation, ProxyTracerProvider, trace } from '@opentelemetry/api';
import type { LoggerProvider } from '@opentelemetry/sdk-logs';
import type { MeterProvider } from '@opentelemetry/sdk-metrics';
import type { Resource } from '@opentelemetry/resources';
import type { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { sendBlocking } from './blocking-send.ts';
import { settledWithin, SYSTEM_CLOCK } from './clock.ts';
import { findConnection } from './connection.ts';
import { showWarnings } from './diagnostics.ts';
import { EXPORT_TIMEOUT_MS, SluiceLogExporter } from './exporters.ts';
import { BatchedLogs } from './log-processor.ts';
import { apiLogs, resources, sdkLogs, sdkMetrics, sdkTrace } from './peers.ts';
import { sendAtEnd } from './process-end.ts';
import { metricReader, SluiceSpanProcessor, type SpanProcessorOptions } from './span-processor.ts';

/** The time for what a process records while it sends its last telemetry. */
const BLOCKING_LIMIT_MS = 5000;

export interface SetupOptions extends Omit<SpanProcessorOptions, 'meterProvider'> {
  /** `service.name`. Default: `OTEL_SERVICE_NAME`, or `OTEL_RESOURCE_ATTRIBUTES`. */
  readonly service?: string | undefined;
  /** `deployment.environment.name`. Default: `OTEL_RESOURCE_ATTRIBUTES`; without it the server says `default`. */
  readonly environment?: string | undefined;
  /** Further attributes of the resource. */
  readonly attributes?: Attributes | undefined;
  /** Send what is left at SIGTERM, at SIGINT and when the process has nothing more to do. Default: true. */
  readonly sendAtEnd?: boolean | undefined;
}

export interface Client {
  /** The spans that were not stored, as far as this process knows. */
  readonly droppedSpans: number;
  /** Sends what was recorded so far, within the export timeout. Never rejects. */
  flush(): Promise<void>;
  /** Sends the rest within the export timeout and ends the telemetry of the process. Never rejects. */
  shutdown(): Promise<void>;
}

/** The client of this process: the providers it registers are global too. */
const current: { client: Client | undefined } = { client: undefined };

/**
 * Registers providers for traces, logs and metrics that send to Sluice. Without a key (and without an `exporter`) it
 * registers nothing. A second call returns the client of the first one.
 */
export function setup(options: SetupOptions = {}): Client {
  showWarnings();
  if (current.client !== undefined) {
    diag.warn('sluice: setup() was called before; its first call holds until shutdown()');
    return current.client;
  }
  const found = findConnection(options);
  if ('problem' in found && options.exporter === undefined) {
    diag.warn(`sluice: nothing is sent: ${found.problem}`);
    return INERT;
  }
  const client = new Telemetry(options);
  current.client = client;
  return client;
}

/** Sends what the client of this process has recorded. Never rejects. */
export async function flush(): Promise<void> {
  await current.client?.flush();
}

/** Shuts down the client of this process. Never rejects. */
export async function shutdown(): Promise<void> {
  await current.client?.shutdown();
}

const INERT: Client = { droppedSpans: 0, flush: () => Promise.resolve(), shutdown: () => Promise.resolve() };

/** What one call of `setup` has made. */
class Telemetry implements Client {
  readonly #spans: SluiceSpanProcessor;
  readonly #tracing: NodeTracerProvider;
  readonly #logging: LoggerProvider;
  readonly #metering: MeterProvider;
  readonly #logs: BatchedLogs | undefined;
  readonly #timeoutMs: number;
  readonly #removeListeners: () => void;
  #closing: Promise<void> | undefined;

  constructor(options: SetupOptions) {
    const resource = resourceOf(options);
    const hasKey = !('problem' in findConnection(options));
    this.#timeoutMs = options.exportTimeoutMs ?? EXPORT_TIMEOUT_MS;
    const readers = hasKey ? [metricReader(options, SYSTEM_CLOCK)] : [];
    this.#metering = new sdkMetrics.MeterProvider({ resource, readers });
    this.#spans = new SluiceSpanProcessor({ ...options, meterProvider: this.#metering });
    this.#tracing = new sdkTrace.NodeTracerProvider({ resource, spanProcessors: [this.#spans] });
    this.#logs = hasKey
      ? new BatchedLogs(new SluiceLogExporter(options), options, SYSTEM_CLOCK, this.#timeoutMs)
      : undefined;
    this.#logging = new sdkLogs.LoggerProvider({ resource, processors: this.#logs === undefined ? [] : [this.#logs] });
    this.#register();
    const recorded = (): number => this.#spans.acceptedSpans + (this.#logs?.accepted ?? 0);
    this.#removeListeners =
      options.sendAtEnd === false
        ? () => undefined
        : sendAtEnd({ flush: () => this.flush(), sendAll: () => this.#sendAll(), recorded });
  }

  get droppedSpans(): number {
    return this.#spans.droppedSpans;
  }

  async flush(): Promise<void> {
    const flushing = [this.#spans.forceFlush(), this.#logs?.forceFlush(), this.#metering.forceFlush()];
    await settledWithin(SYSTEM_CLOCK, this.#timeoutMs, Promise.allSettled(flushing));
  }

  shutdown(): Promise<void> {
    this.#closing ??= this.#close(SYSTEM_CLOCK.monotonicMs() + this.#timeoutMs);
    return this.#closing;
  }

  /** The queues are closed last, so that what ends meanwhile is sent too. */
  async #close(deadline: number): Promise<void> {
    const leftMs = (): number => Math.max(0, deadline - SYSTEM_CLOCK.monotonicMs());
    const first = [this.#metering.shutdown(), this.#spans.forceFlush(), this.#logs?.forceFlush()];
    await settledWithin(SYSTEM_CLOCK, leftMs(), Promise.allSettled(first));
    const last = [this.#logs?.shutdown(leftMs()), this.#spans.shutdown(leftMs())];
    await settledWithin(SYSTEM_CLOCK, leftMs(), Promise.allSettled(last));
    this.#removeListeners();
    this.#unregister();
    if (current.client === this) current.client = undefined;
  }

  /**
   * For a signal: sends what was recorded before it, then blocks the process and sends what was recorded since. Without
   * the block, a busy process would always have recorded something more.
   */
  async #sendAll(): Promise<void> {
    this.#spans.hold();
    this.#logs?.hold();
    const first = [this.#metering.shutdown(), this.#spans.forceFlush(), this.#logs?.forceFlush()];
    await settledWithin(SYSTEM_CLOCK, this.#timeoutMs, Promise.allSettled(first));
    try {
      const remainders = [this.#spans.takeRemainder(), this.#logs?.takeRemainder()].filter(
        (each) => each !== undefined,
      );
      if (remainders.length === 0 || sendBlocking(remainders, BLOCKING_LIMIT_MS)) return;
      diag.warn('sluice: the last spans and log records were not sent: the server did not store them in time');
    } catch (error) {
      diag.error('sluice: the last spans and log records were not sent', error);
    }
  }

  #register(): void {
    this.#tracing.register();
    metrics.setGlobalMeterProvider(this.#metering);
    apiLogs.logs.setGlobalLoggerProvider(this.#logging);
    if (this.#isRegistered()) return;
    diag.error('sluice: another tracer provider is registered; add `new SluiceSpanProcessor()` to its span processors');
  }

  #isRegistered(): boolean {
    const registered = trace.getTracerProvider();
    return registered instanceof ProxyTracerProvider && registered.getDelegate() === this.#tracing;
  }

  #unregister(): void {
    if (this.#isRegistered()) {
      trace.disable();
      context.disable();
      propagation.disable();
    }
    if (metrics.getMeterProvider() === this.#metering) metrics.disable();
    apiLogs.logs.disable();
  }
}

function resourceOf({ service, environment, attributes }: SetupOptions): Resource {
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources;
  const named = {
    ...(service === undefined ? {} : { 'service.name': service }),
    ...(environment === undefined ? {} : { 'deployment.environment.name': environment }),
  };
  return defaultResource()
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes({ ...attributes, ...named }));
}
