/** The ports of a worker. The primary listens for it, and hands a share of the connections off to it. */
import type { Socket } from 'node:net';
import { keyOf } from '../../net/listener.ts';
import type { OpenPort } from '../../net/port.ts';
import { errorOf, type PortReply, type PortRequest } from './messages.ts';

/** A port that the primary has been asked to open. */
interface Opening {
  opened(address: string): void;
  failed(error: Error): void;
}

export class HandedOffPorts {
  readonly #send: (request: PortRequest) => void;
  readonly #openings = new Map<string, Opening>();
  readonly #handlers = new Map<string, (connection: Socket) => void>();

  constructor(send: (request: PortRequest) => void) {
    this.#send = send;
  }

  readonly open: OpenPort = async (endpoint, request, accept) => {
    const key = keyOf(endpoint, request);
    // Connections may arrive directly after the reply.
    this.#handlers.set(key, accept);
    try {
      const address = await new Promise<string>((opened, failed) => {
        this.#openings.set(key, { opened, failed });
        this.#send({ kind: 'listen', key, endpoint, request });
      });
      return {
        address,
        limit: (limits) => this.#send({ kind: 'limit', key, request: limits }),
        close: () => {
          this.#handlers.delete(key);
          this.#send({ kind: 'unlisten', key });
        },
      };
    } catch (error) {
      this.#handlers.delete(key);
      throw error;
    }
  };

  /** `connection` comes with a message of kind `connection`. */
  receive(reply: PortReply, connection: Socket | undefined): void {
    if (reply.kind === 'connection') {
      this.#accept(reply.key, connection);
      return;
    }
    const opening = this.#openings.get(reply.key);
    this.#openings.delete(reply.key);
    if (reply.kind === 'opened') opening?.opened(reply.address);
    else opening?.failed(errorOf(reply.fault));
  }

  #accept(key: string, connection: Socket | undefined): void {
    const accept = this.#handlers.get(key);
    const closed = (): void => this.#send({ kind: 'closed', key });
    // The connection may have been closed during the hand-off, or the port released.
    if (connection === undefined || accept === undefined) {
      connection?.destroy();
      closed();
      return;
    }
    connection.once('close', closed);
    // A hand-off does not transfer the options of the primary's socket.
    connection.allowHalfOpen = true;
    connection.setNoDelay(true);
    accept(connection);
  }
}
