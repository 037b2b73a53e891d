/**
 * The time in which a file cannot be written. Its first failure and its end are logged. Until the repair succeeds it is
 * tried again by a timer: the daemon is not ready meanwhile and may receive no traffic, so that no append would try it.
 */
import type { Logger } from '../../component/logger.ts';
import { remedyFor } from './remedy.ts';

/** The daemon is not ready for this long after a failure. Also the interval of the repair attempts. */
const UNREADY_MS = 2000;

export class Outage {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #repair: () => Promise<void>;
  /** The first failure, by the monotonic clock; null without an outage. */
  #sinceMs: number | null = null;
  /** Active from a failure until the file is ready again. */
  #timer: NodeJS.Timeout | null = null;

  /** `repair`: rejects while the file cannot be written. Runs as a turn of the file. */
  constructor(path: string, logger: Logger, repair: () => Promise<void>) {
    this.#path = path;
    this.#logger = logger;
    this.#repair = repair;
  }

  get isUnready(): boolean {
    return this.#timer !== null;
  }

  begin(error: unknown): void {
    if (this.#sinceMs !== null) return;
    this.#sinceMs = performance.now();
    this.#logger.error(
      { error, path: this.#path, fix: remedyFor(error) },
      'the file could not be written: requests are answered 503 until it can be',
    );
  }

  /**
   * The lines of an append are on disk. It is no end while the file is not ready: on a disk that is almost full, small
   * appends succeed between larger ones that fail.
   */
  written(): void {
    if (this.#sinceMs === null || this.isUnready) return;
    const seconds = Math.round((performance.now() - this.#sinceMs) / 1000);
    this.#sinceMs = null;
    this.#logger.info({ path: this.#path, seconds }, 'the file is written again');
  }

  /** Tries the repair after a while, until it succeeds. */
  repairLater(): void {
    this.stop();
    this.#timer = setTimeout(() => void this.#tryRepair(), UNREADY_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #tryRepair(): Promise<void> {
    try {
      await this.#repair();
      this.#timer = null;
    } catch {
      this.repairLater();
    }
  }
}
