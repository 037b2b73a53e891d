/**
 * The connections of an HTTP server that does not listen itself but is handed what a listener accepted. It keeps what
 * node:http does for a listening server: time limits, closing what is idle, cutting what is left.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionHandler } from '../component/listening.ts';
import { OpenConnections, type Use } from './open-connections.ts';

export class HttpConnections implements ConnectionHandler {
  readonly #server: Server;
  readonly #begin: (connection: Socket) => void;
  readonly #open: OpenConnections;

  /**
   * `begin` is given each connection, and the server what comes of it; left out: the connection itself, at once. `limit` is the
   * number of connections open at once; left out: no limit.
   */
  constructor(
    server: Server,
    begin = (connection: Socket): void => void server.emit('connection', connection),
    limit = Number.POSITIVE_INFINITY,
  ) {
    this.#server = server;
    this.#begin = begin;
    this.#open = new OpenConnections(limit);
    // node:http begins to watch its time limits with this event; without a port of its own it would never come.
    server.emit('listening');
  }

  accept(connection: Socket): void {
    if (this.#open.add(connection)) this.#begin(connection);
  }

  /** What one of the accepted connections is used for. */
  mark(connection: Socket, use: Exclude<Use, 'new'>, holder: string): void {
    this.#open.mark(connection, use, holder);
  }

  /** Resolves when no connection is left. */
  ended(): Promise<void> {
    return this.#open.ended();
  }

  /** Closes idle connections now, the others after their answer; `deadline` cuts what is left. Works twice. */
  async close(deadline: AbortSignal): Promise<void> {
    // That it does not listen is no error here: what matters is that idle connections and timers go.
    this.#server.close(() => undefined);
    // node:http counts a connection that has not said anything yet as busy.
    await this.#open.endBy(deadline);
  }

  /** Cuts every connection. */
  async cut(): Promise<void> {
    await this.close(AbortSignal.abort());
  }
}
