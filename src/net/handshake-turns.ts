/**
 * Limits the TLS handshakes that are read at the same time after they have begun. A later message of a client can cost
 * the server a signature too, for example after a HelloRetryRequest, and many clients may send theirs together.
 */
import type { Socket } from 'node:net';

/** The number of handshakes that are always read, and the number of others that are read in a turn. */
const MOST_READ = 16;
const PAUSE_MS = 5;

/** What reads the connection for node:tls. The types of Node do not have it. */
type Handshake = Socket & { readonly _handle?: { readStop(): void; readStart(): void } | null };

export class HandshakeTurns {
  readonly #read = new Set<Handshake>();
  /** Handshakes that are read in turns. The first one is next. */
  readonly #waiting = new Set<Handshake>();
  #isScheduled = false;

  /** The handshake begins now: its ClientHello is read before the next immediates. */
  add(connection: Socket): void {
    if (this.#read.size < MOST_READ) {
      this.#read.add(connection);
      return;
    }
    this.#waiting.add(connection);
    setImmediate(() => this.#stop(connection));
  }

  /** The handshake has ended. */
  delete(connection: Socket): void {
    this.#read.delete(connection);
    this.#waiting.delete(connection);
  }

  #stop(connection: Handshake): void {
    if (!this.#waiting.delete(connection)) return;
    this.#waiting.add(connection);
    connection._handle?.readStop();
    this.#schedule(PAUSE_MS);
  }

  #schedule(delayMs: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => this.#takeTurn(), delayMs);
  }

  #takeTurn(): void {
    const started = performance.now();
    const turn = [...this.#waiting].slice(0, MOST_READ);
    for (const connection of turn) connection._handle?.readStart();
    // What has arrived is read after this callback, and before the immediates.
    setImmediate(() => {
      this.#isScheduled = false;
      // The next turn takes place after a wait of the same length, so that handshakes take at most half of the time.
      if (this.#waiting.size > 0) this.#schedule(Math.max(PAUSE_MS, performance.now() - started));
      for (const connection of turn) this.#stop(connection);
    });
  }
}
