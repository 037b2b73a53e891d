/** The channel of connections from the primary to one worker process. Each start of a worker has another one. */
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { PrimaryMessage } from './messages.ts';
import type { Holder } from './shared-ports.ts';

/** An open socket of the system. Closing it again does nothing. */
interface Handle {
  close(): void;
}

export class ConnectionChannel implements Holder {
  readonly #child: ChildProcess;
  /** Connections that are being sent, with the callback for a failure. */
  readonly #sending = new Map<Socket, () => void>();
  /** The last connection that was sent. Node sends the next one when the process has confirmed this one. */
  #lastSent: Handle | null = null;
  #ended = false;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  handOff(key: string, connection: Socket, returned: () => void): void {
    const handle = handleOf(connection);
    this.#sending.set(connection, returned);
    const sent = (error: Error | null): void => {
      const isOurs = this.#sending.delete(connection);
      if (error !== null && isOurs) returned();
      else if (!this.#ended) this.#lastSent = handle;
      else handle?.close();
    };
    if (this.#child.connected)
      this.#child.send({ kind: 'connection', key } satisfies PrimaryMessage, connection, {}, sent);
    else sent(new Error('the worker is gone'));
  }

  /** The process has exited: returns the connections that it did not get. */
  end(): void {
    this.#ended = true;
    // Node keeps a connection open that the process has not confirmed: its client would wait for an answer.
    this.#lastSent?.close();
    this.#lastSent = null;
    // A connection without a handle was sent; its callback follows.
    const returning = [...this.#sending].filter(([connection]) => handleOf(connection) !== null);
    for (const [connection, returned] of returning) {
      this.#sending.delete(connection);
      returned();
    }
  }
}

/** Null when the connection is closed or was sent. Node has no documented way to close a connection that was sent. */
const handleOf = (connection: Socket): Handle | null =>
  (connection as unknown as { readonly _handle: Handle | null })._handle;
