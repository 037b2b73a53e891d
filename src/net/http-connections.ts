/**
 * The connections of an HTTP server that does not listen itself: a listener hands accepted connections to it. It does
 * what node:http does for a listening server: time limits, closing idle connections, cutting the rest.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionHandler } from '../component/listening.ts';
import { OpenConnections, type Use } from './open-connections.ts';

/** Gets each accepted connection, and passes it to the server at once or after a TLS handshake. */
export interface Beginning {
  accept(connection: Socket): void;
  /** Cuts connections that the server does not have yet, now and later, and those of which it has no byte. */
  cutUnused?(): void;
}

export class HttpConnections implements ConnectionHandler {
  readonly #server: Server;
  readonly #beginning: Beginning;
  readonly #open: OpenConnections;

  /** `limit` is the number of connections open at once; left out: no limit. */
  constructor(server: Server, beginning: Beginning, limit = Number.POSITIVE_INFINITY) {
    this.#server = server;
    this.#beginning = beginning;
    this.#open = new OpenConnections(limit);
    // node:http starts to check its time limits on this event, which it does not emit without a port of its own.
    server.emit('listening');
  }

  accept(connection: Socket): void {
    if (this.#open.add(connection)) this.#beginning.accept(connection);
  }

  /** Sets the current use of an accepted connection. */
  mark(connection: Socket, use: Exclude<Use, 'new'>, holder: string): void {
    this.#open.mark(connection, use, holder);
  }

  /** Resolves when no connection is left. */
  ended(): Promise<void> {
    return this.#open.ended();
  }

  /** Closes idle connections now and the others after their answer; `deadline` cuts the rest. Works twice. */
  async close(deadline: AbortSignal): Promise<void> {
    // The error of a server that does not listen is ignored: close also closes idle connections and ends timers.
    this.#server.close(() => undefined);
    // node:http treats a connection without a request as busy.
    this.#beginning.cutUnused?.();
    await this.#open.endBy(deadline);
  }

  /** Cuts every connection. */
  async cut(): Promise<void> {
    await this.close(AbortSignal.abort());
  }
}
