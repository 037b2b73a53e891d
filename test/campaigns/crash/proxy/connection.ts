/**
 * One client's connection through the proxy: two sockets; every message is inspected before it is forwarded. A
 * direction that is held keeps its messages in order.
 */
import type { Socket } from 'node:net';
import type { Fault, MessageContext } from './fault.ts';
import {
  errorMessage,
  MessageReader,
  queryMessage,
  type Side,
  statementMessages,
  type WireMessage,
} from './messages.ts';

/** The fault to inject at a message, if any. */
export type FaultFor = (message: WireMessage, context: MessageContext) => Fault | null;

const BEGINS = /^\s*(BEGIN|START TRANSACTION)\b/i;
const REFUSE_ENCRYPTION = Buffer.from('N');
/** Replies to the substituted statement that the client does not expect. */
const EXTRA_REPLIES = ['ParseComplete', 'BindComplete'];

interface Direction {
  readonly side: Side;
  readonly from: Socket;
  readonly to: Socket;
  readonly reader: MessageReader;
  readonly queue: WireMessage[];
  held: boolean;
  ended: boolean;
  /** Number of the next message within the transaction. */
  position: number;
}

export class ProxiedConnection {
  readonly number: number;
  readonly #faultFor: FaultFor;
  readonly #frontend: Direction;
  readonly #backend: Direction;
  readonly #unwanted: string[] = [];
  #inTransaction = false;
  #silent = false;
  #over = false;

  constructor(number: number, sockets: { readonly client: Socket; readonly server: Socket }, faultFor: FaultFor) {
    this.number = number;
    this.#faultFor = faultFor;
    this.#frontend = direction('frontend', sockets.client, sockets.server);
    this.#backend = direction('backend', sockets.server, sockets.client);
    for (const one of [this.#frontend, this.#backend]) {
      one.from.setNoDelay(true);
      one.from.on('data', (chunk: Buffer) => this.#take(one, chunk));
      one.from.on('end', () => this.#end(one));
      one.from.on('error', () => this.#reset());
      one.from.on('close', () => this.#closed(one));
    }
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** Whether a black hole drops all data of this connection. */
  get isSilent(): boolean {
    return this.#silent;
  }

  /** Resets both sides, also behind a black hole. */
  reset(): void {
    this.#silent = false;
    this.#reset();
  }

  #take(one: Direction, chunk: Buffer): void {
    if (this.#silent || this.#over) return;
    one.queue.push(...one.reader.push(chunk));
    this.#pump(one);
  }

  #pump(one: Direction): void {
    while (!one.held && !this.#silent && !this.#over) {
      const message = one.queue.shift();
      if (message === undefined) break;
      this.#pass(one, message);
    }
    if (one.ended && one.queue.length === 0 && !one.held && !this.#silent) one.to.end();
  }

  #pass(one: Direction, message: WireMessage): void {
    if (message.kind === 'SSLRequest' || message.kind === 'GSSENCRequest') {
      one.from.write(REFUSE_ENCRYPTION);
      return;
    }
    if (this.#unwanted[0] === message.kind) {
      this.#unwanted.shift();
      return;
    }
    const fault = this.#faultFor(message, { connection: this.number, position: this.#positionOf(one, message) });
    if (fault === null) one.to.write(message.bytes);
    else this.#apply(fault, one, message);
  }

  #positionOf(one: Direction, message: WireMessage): number {
    if (
      one.side === 'frontend' &&
      (message.kind === 'Query' || message.kind === 'Execute') &&
      BEGINS.test(message.text)
    ) {
      this.#inTransaction = true;
      this.#frontend.position = 0;
      this.#backend.position = 0;
    }
    return this.#inTransaction ? one.position++ : -1;
  }

  #apply(fault: Fault, one: Direction, message: WireMessage): void {
    switch (fault.kind) {
      case 'cut':
        this.#cut(fault.where, one, message);
        return;
      case 'half_close':
        one.held = true;
        one.to.end();
        return;
      case 'black_hole':
        this.#silent = true;
        return;
      case 'delay':
        this.#hold(one, message, new Promise((resolve) => setTimeout(resolve, fault.ms)));
        return;
      case 'hold':
        this.#hold(one, message, fault.until);
        return;
      case 'late':
        this.#deliverLate(one, message, fault.ms);
        return;
      case 'swallow':
        return;
      case 'error':
        one.to.write(this.#failing(fault.sqlstate, one.side, message));
        return;
      case 'call':
        if (fault.where === 'before') fault.action();
        one.to.write(message.bytes);
        if (fault.where === 'after') fault.action();
    }
  }

  #cut(where: 'before' | 'inside' | 'after', one: Direction, message: WireMessage): void {
    this.#over = true;
    resetSocket(one.from);
    if (where === 'before') {
      resetSocket(one.to);
      return;
    }
    const bytes = where === 'inside' ? message.bytes.subarray(0, message.bytes.length >> 1) : message.bytes;
    // A reset could discard the bytes just written. A FIN arrives after them.
    one.to.end(bytes);
  }

  #hold(one: Direction, message: WireMessage, until: Promise<void>): void {
    one.held = true;
    void until.then(() => {
      one.held = false;
      if (this.#over) return;
      if (!this.#silent) one.to.write(message.bytes);
      this.#pump(one);
    });
  }

  #deliverLate(one: Direction, message: WireMessage, ms: number): void {
    this.#over = true;
    resetSocket(one.from);
    setTimeout(() => one.to.end(message.bytes), ms);
  }

  /**
   * A frontend's statement is replaced by one that fails in the server, with all consequences of a failure for the
   * transaction. A backend's reply is replaced by an error only on its way to the client.
   */
  #failing(sqlstate: string, side: Side, message: WireMessage): Buffer {
    if (side === 'backend') return errorMessage(sqlstate, 'injected by the proxy');
    const sql =
      sqlstate === '57P01'
        ? 'SELECT pg_terminate_backend(pg_backend_pid())'
        : `DO $$ BEGIN RAISE EXCEPTION 'injected by the proxy' USING ERRCODE = '${sqlstate}'; END $$`;
    if (message.kind === 'Query') return queryMessage(sql);
    this.#unwanted.push(...EXTRA_REPLIES);
    return statementMessages(sql);
  }

  #end(one: Direction): void {
    one.ended = true;
    this.#pump(one);
  }

  #closed(one: Direction): void {
    if (this.#silent || this.#over || one.held) return;
    this.#over = true;
    one.to.end();
  }

  #reset(): void {
    if (this.#silent || this.#over) return;
    this.#over = true;
    resetSocket(this.#frontend.from);
    resetSocket(this.#frontend.to);
  }
}

function direction(side: Side, from: Socket, to: Socket): Direction {
  return { side, from, to, reader: new MessageReader(side), queue: [], held: false, ended: false, position: 0 };
}

/**
 * A Unix socket has no reset. Node.js never closes a socket that is reset while its FIN waits to be sent, and a process
 * with one does not end.
 */
export function resetSocket(socket: Socket): void {
  if (socket.remoteAddress === undefined || socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
