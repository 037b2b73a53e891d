/**
 * The request of a component for a listening socket. The process owns the sockets: they outlive the service that uses
 * them.
 */
import type { Socket } from 'node:net';

/** An endpoint of the configuration. */
export interface ListenPlace {
  readonly endpoint: string;
  /** The option of the endpoint, for hints: `receivers.otlp.protocols.http.endpoint`. */
  readonly option: string;
}

export interface ListenRequest extends ListenPlace {
  /** Connections open at once; further ones are dropped. */
  readonly maxConnections?: number;
  /** The permissions of a Unix domain socket. */
  readonly socketMode?: number;
}

/** Serves the connections of a port. */
export interface ConnectionHandler {
  /** The handler owns the connection from now on. No byte of it has been read. */
  accept(connection: Socket): void;
  /**
   * New connections go to `next` from now on; null when they come to this handler again, because `next` gave up the
   * port.
   */
  succeededBy?(next: ConnectionHandler | null): void;
}

/** The use of a listening socket by one handler. */
export interface Listener {
  /** As bound: the port differs from the configured one when that is 0. */
  readonly address: string;
  /** Ends the connections to this handler. The socket closes unless another handler uses it. Works twice. */
  close(): void;
}

/** Opens ports for a component. */
export interface Listeners {
  /** Rejects with a `UserError` when the endpoint cannot be opened. */
  listen(request: ListenRequest, handler: ConnectionHandler): Promise<Listener>;
}
