/**
 * A bounded queue that sends its items in batches, one batch at a time. It never throws and never waits in `add`. What
 * cannot be sent is dropped, counted, and reported once per cause.
 */
import { diag } from '@opentelemetry/api';
import { type Clock, settledWithin } from './clock.ts';
import { DropReports } from './drop-reports.ts';
import { ExportFailure } from './failure.ts';

export interface BatchLimits {
  /** The most items of one batch; so many begin an export at once. Default: 64. */
  readonly batchSize?: number | undefined;
  /** The longest wait of an item before its export begins, in milliseconds. Default: 1,000. */
  readonly scheduledDelayMs?: number | undefined;
  /** The most items that wait; further ones are dropped. Default: 2,048. */
  readonly queueSize?: number | undefined;
}

/** The defaults of the contract (What the service does, client-side guidance). */
const BATCH_SIZE = 64;
const SCHEDULED_DELAY_MS = 1000;
const QUEUE_SIZE = 2048;

export interface BatchQueueOptions<T> {
  /** What the items are called in messages: `spans`. */
  readonly items: string;
  readonly limits: BatchLimits;
  readonly clock: Clock;
  /** Rejects when the batch was not stored. */
  readonly send: (batch: T[]) => Promise<void>;
}

export class BatchQueue<T> {
  readonly #options: BatchQueueOptions<T>;
  readonly #batchSize: number;
  readonly #delayMs: number;
  readonly #capacity: number;
  readonly #reports: DropReports;
  #waiting: T[] = [];
  #sending: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  #isHeld = false;
  #isClosed = false;
  /** All items that were accepted, and those of them whose export has ended. */
  #accepted = 0;
  #ended = 0;
  #dropped = 0;

  constructor(options: BatchQueueOptions<T>) {
    const { limits } = options;
    this.#options = options;
    this.#reports = new DropReports(options.items);
    this.#capacity = limits.queueSize ?? QUEUE_SIZE;
    this.#batchSize = Math.min(limits.batchSize ?? BATCH_SIZE, this.#capacity);
    this.#delayMs = limits.scheduledDelayMs ?? SCHEDULED_DELAY_MS;
  }

  /** The items that were not stored, as far as this process knows. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The items that were taken into the queue. */
  get accepted(): number {
    return this.#accepted;
  }

  add(item: T): void {
    if (this.#isClosed || this.#waiting.length >= this.#capacity) {
      this.#dropped += 1;
      if (this.#isClosed) this.#reports.dropped('shut down', 'they ended after the shutdown');
      else this.#reports.dropped('queue', `the queue is full (${this.#capacity})`);
      return;
    }
    this.#waiting.push(item);
    this.#accepted += 1;
    this.#sendInTime();
  }

  /** Sends what was added before the call. Resolves also after failures. */
  async flush(): Promise<void> {
    const last = this.#accepted;
    while (this.#ended < last) await this.#sendBatch();
  }

  /** Sends everything, within the limit in milliseconds, and accepts nothing after that. */
  shutdown(limitMs: number): Promise<void> {
    this.#closing ??= this.#close(limitMs);
    return this.#closing;
  }

  /** From here on only `flush` and `shutdown` begin an export. */
  hold(): void {
    this.#isHeld = true;
    this.#disarm();
  }

  /** Closes the queue and returns what waits in it, in batches. Their export is up to the caller. */
  takeRest(): readonly T[][] {
    this.#isClosed = true;
    this.#disarm();
    const rest: T[][] = [];
    this.#ended += this.#waiting.length;
    while (this.#waiting.length > 0) rest.push(this.#waiting.splice(0, this.#batchSize));
    return rest;
  }

  /** Items that are added during the first flush are sent too. A busy application cannot prolong the second one. */
  async #close(limitMs: number): Promise<void> {
    const sent = this.flush().then(() => {
      this.#isClosed = true;
      return this.flush();
    });
    await settledWithin(this.#options.clock, limitMs, sent);
    const left = this.takeRest().flat().length;
    this.#dropped += left;
    if (left > 0) this.#reports.dropped('shut down', 'the time for the shutdown ran out');
    if (this.#dropped > 0) diag.info(`sluice: ${this.#dropped} ${this.#options.items} were not stored in all`);
  }

  /** Sends one batch. While one is being sent, its end is the result. */
  #sendBatch(): Promise<void> {
    this.#sending ??= this.#export().finally(() => {
      this.#sending = undefined;
      this.#sendInTime();
    });
    return this.#sending;
  }

  #sendInTime(): void {
    if (this.#isHeld) return;
    if (this.#waiting.length >= this.#batchSize) void this.#sendBatch();
    else if (this.#waiting.length > 0) this.#arm();
  }

  async #export(): Promise<void> {
    this.#disarm();
    const batch = this.#waiting.splice(0, this.#batchSize);
    if (batch.length === 0) return;
    try {
      await this.#options.send(batch);
    } catch (error) {
      this.#dropped += (error instanceof ExportFailure ? error.lost : undefined) ?? batch.length;
      this.#reports.failed(error);
    } finally {
      this.#ended += batch.length;
    }
  }

  #arm(): void {
    this.#cancelTimer ??= this.#options.clock.after(
      this.#delayMs,
      () => {
        this.#cancelTimer = undefined;
        void this.flush();
      },
      { idle: true },
    );
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
