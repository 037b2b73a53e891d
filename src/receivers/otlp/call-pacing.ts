/**
 * Limits the calls that one HTTP/2 connection begins in an iteration of the event loop. node:http2 reads a connection
 * up to 32 times an iteration, 64 KiB each, and begins every call in these bytes at once: eight connections that send
 * tiny calls without a pause occupied the loop for more than ten seconds.
 */
import type { Duplex } from 'node:stream';

/** A connection that begins this many calls in an iteration is not read further in it. */
const MOST_CALLS = 64;

/** What reads the connection for node:http2. The types of Node do not have it. */
interface Handle {
  readStop(): void;
  readStart(): void;
}

/** Shared by the connections of one server. */
export class CallPacing {
  readonly #stopped: PacedCalls[] = [];
  #iteration = 0;
  #isScheduled = false;

  /** The number of this iteration. */
  get iteration(): number {
    this.#schedule();
    return this.#iteration;
  }

  /** One connection continues in each iteration, in this order. */
  await(calls: PacedCalls): void {
    this.#stopped.push(calls);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#iteration++;
      this.#stopped.shift()?.resume();
      if (this.#stopped.length > 0) this.#schedule();
    });
  }
}

/** The calls of one connection. */
export class PacedCalls {
  readonly #connection: Duplex & { readonly _handle?: Handle | null };
  readonly #pacing: CallPacing;
  #iteration = 0;
  #begun = 0;

  constructor(connection: Duplex, pacing: CallPacing) {
    this.#connection = connection;
    this.#pacing = pacing;
  }

  /** A call begins. */
  begin(): void {
    const { iteration } = this.#pacing;
    if (iteration !== this.#iteration) this.#begun = 0;
    this.#iteration = iteration;
    this.#begun++;
    if (this.#begun !== MOST_CALLS) return;
    this.#connection._handle?.readStop();
    this.#pacing.await(this);
  }

  resume(): void {
    this.#connection._handle?.readStart();
  }
}
