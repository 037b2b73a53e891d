/**
 * How fast one server takes requests from its connections. A client may send thousands of small requests without waiting for an
 * answer, and node:http would begin all of them in one turn of the event loop. Here bytes go to the parser in small pieces: when
 * a connection has too many answers due, or a turn has taken too long, the rest stays in the socket for a later turn.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Mark, PacedConnection } from './paced-connection.ts';

/** All connections together may take this long in one turn of the event loop. */
const TURN_MS = 10;
/** So many connections that wait go on in one turn. */
const MOST_RESUMED = 64;

/** What connections of one server share: the time of a turn, and the order of those that wait. */
export class RequestPacing {
  readonly #connections = new WeakMap<Socket, PacedConnection>();
  /** Those that got nothing in their last turn; they go first. */
  #passedOver: PacedConnection[] = [];
  #waiting: PacedConnection[] = [];
  #spentMs = 0;
  #scheduled = false;

  /** To be called right after the server was given the connection. */
  adopt(socket: Socket, mark: Mark): void {
    this.#connections.set(socket, new PacedConnection(socket, this, mark));
  }

  /** A request has begun. Null when its connection is closing: then it must not be served. */
  begin(request: IncomingMessage, response: ServerResponse): PacedConnection | null {
    const connection = this.of(request.socket);
    return connection.begin(request, response) ? connection : null;
  }

  of(socket: Socket): PacedConnection {
    const known = this.#connections.get(socket);
    if (known === undefined) throw new Error('the connection was not adopted');
    return known;
  }

  /** Whether this turn has time left. */
  get hasTime(): boolean {
    return this.#spentMs < TURN_MS;
  }

  /** Counts the time of the work against this turn. */
  spend(work: () => void): void {
    this.#schedule();
    const started = performance.now();
    try {
      work();
    } finally {
      this.#spentMs += performance.now() - started;
    }
  }

  /** The connection goes on in a later turn. */
  await(connection: PacedConnection, gotNothing: boolean): void {
    (gotNothing ? this.#passedOver : this.#waiting).push(connection);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#spentMs = 0;
      const all = [...this.#passedOver, ...this.#waiting];
      const next = all.splice(0, MOST_RESUMED);
      [this.#passedOver, this.#waiting] = [all, []];
      if (all.length > 0) this.#schedule();
      for (const connection of next) connection.goOn();
    });
  }
}
