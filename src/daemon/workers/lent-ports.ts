/** A worker's side of the shared ports: it asks the primary to listen, and is given its share of the connections. */
import type { Socket } from 'node:net';
import type { OpenPort } from '../../net/port.ts';
import { keyOf } from '../../net/listener.ts';
import { errorOf } from './fault.ts';
import type { Order, PortReport } from './messages.ts';

type PortOrder = Extract<Order, { readonly kind: 'opened' | 'not_opened' | 'connection' }>;

interface Asking {
  opened(address: string): void;
  failed(error: Error): void;
}

export class LentPorts {
  readonly #say: (report: PortReport) => void;
  readonly #asking = new Map<string, Asking>();
  readonly #accepting = new Map<string, (connection: Socket) => void>();

  constructor(say: (report: PortReport) => void) {
    this.#say = say;
  }

  readonly open: OpenPort = async (endpoint, request, accept) => {
    const key = keyOf(endpoint, request);
    // Connections may come right behind the answer.
    this.#accepting.set(key, accept);
    try {
      const address = await new Promise<string>((opened, failed) => {
        this.#asking.set(key, { opened, failed });
        this.#say({ kind: 'listen', key, endpoint, request });
      });
      return {
        address,
        limit: (limits) => this.#say({ kind: 'limit', key, request: limits }),
        close: () => {
          this.#accepting.delete(key);
          this.#say({ kind: 'leave', key });
        },
      };
    } catch (error) {
      this.#accepting.delete(key);
      throw error;
    }
  };

  /** What the primary says about them; `connection` is there where it gives one. */
  hear(order: PortOrder, connection: Socket | undefined): void {
    if (order.kind === 'connection') {
      this.#take(order.key, connection);
      return;
    }
    const asking = this.#asking.get(order.key);
    this.#asking.delete(order.key);
    if (order.kind === 'opened') asking?.opened(order.address);
    else asking?.failed(errorOf(order.fault));
  }

  #take(key: string, connection: Socket | undefined): void {
    const accept = this.#accepting.get(key);
    const over = (): void => this.#say({ kind: 'closed', key });
    // It may have been closed on its way, or the port given up.
    if (connection === undefined || accept === undefined) {
      connection?.destroy();
      over();
      return;
    }
    connection.once('close', over);
    // What the primary's socket had does not travel.
    connection.allowHalfOpen = true;
    connection.setNoDelay(true);
    accept(connection);
  }
}
