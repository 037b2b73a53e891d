/** The log record processor of `setup`: the same batches and limits as for spans. */
import type { LogRecordExporter, LogRecordProcessor, ReadableLogRecord } from '@opentelemetry/sdk-logs';
import { type BatchLimits, BatchQueue } from './batch-queue.ts';
import { type Clock } from './clock.ts';
import { EXPORT_TIMEOUT_MS } from './exporters.ts';

export class BatchedLogs implements LogRecordProcessor {
  readonly #exporter: LogRecordExporter;
  readonly #queue: BatchQueue<ReadableLogRecord>;

  constructor(exporter: LogRecordExporter, limits: BatchLimits, clock: Clock) {
    this.#exporter = exporter;
    const send = (batch: ReadableLogRecord[]): Promise<void> =>
      new Promise((resolve, reject) =>
        exporter.export(batch, ({ code, error }) =>
          code === 0 ? resolve() : reject(error ?? new Error('export failed')),
        ),
      );
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

  /** Within the limit, in milliseconds. */
  async shutdown(limitMs: number = EXPORT_TIMEOUT_MS): Promise<void> {
    await this.#queue.shutdown(limitMs);
    await this.#exporter.shutdown();
  }
}
