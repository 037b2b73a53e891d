/**
 * Limits how fast one server reads requests from its connections. A client may pipeline thousands of small requests,
 * and node:http would begin all of them in one iteration of the event loop. Here the parser gets bytes in small pieces:
 * when a connection has too many pending answers, or the iteration has no time left, the rest stays in the socket for a
 * later iteration. Connections whose requests store nothing are read at a limited rate in all.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Bytes, type Mark, PacedConnection, type Pacing } from './paced-connection.ts';
import { ReadBuffer } from './read-buffer.ts';

/** The time of all connections with bytes of one kind in one iteration of the event loop. */
const TURN_MS = 10;
/** The number of connections waiting with bytes of one kind that continue in one iteration. */
const MOST_RESUMED = 64;

/** The connection of a client that reads nothing of its answers for this time, or for twice as long, is cut. */
const UNREAD_MS = 30_000;

/** Connections whose last requests stored nothing: the pieces of all of them in a tick. */
const UNSTORED_PIECES = 16;
const UNSTORED_TICK_MS = 10;

/** The budget of the bytes of one kind, and the connections that wait for it. */
interface BytesBudget {
  hasTime(): boolean;
  spend(ms: number): void;
  add(connection: PacedConnection, gotNothing: boolean): void;
}

/** Bytes with a limited time in each iteration of the event loop. */
class PacedBytes implements BytesBudget {
  /** Connections that read nothing in their last iteration. They are first. */
  #passedOver: PacedConnection[] = [];
  #waiting: PacedConnection[] = [];
  #spentMs = 0;
  readonly #schedule: () => void;

  /** `schedule` arranges a call of `next` in the next iteration. */
  constructor(schedule: () => void) {
    this.#schedule = schedule;
  }

  get isEmpty(): boolean {
    return this.#passedOver.length + this.#waiting.length === 0;
  }

  hasTime(): boolean {
    return this.#spentMs < TURN_MS;
  }

  spend(ms: number): void {
    this.#spentMs += ms;
    this.#schedule();
  }

  add(connection: PacedConnection, gotNothing: boolean): void {
    (gotNothing ? this.#passedOver : this.#waiting).push(connection);
    this.#schedule();
  }

  /** The connections that continue in the new iteration. */
  next(): readonly PacedConnection[] {
    this.#spentMs = 0;
    const all = [...this.#passedOver, ...this.#waiting];
    const next = all.splice(0, MOST_RESUMED);
    [this.#passedOver, this.#waiting] = [all, []];
    return next;
  }
}

/** Bytes with a limited number of pieces in each tick. */
class RatedBytes implements BytesBudget {
  readonly #waiting: PacedConnection[] = [];
  #left = UNSTORED_PIECES;
  #isTicking = false;

  hasTime(): boolean {
    return this.#left > 0;
  }

  spend(): void {
    this.#left--;
    this.#schedule();
  }

  add(connection: PacedConnection, gotNothing: boolean): void {
    if (gotNothing) this.#waiting.unshift(connection);
    else this.#waiting.push(connection);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    const tick = (): void => {
      this.#isTicking = false;
      this.#left = UNSTORED_PIECES;
      for (let left = UNSTORED_PIECES; left > 0 && this.#waiting.length > 0; ) {
        const connection = this.#waiting.shift();
        if (connection?.isClosed !== false) continue;
        connection.continueReading();
        left--;
      }
      if (this.#waiting.length > 0) this.#schedule();
    };
    setTimeout(tick, UNSTORED_TICK_MS);
  }
}

/** What a server decides about its requests. */
export interface RequestRules {
  /** Whether bytes behind the request cannot be trusted, so that its connection closes. */
  isAmbiguous(request: IncomingMessage): boolean;
  /** Answers CONNECT and closes the connection. */
  refuseTunnel(connection: Socket): void;
}

const PLAIN_RULES: RequestRules = {
  isAmbiguous: () => false,
  refuseTunnel: (connection) => connection.destroy(),
};

export class RequestPacing implements Pacing {
  readonly readBuffer = new ReadBuffer();
  readonly #rules: RequestRules;
  readonly #connections = new WeakMap<Socket, PacedConnection>();
  readonly #heads = new PacedBytes(() => this.#schedule());
  readonly #bodies = new PacedBytes(() => this.#schedule());
  readonly #budgets: Readonly<Record<Bytes, BytesBudget>> = {
    heads: this.#heads,
    bodies: this.#bodies,
    unstored: new RatedBytes(),
  };
  #scheduled = false;

  constructor(server: Server, rules = PLAIN_RULES) {
    this.#rules = rules;
    server.timeout = UNREAD_MS;
    // With a listener, node:http does not close idle connections itself.
    server.on('timeout', (socket) => this.of(socket).closeUnlessWorking());
    server.on('connect', (_request, connection) => {
      // node:http has freed the parser, and another connection may get it: nothing more may be parsed.
      this.of(connection as Socket).close();
      rules.refuseTunnel(connection as Socket);
    });
  }

  isAmbiguous(request: IncomingMessage): boolean {
    return this.#rules.isAmbiguous(request);
  }

  /** Must be called directly after the server got the connection. */
  adopt(socket: Socket, mark: Mark = () => undefined): void {
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

  /** Resolves when the bytes that had arrived before the call are read, or `deadline` aborts. */
  async caughtUp(deadline: AbortSignal): Promise<void> {
    // The first immediate may run before the next poll.
    for (let polls = 0; polls < 2 || !this.#heads.isEmpty || !this.#bodies.isEmpty; polls++) {
      if (deadline.aborted) return;
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
  }

  hasTime(bytes: Bytes): boolean {
    return this.#budgets[bytes].hasTime();
  }

  spend(bytes: Bytes, work: () => void): void {
    const started = performance.now();
    try {
      work();
    } finally {
      this.#budgets[bytes].spend(performance.now() - started);
    }
  }

  await(connection: PacedConnection, bytes: Bytes, gotNothing: boolean): void {
    this.#budgets[bytes].add(connection, gotNothing);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const next = [...this.#heads.next(), ...this.#bodies.next()];
      if (!this.#heads.isEmpty || !this.#bodies.isEmpty) this.#schedule();
      for (const connection of next) connection.continueReading();
    });
  }
}
