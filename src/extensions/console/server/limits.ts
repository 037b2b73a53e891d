/** Limits on what one person or one client may do at once. */
import { ReaderFailure } from '../../../component/capabilities/postgres-reader.ts';
import { ConsoleError, type ConsoleErrorCode } from '../errors.ts';
import { MINUTE_MS } from '../../../pdata/time-units.ts';

/** Queries of one caller that run at once. */
const QUERIES_AT_ONCE = 4;
const WAITING_QUERIES = 16;
const QUERY_WAIT_MS = 2000;
const FAILURES_PER_MINUTE = 10;
/** The most clients. Beyond it the oldest ones are removed. */
const MAX_CLIENTS = 10_000;

interface Turn {
  readonly begin: () => void;
}

/**
 * The queries that run at once, for each caller. Further ones wait for a short time, because a page sends several
 * requests together.
 */
export class QueryTurns {
  readonly #atOnce: number;
  readonly #refusal: ConsoleErrorCode;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, Turn[]>();

  /** `refusal`: when none is free in time. */
  constructor(atOnce = QUERIES_AT_ONCE, refusal: ConsoleErrorCode = 'too_many') {
    this.#atOnce = atOnce;
    this.#refusal = refusal;
  }

  /** Resolves with the function that ends the turn. Rejects with the refusal when none is free in time. */
  async take(caller: string, signal: AbortSignal): Promise<() => void> {
    const running = this.#running.get(caller) ?? 0;
    if (running >= this.#atOnce) await this.#wait(caller, signal);
    else this.#running.set(caller, running + 1);
    return () => this.#end(caller);
  }

  #wait(caller: string, signal: AbortSignal): Promise<void> {
    const waiting = this.#waiting.get(caller) ?? [];
    if (waiting.length >= WAITING_QUERIES) throw new ConsoleError(this.#refusal);
    this.#waiting.set(caller, waiting);
    return new Promise((resolve, reject) => {
      const leave = (error: Error): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancel);
        const at = waiting.indexOf(turn);
        if (at >= 0) waiting.splice(at, 1);
        reject(error);
      };
      const cancel = (): void => leave(new ReaderFailure('canceled', signal.reason));
      const timer = setTimeout(() => leave(new ConsoleError(this.#refusal)), QUERY_WAIT_MS);
      const turn: Turn = {
        begin: () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', cancel);
          resolve();
        },
      };
      signal.addEventListener('abort', cancel, { once: true });
      waiting.push(turn);
    });
  }

  /** The next waiting query gets the turn. */
  #end(caller: string): void {
    const next = this.#waiting.get(caller)?.shift();
    if (next !== undefined) {
      next.begin();
      return;
    }
    this.#waiting.delete(caller);
    const running = (this.#running.get(caller) ?? 1) - 1;
    if (running === 0) this.#running.delete(caller);
    else this.#running.set(caller, running);
  }
}

/** Failed logins by client within the last minute. */
export class FailedLogins {
  readonly #now: () => number;
  readonly #times = new Map<string, number[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws `too_many` when the client has failed too often. */
  check(client: string): void {
    if (this.#recent(client).length >= FAILURES_PER_MINUTE)
      throw new ConsoleError('too_many', { message: 'There were too many failed logins.', hint: 'Wait a minute.' });
  }

  add(client: string): void {
    const times = [...this.#recent(client), this.#now()];
    this.#times.delete(client);
    this.#times.set(client, times);
    const [oldest] = this.#times.keys();
    if (this.#times.size > MAX_CLIENTS && oldest !== undefined) this.#times.delete(oldest);
  }

  #recent(client: string): readonly number[] {
    const since = this.#now() - MINUTE_MS;
    return (this.#times.get(client) ?? []).filter((time) => time > since);
  }
}

/** A number of places, for example of live streams. */
export class Places {
  readonly #limit: number;
  #taken = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns the function that leaves the place. Throws `too_many` when there is none. */
  take(): () => void {
    if (this.#taken >= this.#limit) throw new ConsoleError('too_many', { message: 'There are too many live streams.' });
    this.#taken++;
    let left = false;
    return () => {
      if (!left) this.#taken--;
      left = true;
    };
  }
}
