/** How a component asks for a listening socket. The process owns the sockets: they outlive the service that listens on them. */
import type { Socket } from 'node:net';

export interface ListenRequest {
  readonly endpoint: string;
  /** The option it stands in, for hints: `receivers.otlp.protocols.http.endpoint`. */
  readonly option: string;
  /** Open at once; further ones are dropped. */
  readonly maxConnections?: number;
  /** The permissions of a Unix domain socket. */
  readonly socketMode?: number;
}

/** Who serves what connects. */
export interface ConnectionHandler {
  /** Not read from yet. The connection is the handler's from here on. */
  accept(connection: Socket): void;
  /** New connections go to `next` from now on; null when they come here again, because `next` gave up. */
  succeededBy?(next: ConnectionHandler | null): void;
}

/** One handler's hold on a listening socket. */
export interface Listener {
  /** As bound: the port differs from the configured one when that was 0. */
  readonly address: string;
  /** No more connections. The socket itself closes unless another handler holds it too. Works twice. */
  close(): void;
}

/** What a component asks for a port. */
export interface Listeners {
  /** Rejects with a `UserError` when nothing can listen there. */
  listen(request: ListenRequest, handler: ConnectionHandler): Promise<Listener>;
}
