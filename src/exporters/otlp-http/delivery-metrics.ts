/** The counters of the exporter, with the Collector's names where they exist, each labelled with the exporter's id. */
import type { Counter, Meter } from '../../component/meter.ts';
import type { Dropped, WaitingEntry } from '../../component/capabilities/outbox.ts';
import { SIGNALS, type Signal } from '../../pdata/context.ts';
import type { DeliveryEvents } from './delivery.ts';

const UNITS: Readonly<Record<Signal, string>> = { traces: 'spans', logs: 'log_records', metrics: 'metric_points' };

type BySignal = Readonly<Record<Signal, Counter>>;

export class DeliveryMetrics implements DeliveryEvents {
  readonly #labels: Readonly<Record<string, string>>;
  readonly #sent: BySignal;
  readonly #failed: BySignal;
  readonly #notEnqueued: BySignal;
  readonly #attempts: Counter;
  readonly #dead: Counter;
  readonly #rejected: Counter;
  readonly #dropped: Counter;

  constructor(meter: Meter, exporter: string) {
    this.#labels = { exporter };
    const bySignal = (prefix: string, help: string): BySignal => ({
      traces: meter.counter(`${prefix}_${UNITS.traces}`, help),
      logs: meter.counter(`${prefix}_${UNITS.logs}`, help),
      metrics: meter.counter(`${prefix}_${UNITS.metrics}`, help),
    });
    this.#sent = bySignal('otelcol_exporter_sent', 'Records that the remote accepted.');
    this.#failed = bySignal(
      'otelcol_exporter_send_failed',
      'Records that were given up: dead letters and dropped records.',
    );
    this.#notEnqueued = bySignal('otelcol_exporter_enqueue_failed', 'Records refused because the outbox was full.');
    this.#attempts = meter.counter('sluice_outbox_attempts', 'Requests to the remote, by outcome.');
    this.#dead = meter.counter('sluice_outbox_buried', 'Requests that became dead letters, by reason.');
    this.#rejected = meter.counter(
      'sluice_outbox_rejected_records',
      'Records that a remote rejected in requests it accepted.',
    );
    this.#dropped = meter.counter('sluice_outbox_dropped', 'Requests that were given up because the outbox was full.');
  }

  attempted(result: Parameters<DeliveryEvents['attempted']>[0]): void {
    this.#attempts.add(1, { ...this.#labels, result });
  }

  delivered(entries: readonly WaitingEntry[], rejected: number): void {
    for (const { signal, records } of entries) this.#sent[signal].add(records, this.#labels);
    if (rejected > 0) this.#rejected.add(rejected, this.#labels);
  }

  deadLettered(entries: readonly WaitingEntry[], reason: 'refused' | 'elapsed'): void {
    for (const { signal, records } of entries) this.#failed[signal].add(records, this.#labels);
    this.#dead.add(entries.length, { ...this.#labels, reason });
  }

  dropped({ entries, records }: Dropped): void {
    for (const signal of SIGNALS) if (records[signal] > 0) this.#failed[signal].add(records[signal], this.#labels);
    this.#dropped.add(entries, this.#labels);
  }

  enqueueFailed(signal: Signal, records: number): void {
    this.#notEnqueued[signal].add(records, this.#labels);
  }
}
