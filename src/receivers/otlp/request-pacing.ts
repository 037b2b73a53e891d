/**
 * How fast one server takes requests from its connections. A client may send thousands of small requests without waiting for an
 * answer, and node:http would begin all of them in one turn of the event loop. Here bytes go to the parser in small pieces: when
 * a connection has too many answers due, or a turn has taken too long, the rest stays in the socket for a later turn.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Bytes, type Mark, PacedConnection, type Pacing } from './paced-connection.ts';

/** All connections of a lane may take this long together in one turn of the event loop. */
const TURN_MS = 10;
/** So many connections of a lane that wait go on in one turn. */
const MOST_RESUMED = 64;

/** Bytes of one kind: the time they have in a turn, and the connections that wait for a later one. */
class Lane {
  /** Those that got nothing in their last turn; they go first. */
  #passedOver: PacedConnection[] = [];
  #waiting: PacedConnection[] = [];
  spentMs = 0;

  get isEmpty(): boolean {
    return this.#passedOver.length + this.#waiting.length === 0;
  }

  add(connection: PacedConnection, gotNothing: boolean): void {
    (gotNothing ? this.#passedOver : this.#waiting).push(connection);
  }

  /** Those that go on in the turn that begins. */
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
  readonly #lanes: Readonly<Record<Bytes, Lane>> = { heads: new Lane(), bodies: new Lane() };
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

  hasTime(bytes: Bytes): boolean {
    return this.#lanes[bytes].spentMs < TURN_MS;
  }

  spend(bytes: Bytes, work: () => void): void {
    this.#schedule();
    const started = performance.now();
    try {
      work();
    } finally {
      this.#lanes[bytes].spentMs += performance.now() - started;
    }
  }

  await(connection: PacedConnection, bytes: Bytes, gotNothing: boolean): void {
    this.#lanes[bytes].add(connection, gotNothing);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const { heads, bodies } = this.#lanes;
      const next = [...heads.next(), ...bodies.next()];
      if (!heads.isEmpty || !bodies.isEmpty) this.#schedule();
      for (const connection of next) connection.goOn();
    });
  }
}
