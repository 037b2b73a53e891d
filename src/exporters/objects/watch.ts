/** Whether objects can be stored at present. After a failure the store is checked until it is available. */
import type { Logger } from '../../component/logger.ts';

const RETRY_MS = 2000;
/** The interval of log lines about a store that remains unavailable. */
const REMINDER_MS = 60000;

export interface StoreWatchParts {
  /** Rejects when nothing can be stored. */
  check(): Promise<void>;
  readonly logger: Logger;
}

/** States: unavailable ⇄ available. The first state is unavailable. */
export class StoreWatch {
  readonly #parts: StoreWatchParts;
  #cause: string | null = 'the store was not checked yet';
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: StoreWatchParts) {
    this.#parts = parts;
  }

  /** Why nothing can be stored; null when it can. */
  get cause(): string | null {
    return this.#cause;
  }

  /** Checks the store until it is available. Resolves after the first check; never rejects. */
  async start(): Promise<void> {
    try {
      await this.#parts.check();
      if (this.#isStopped) return;
      this.#cause = null;
      this.#reportedMs = Number.NEGATIVE_INFINITY;
      this.#parts.logger.info({}, 'objects can be stored');
    } catch (error) {
      this.#setUnavailable(error);
    }
  }

  /** An object could not be stored. */
  failed(error: unknown): void {
    if (this.#cause === null) this.#setUnavailable(error);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #setUnavailable(error: unknown): void {
    if (this.#isStopped) return;
    this.#cause = error instanceof Error ? error.message : String(error);
    this.#timer = setTimeout(() => void this.start(), RETRY_MS).unref();
    if (performance.now() - this.#reportedMs < REMINDER_MS) return;
    this.#reportedMs = performance.now();
    this.#parts.logger.error({ error }, 'no objects can be stored: requests are answered 503 until it is possible');
  }
}
