/**
 * The polls of the event loop between two slices of passes. One poll accepts one connection, and a request of a
 * connection that was not accepted cannot be refused. Under load the loop is therefore polled several times while new
 * requests arrive.
 */

/**
 * The limit of polls in a row. A number and not a time, because the first poll takes longest, with all earlier
 * arrivals.
 */
const MAX_POLLS = 16;
/** This many polls without arrivals end the cycle: a connection that one poll accepts is read by the next. */
const IDLE_POLLS = 2;
/** Polls end after this time. A longer poll is a pause of the process. */
export const MAX_POLLS_MS = 50;

export class PollCycle {
  readonly #now: () => number;
  #startedMs = 0;
  #polls = 0;
  /** Polls without arrivals, in a row. */
  #idlePolls = 0;
  #arrivals = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A request has arrived. */
  noteArrival(): void {
    this.#arrivals++;
  }

  begin(): void {
    this.#startedMs = this.#now();
    this.#polls = 0;
    this.#idlePolls = 0;
  }

  /** The time of the polls of this cycle. */
  get elapsedMs(): number {
    return Math.min(this.#now() - this.#startedMs, MAX_POLLS_MS);
  }

  /** Whether to poll once more. Must be called once after each poll. */
  continues(isLoaded: boolean): boolean {
    this.#idlePolls = this.#arrivals > 0 ? 0 : this.#idlePolls + 1;
    this.#arrivals = 0;
    if (!isLoaded || this.elapsedMs >= MAX_POLLS_MS) return false;
    return this.#idlePolls < IDLE_POLLS && ++this.#polls < MAX_POLLS;
  }
}
