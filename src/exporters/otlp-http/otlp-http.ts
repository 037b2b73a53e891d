/**
 * The `otlp_http` exporter: forwards stored records to a Collector or another OTLP/HTTP receiver. It encodes the
 * request from the tables, so dropped attributes are not sent. The request waits in the outbox of the database, in the
 * transaction of the other writes, and the acknowledgement does not wait for the remote.
 */
import { setTimeout as after } from 'node:timers/promises';
import type { Host } from '../../component/component.ts';
import { defineExporter, type Exporter, type Rows } from '../../component/exporter.ts';
import type { TransactionHandle } from '../../component/capabilities/ledger.ts';
import { OUTBOX, type Outbox, type OutboxEntry } from '../../component/capabilities/outbox.ts';
import { Rejection, UserError } from '../../errors.ts';
import { readClientCertificates } from '../../net/certificates.ts';
import type { Batch } from '../../pdata/batch.ts';
import type { Steps } from '../../pdata/steps.ts';
import { ChunkPool } from '../../pdata/chunk-pool.ts';
import { encodeInSteps } from '../../pdata/encode-rows.ts';
import { Delivery } from './delivery.ts';
import { type DeliveryMetrics, deliveryMetrics } from './delivery-metrics.ts';
import { endpointFaults, headerFaults, OTLP_HTTP_SCHEMA, type OtlpHttpOptions } from './options.ts';
import { Sender } from './sender.ts';

/** The interval of the check of the outbox's limits. */
const TIDY_MS = 10000;

class OtlpHttpExporter implements Exporter {
  readonly transactional = true;
  readonly countsDeliveries = true;
  readonly #options: OtlpHttpOptions;
  readonly #host: Host;
  readonly #pool = new ChunkPool();
  readonly #metrics: DeliveryMetrics;
  readonly #sender: Sender;
  /** The project of each encoded request: an outbox keeps projects apart. */
  readonly #projects = new WeakMap<Rows, string>();
  #outbox: Outbox | null = null;
  #delivery: Delivery | null = null;
  #tidying: NodeJS.Timeout | null = null;

  constructor(options: OtlpHttpOptions, host: Host) {
    this.#options = options;
    this.#host = host;
    this.#metrics = deliveryMetrics(host.meter, host.id);
    this.#sender = new Sender(options, () => host.now());
  }

  async start(): Promise<void> {
    const outbox = this.#host.capabilities.find(OUTBOX);
    if (outbox === undefined) {
      throw new UserError(
        `${this.#host.id}: there is no outbox`,
        'Add the postgres extension to service.extensions; requests wait in its database until they are sent.',
      );
    }
    await this.#sender.open(this.#host);
    this.#delivery = new Delivery({
      queue: await outbox.open(this.#host.id),
      retry: this.#options.retry_on_failure,
      maxBatchBytes: this.#options.outbox.max_batch_size,
      logger: this.#host.logger,
      events: this.#metrics,
      now: () => outbox.now(),
      chance: Math.random,
      send: (signal, body, abort) => this.#sender.send(signal, body, abort),
      pause,
    });
    this.#outbox = outbox;
    this.#delivery.start();
    this.#tidying = setInterval(() => void this.#tidy(outbox), TIDY_MS);
    this.#tidying.unref();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    if (this.#tidying !== null) clearInterval(this.#tidying);
    await this.#delivery?.stop(deadline);
    await this.#sender.close();
  }

  *encode(batch: Batch): Steps<Rows> {
    this.#refuseWhenFull(batch);
    const rows = yield* encodeInSteps(batch, 'otlp', this.#pool);
    const release = (): void => {
      rows.release();
      // The transaction is committed, so the entry is visible.
      this.#delivery?.wake();
    };
    const kept = { ...rows, release };
    this.#projects.set(kept, batch.context.project.name);
    return kept;
  }

  async write(group: readonly Rows[], handle: TransactionHandle): Promise<void> {
    if (this.#outbox === null) throw new Error('the outbox is not open');
    const entries = group.flatMap((rows): readonly OutboxEntry[] => {
      const { signal, count: records, bytes, chunks } = rows;
      const project = this.#projects.get(rows) ?? '';
      // A metric without points is neither stored nor sent.
      return records === 0 ? [] : [{ destination: this.#host.id, signal, project, records, bytes, chunks }];
    });
    await this.#outbox.add(entries, handle);
  }

  /** Refuses before the request is stored: the sender sends it again, and no acknowledged request is lost. */
  #refuseWhenFull(batch: Batch): void {
    const { max_size: limit, when_full: policy } = this.#options.outbox;
    if (policy !== 'refuse' || this.#outbox === null) return;
    // Dead letters are removed first, so they do not count.
    if (this.#outbox.size(this.#host.id).waitingBytes < limit) return;
    this.#metrics.enqueueFailed(batch.signal, batch.recordCount);
    throw new Rejection('overloaded', { hint: `the outbox of ${this.#host.id} is full` });
  }

  async #tidy(outbox: Outbox): Promise<void> {
    const { max_size: maxBytes, when_full: policy, dead_letter_retention: maxDeadAgeMs } = this.#options.outbox;
    try {
      await outbox.tidy(this.#host.id, { maxBytes, maxDeadAgeMs });
      if (policy !== 'drop_oldest') return;
      const dropped = await outbox.dropOldest(this.#host.id, maxBytes);
      if (dropped.entries === 0) return;
      this.#metrics.dropped(dropped);
      this.#host.logger.error({ ...dropped }, 'the outbox was full; its oldest requests were dropped');
    } catch (error) {
      this.#host.logger.warn({ error }, 'the limits of the outbox could not be checked; trying again soon');
    }
  }
}

const pause = (ms: number, wake: AbortSignal): Promise<void> =>
  after(ms, undefined, { signal: wake }).catch(() => undefined);

export const otlpHttpExporter = defineExporter<OtlpHttpOptions>({
  type: 'otlp_http',
  summary: 'Forwards stored records to a Collector or a vendor, from an outbox in the same transaction.',
  stability: 'alpha',
  schema: OTLP_HTTP_SCHEMA,
  example: 'endpoint: http://127.0.0.1:14318',
  requires: ['project', 'environment'],
  signals: ['traces', 'logs', 'metrics'],
  ledger: 'postgres',
  check: (options, place) => [
    ...endpointFaults(options),
    ...headerFaults(options),
    ...readClientCertificates(options.tls, place).faults.map(({ option, ...rest }) => ({
      option: ['tls', option],
      ...rest,
    })),
  ],
  create: (options, host) => new OtlpHttpExporter(options, host),
});
