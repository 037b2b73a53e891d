/**
 * Limits the TLS handshakes of one server. The answer to a ClientHello takes the server about a millisecond, for the
 * signature, and takes the client nothing: a client that opens many connections could block the event loop. So a
 * handshake begins when its ClientHello is complete, few begin in an iteration of the event loop, and all together take
 * about half of the time. Further connections wait, and the addresses of the clients take turns.
 */
import type { Socket } from 'node:net';
import { ClientHello } from './client-hello.ts';
import { networkOf } from './client-network.ts';
import { HandshakeTurns } from './handshake-turns.ts';

/** Handshakes that begin in one iteration. */
const MOST_BEGUN = 4;
/** In each window, handshakes take this time, or that of the last ones which began before it was over. */
const WINDOW_MS = 10;
const MOST_SPENT_MS = 5;
const PAUSE_MS = 5;
/** A handshake that takes longer is ended when another one waits and no more may begin. */
const SLOW_MS = 2000;

/** Connections with a complete ClientHello, in order of arrival, and what begins their handshake. */
type Queue = Map<Socket, () => void>;

export interface HandshakeLimits {
  /** A connection whose handshake has not ended after this time is closed. */
  readonly durationMs: number;
  /** Handshakes that have begun and not ended. With a low limit, clients that stay silent delay others. */
  readonly unfinished: number;
}

export class HandshakePacing {
  readonly #limits: HandshakeLimits;
  /** The connections before the end of their handshake, with their time limits. */
  readonly #timers = new Map<Socket, NodeJS.Timeout>();
  /** By the address of the client. No queue is empty. The first address is the next one. */
  readonly #waiting = new Map<string, Queue>();
  /** The handshakes that have begun, with the time. The oldest is first. */
  readonly #unfinished = new Map<Socket, number>();
  readonly #turns = new HandshakeTurns();
  /** The start of the window, and the time that handshakes have taken in it. */
  #windowMs = 0;
  #spentMs = 0;
  /** Whether a callback that begins the next handshakes is scheduled. */
  #isScheduled = false;

  constructor(limits: HandshakeLimits) {
    this.#limits = limits;
  }

  /**
   * Calls `begin`, which gives the connection to a TLS server, when its ClientHello is there and it may begin. Until
   * then nothing else may read the connection. `begin` can read all bytes that have arrived.
   */
  add(connection: Socket, begin: () => void): void {
    const hello = new ClientHello(connection);
    const address = networkOf(connection.remoteAddress);
    // The limit of the TLS server begins later. It does not notice the end of every connection while it reads nothing.
    this.#timers.set(connection, setTimeout(() => connection.destroy(), this.#limits.durationMs).unref());
    connection.once('close', () => {
      this.#leave(address, connection);
      this.end(connection);
    });
    const start = (): void => {
      hello.giveBack();
      begin();
    };
    hello.read(() => this.#wait(address, connection, start));
  }

  /** The handshake of this connection has ended. */
  end(connection: Socket): void {
    clearTimeout(this.#timers.get(connection));
    this.#timers.delete(connection);
    this.#turns.delete(connection);
    if (this.#unfinished.delete(connection)) this.#beginSome();
  }

  #wait(address: string, connection: Socket, begin: () => void): void {
    const queue: Queue = this.#waiting.get(address) ?? new Map();
    this.#waiting.set(address, queue.set(connection, begin));
    this.#beginSome();
  }

  /** A closed connection is not kept with its bytes until its turn. */
  #leave(address: string, connection: Socket): void {
    const queue = this.#waiting.get(address);
    if (queue?.delete(connection) === true && queue.size === 0) this.#waiting.delete(address);
  }

  #beginSome(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    const started = performance.now();
    if (started - this.#windowMs >= WINDOW_MS) {
      this.#windowMs = started;
      this.#spentMs = 0;
    }
    if (this.#spentMs >= MOST_SPENT_MS || !this.#hasRoom()) {
      setTimeout(() => this.#beginMore(), PAUSE_MS);
      return;
    }
    for (let count = 0; count < MOST_BEGUN && this.#waiting.size > 0 && this.#hasRoom(); count++)
      this.#beginNext(started);
    // The server reads the ClientHello after this callback, and before the immediates.
    setImmediate(() => {
      this.#spentMs += performance.now() - started;
      this.#beginMore();
    });
  }

  #beginMore(): void {
    this.#isScheduled = false;
    this.#beginSome();
  }

  #beginNext(now: number): void {
    const [first] = this.#waiting;
    const [next] = first?.[1] ?? [];
    if (first === undefined || next === undefined) return;
    const [address, queue] = first;
    const [connection, begin] = next;
    queue.delete(connection);
    // The address is the last one now.
    this.#waiting.delete(address);
    if (queue.size > 0) this.#waiting.set(address, queue);
    // Its event `close` comes later.
    if (connection.destroyed) return;
    this.#unfinished.set(connection, now);
    this.#turns.add(connection);
    begin();
  }

  #hasRoom(): boolean {
    if (this.#unfinished.size < this.#limits.unfinished) return true;
    const [oldest] = this.#unfinished;
    if (oldest === undefined || performance.now() - oldest[1] < SLOW_MS) return false;
    this.#unfinished.delete(oldest[0]);
    oldest[0].destroy();
    return true;
  }
}
