/** The counters of the exporter, with the Collector's names where they exist, each labelled with the exporter's id. */
import { type Counter, type Meter, RECORD_NOUNS } from '../../component/meter.ts';
import type { Dropped } from '../../component/capabilities/outbox.ts';
import { SIGNALS, type Signal } from '../../pdata/context.ts';
import type { DeliveryEvents } from './delivery.ts';

export type DeliveryMetrics = ReturnType<typeof deliveryMetrics>;

export function deliveryMetrics(meter: Meter, exporter: string) {
  const labels = { exporter };
  const bySignal = (prefix: string, help: string): Readonly<Record<Signal, Counter>> => ({
    traces: meter.counter(`${prefix}_${RECORD_NOUNS.traces}`, help),
    logs: meter.counter(`${prefix}_${RECORD_NOUNS.logs}`, help),
    metrics: meter.counter(`${prefix}_${RECORD_NOUNS.metrics}`, help),
  });
  const sent = bySignal('otelcol_exporter_sent', 'Records that the remote accepted.');
  const failed = bySignal(
    'otelcol_exporter_send_failed',
    'Records that were given up: dead letters and dropped records.',
  );
  const notEnqueued = bySignal('otelcol_exporter_enqueue_failed', 'Records refused because the outbox was full.');
  const attempts = meter.counter('sluice_outbox_attempts', 'Requests to the remote, by outcome.');
  const dead = meter.counter('sluice_outbox_buried', 'Requests that became dead letters, by reason.');
  const rejections = meter.counter(
    'sluice_outbox_rejected_records',
    'Records that a remote rejected in requests it accepted.',
  );
  const drops = meter.counter('sluice_outbox_dropped', 'Requests that were given up because the outbox was full.');
  const events: DeliveryEvents = {
    attempted: (result) => attempts.add(1, { ...labels, result }),
    delivered: (entries, rejected) => {
      for (const { signal, records } of entries) sent[signal].add(records, labels);
      if (rejected > 0) rejections.add(rejected, labels);
    },
    deadLettered: (entries, reason) => {
      for (const { signal, records } of entries) failed[signal].add(records, labels);
      dead.add(entries.length, { ...labels, reason });
    },
  };
  return {
    ...events,
    dropped: ({ entries, records }: Dropped): void => {
      for (const signal of SIGNALS) if (records[signal] > 0) failed[signal].add(records[signal], labels);
      drops.add(entries, labels);
    },
    enqueueFailed: (signal: Signal, records: number): void => notEnqueued[signal].add(records, labels),
  };
}
