/**
 * One client's connection through the proxy: two sockets, and between them every message looked at before it goes on. A
 * direction that is held back keeps its messages in order.
 */
import type { Socket } from 'node:net';
import type { Fault, Place } from './fault.ts';
import {
  errorMessage,
  MessageReader,
  queryMessage,
  type Side,
  statementMessages,
  type WireMessage,
} from './messages.ts';

export type Aim = (message: WireMessage, place: Place) => Fault | null;

const BEGINS = /^\s*(BEGIN|START TRANSACTION)\b/i;
const REFUSE_ENCRYPTION = Buffer.from('N');
/** Answers the client did not ask for, to the statement put in place of its own. */
const EXTRA_ANSWERS = ['ParseComplete', 'BindComplete'];

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
  readonly #aim: Aim;
  readonly #frontend: Direction;
  readonly #backend: Direction;
  readonly #unwanted: string[] = [];
  #inTransaction = false;
  #silent = false;
  #over = false;

  constructor(number: number, sockets: { readonly client: Socket; readonly server: Socket }, aim: Aim) {
    this.number = number;
    this.#aim = aim;
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

  /** Whether a black hole swallows what passes here. */
  get isSilent(): boolean {
    return this.#silent;
  }

  /** Ends both sides at once, as a machine that lost its memory would. */
  reset(): void {
    this.#silent = false;
    this.#reset();
  }

  /** From now on nothing passes, and nobody is told. */
  silence(): void {
    this.#silent = true;
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
    const fault = this.#aim(message, { connection: this.number, position: this.#positionOf(one, message) });
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
    // A reset could overtake what was just written; an orderly end arrives behind it.
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
   * A frontend's statement is replaced by one that fails in the server itself, so that everything that follows from a failure
   * follows. A backend's reply is merely replaced.
   */
  #failing(sqlstate: string, side: Side, message: WireMessage): Buffer {
    if (side === 'backend') return errorMessage(sqlstate, 'put in place by the proxy');
    const sql =
      sqlstate === '57P01'
        ? 'SELECT pg_terminate_backend(pg_backend_pid())'
        : `DO $$ BEGIN RAISE EXCEPTION 'put in place by the proxy' USING ERRCODE = '${sqlstate}'; END $$`;
    if (message.kind === 'Query') return queryMessage(sql);
    this.#unwanted.push(...EXTRA_ANSWERS);
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

/** A local socket knows no reset. */
export function resetSocket(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
