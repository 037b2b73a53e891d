/** Whether objects can be stored at present. After a failure the store is checked until it is available. */
import { diskRemedy } from '../../component/disk-remedy.ts';
import type { Logger } from '../../component/logger.ts';

const RETRY_MS = 2000;
/** Longer than all attempts of an object on a disk that fails at once. */
const TRIAL_MS = 5000;
/** The interval of log lines about a store that remains unavailable. */
const REMINDER_MS = 60000;

export interface StoreWatchParts {
  /** Rejects when nothing can be stored. */
  check(): Promise<void>;
  readonly logger: Logger;
  readonly retryMs?: number;
  readonly trialMs?: number;
}

/**
 * States: unavailable → on trial ⇄ unavailable, on trial → available → unavailable. The first state is unavailable. On
 * trial, requests are accepted but the exporter is not ready: a full disk takes the small object of the check, and
 * fails the next larger one. A store that becomes available at the start has no trial.
 */
export class StoreWatch {
  readonly #parts: StoreWatchParts;
  #cause: string | null = 'the store was not checked yet';
  #isReady = false;
  /** An object has failed since the store was available. */
  #hasFailed = false;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: StoreWatchParts) {
    this.#parts = parts;
  }

  /** Why nothing can be stored; null when it can, also on trial. */
  get cause(): string | null {
    return this.#cause;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Checks the store until it is available. Resolves after the first check; never rejects. */
  async start(): Promise<void> {
    try {
      await this.#parts.check();
    } catch (error) {
      this.#setUnavailable(error);
      return;
    }
    if (this.#isStopped) return;
    this.#cause = null;
    if (this.#hasFailed) this.#later(() => this.#setAvailable(), this.#parts.trialMs ?? TRIAL_MS);
    else this.#setAvailable();
  }

  /** An object could not be stored. */
  failed(error: unknown): void {
    this.#hasFailed = true;
    if (this.#cause === null) this.#setUnavailable(error);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #setAvailable(): void {
    this.#isReady = true;
    this.#hasFailed = false;
    this.#reportedMs = Number.NEGATIVE_INFINITY;
    this.#parts.logger.info({}, 'objects can be stored');
  }

  #setUnavailable(error: unknown): void {
    if (this.#isStopped) return;
    this.#isReady = false;
    this.#cause = error instanceof Error ? error.message : String(error);
    this.#later(() => void this.start(), this.#parts.retryMs ?? RETRY_MS);
    if (performance.now() - this.#reportedMs < REMINDER_MS) return;
    this.#reportedMs = performance.now();
    this.#parts.logger.error(
      { error, fix: diskRemedy(error) },
      'no objects can be stored: requests are answered 503 until it is possible',
    );
  }

  #later(work: () => void, delayMs: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(work, delayMs).unref();
  }
}
