/** The log record processor of `setup`: the same batches and limits as for spans. */
import type { LogRecordProcessor, ReadableLogRecord } from '@opentelemetry/sdk-logs';
import { type BatchLimits, BatchQueue } from './batch-queue.ts';
import { type Remainder } from './blocking-send.ts';
import { type Clock } from './clock.ts';
import { exportBatch } from './export-batch.ts';
import { EXPORT_TIMEOUT_MS, type SluiceLogExporter } from './exporters.ts';

export class BatchedLogs implements LogRecordProcessor {
  readonly #exporter: SluiceLogExporter;
  readonly #queue: BatchQueue<ReadableLogRecord>;

  constructor(exporter: SluiceLogExporter, limits: BatchLimits, clock: Clock, timeoutMs: number = EXPORT_TIMEOUT_MS) {
    this.#exporter = exporter;
    const send = (batch: ReadableLogRecord[]): Promise<void> => exportBatch(exporter, batch, timeoutMs, clock);
    this.#queue = new BatchQueue<ReadableLogRecord>({ items: 'log records', limits, clock, send });
  }

  /** The log records that were taken into the queue. */
  get accepted(): number {
    return this.#queue.accepted;
  }

  onEmit(record: ReadableLogRecord): void {
    this.#queue.add(record);
  }

  forceFlush(): Promise<void> {
    return this.#queue.flush();
  }

  hold(): void {
    this.#queue.hold();
  }

  /** Closes the queue and returns the requests for what waits in it. */
  takeRemainder(): Remainder | undefined {
    return this.#exporter.remainderOf(this.#queue.takeRest());
  }

  /** Within the limit, in milliseconds. */
  async shutdown(limitMs: number = EXPORT_TIMEOUT_MS): Promise<void> {
    await this.#queue.shutdown(limitMs);
    await this.#exporter.shutdown();
  }
}
