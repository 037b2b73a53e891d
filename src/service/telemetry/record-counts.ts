/**
 * Counts the records of one signal, with the Collector's names: accepted and refused by the receiver, sent and failed
 * by each exporter. Only requests whose records could be counted are included; `sluice_refusals` counts all requests.
 */
import { type Counter, type Meter, RECORD_NOUNS } from '../../component/meter.ts';
import { Rejection } from '../../errors.ts';
import type { Signal, Transport } from '../../pdata/context.ts';

const RECEIVERS: Readonly<Record<Transport, Readonly<Record<string, string>>>> = {
  http: { receiver: 'otlp', transport: 'http' },
  grpc: { receiver: 'otlp', transport: 'grpc' },
};

export class RecordCounts {
  readonly #accepted: Counter;
  readonly #refused: Counter;
  readonly #sent: Counter;
  readonly #failed: Counter;
  readonly #exporters: readonly { readonly exporter: string }[];

  constructor(signal: Signal, exporters: readonly string[], meter: Meter) {
    const noun = RECORD_NOUNS[signal];
    this.#exporters = exporters.map((exporter) => ({ exporter }));
    this.#accepted = meter.counter(`otelcol_receiver_accepted_${noun}`, 'Records that were accepted and stored.');
    this.#refused = meter.counter(`otelcol_receiver_refused_${noun}`, 'Records of requests that were refused.');
    this.#sent = meter.counter(`otelcol_exporter_sent_${noun}`, 'Records that an exporter made durable.');
    this.#failed = meter.counter(`otelcol_exporter_send_failed_${noun}`, 'Records that could not be made durable.');
  }

  stored(records: number, transport: Transport): void {
    this.#accepted.add(records, RECEIVERS[transport]);
    for (const labels of this.#exporters) this.#sent.add(records, labels);
  }

  /** The group commit refused the request, because of stored data, or because it could not be stored. */
  notStored(records: number, error: unknown, transport: Transport): void {
    this.#refused.add(records, RECEIVERS[transport]);
    // A request is stored by all exporters or by none, so a failure of one counts for all.
    if (error instanceof Rejection && error.code !== 'ingestion_failed') return;
    for (const labels of this.#exporters) this.#failed.add(records, labels);
  }

  /** Refused before the group commit. */
  refused(records: number, transport: Transport): void {
    if (records > 0) this.#refused.add(records, RECEIVERS[transport]);
  }
}
