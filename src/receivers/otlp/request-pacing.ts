/**
 * Limits how fast one server reads requests from its connections. A client may pipeline thousands of small requests,
 * and node:http would begin all of them in one iteration of the event loop. Here the parser gets bytes in small pieces:
 * when a connection has too many pending answers, or the iteration has no time left, the rest stays in the socket for a
 * later iteration.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Bytes, type Mark, PacedConnection, type Pacing } from './paced-connection.ts';

/** The time of all connections with bytes of one kind in one iteration of the event loop. */
const TURN_MS = 10;
/** The number of connections waiting with bytes of one kind that continue in one iteration. */
const MOST_RESUMED = 64;

/** Bytes of one kind: their time in an iteration, and the connections that wait for a later one. */
class PacedBytes {
  /** Connections that read nothing in their last iteration. They are first. */
  #passedOver: PacedConnection[] = [];
  #waiting: PacedConnection[] = [];
  spentMs = 0;

  get isEmpty(): boolean {
    return this.#passedOver.length + this.#waiting.length === 0;
  }

  add(connection: PacedConnection, gotNothing: boolean): void {
    (gotNothing ? this.#passedOver : this.#waiting).push(connection);
  }

  /** The connections that continue in the new iteration. */
  next(): readonly PacedConnection[] {
    this.spentMs = 0;
    const all = [...this.#passedOver, ...this.#waiting];
    const next = all.splice(0, MOST_RESUMED);
    [this.#passedOver, this.#waiting] = [all, []];
    return next;
  }
}

export class RequestPacing implements Pacing {
  readonly #connections = new WeakMap<Socket, PacedConnection>();
  readonly #paced: Readonly<Record<Bytes, PacedBytes>> = { heads: new PacedBytes(), bodies: new PacedBytes() };
  #scheduled = false;

  /** Must be called directly after the server got the connection. */
  adopt(socket: Socket, mark: Mark): void {
    this.#connections.set(socket, new PacedConnection(socket, this, mark));
  }

  /** A request has begun. Null when its connection is closing, and the request must not be served. */
  begin(request: IncomingMessage, response: ServerResponse): PacedConnection | null {
    const connection = this.of(request.socket);
    return connection.begin(request, response) ? connection : null;
  }

  of(socket: Socket): PacedConnection {
    const known = this.#connections.get(socket);
    if (known === undefined) throw new Error('the connection was not adopted');
    return known;
  }

  hasTime(bytes: Bytes): boolean {
    return this.#paced[bytes].spentMs < TURN_MS;
  }

  spend(bytes: Bytes, work: () => void): void {
    this.#schedule();
    const started = performance.now();
    try {
      work();
    } finally {
      this.#paced[bytes].spentMs += performance.now() - started;
    }
  }

  await(connection: PacedConnection, bytes: Bytes, gotNothing: boolean): void {
    this.#paced[bytes].add(connection, gotNothing);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const { heads, bodies } = this.#paced;
      const next = [...heads.next(), ...bodies.next()];
      if (!heads.isEmpty || !bodies.isEmpty) this.#schedule();
      for (const connection of next) connection.goOn();
    });
  }
}
