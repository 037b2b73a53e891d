/**
 * Limits the TLS handshakes of one server. The answer to a ClientHello takes the server about a millisecond, for the
 * signature, and takes the client nothing: a client that opens many connections could block the event loop. So a
 * handshake begins when its ClientHello has arrived, few begin in an iteration of the event loop, and all together take
 * about half of the time. Further ones wait, and the addresses of the clients take turns.
 */
import type { Socket } from 'node:net';

/** The time of the handshakes that begin in one iteration, and the pause after them. */
const TURN_MS = 5;
/** Handshakes that have begun and not ended. Their clients may all continue at once. */
const MOST_UNFINISHED = 64;
/** A handshake that takes longer is ended when another one waits and no more may begin. */
const SLOW_MS = 2000;

interface Waiting {
  readonly connection: Socket;
  readonly begin: () => void;
}

export class HandshakePacing {
  readonly #helloMs: number;
  /** By the address of the client, in the order in which they continue. No queue is empty. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** The handshakes that have begun, with the time. The oldest is first. */
  readonly #unfinished = new Map<Socket, number>();
  #spentMs = 0;
  #isPaused = false;

  /** `helloMs`: a connection without a ClientHello is ended after this time. */
  constructor(helloMs: number) {
    this.#helloMs = helloMs;
  }

  /** Calls `begin`, which gives the connection to a TLS server, when its ClientHello is there and it may continue. */
  add(connection: Socket, begin: () => void): void {
    const timer = setTimeout(() => connection.destroy(), this.#helloMs).unref();
    connection.once('close', () => {
      clearTimeout(timer);
      this.end(connection);
    });
    awaitHello(connection, () => {
      clearTimeout(timer);
      const address = connection.remoteAddress ?? '';
      const queue = this.#waiting.get(address);
      if (queue === undefined) this.#waiting.set(address, [{ connection, begin }]);
      else queue.push({ connection, begin });
      this.#goOn();
    });
  }

  /** The handshake of this connection has ended. */
  end(connection: Socket): void {
    this.#unfinished.delete(connection);
  }

  #goOn(): void {
    if (this.#isPaused || this.#waiting.size === 0) return;
    if (this.#spentMs >= TURN_MS || !this.#hasRoom()) {
      this.#pause();
      return;
    }
    const waiting = this.#next();
    if (waiting === null) return;
    const started = performance.now();
    this.#unfinished.set(waiting.connection, started);
    waiting.begin();
    // The server has arranged to read the ClientHello in a callback before this one.
    process.nextTick(() => {
      this.#spentMs += performance.now() - started;
      this.#goOn();
    });
  }

  #pause(): void {
    this.#isPaused = true;
    setTimeout(() => {
      this.#isPaused = false;
      this.#spentMs = 0;
      this.#goOn();
    }, TURN_MS);
  }

  #hasRoom(): boolean {
    if (this.#unfinished.size < MOST_UNFINISHED) return true;
    const [oldest] = this.#unfinished;
    if (oldest === undefined || performance.now() - oldest[1] < SLOW_MS) return false;
    this.end(oldest[0]);
    oldest[0].destroy();
    return true;
  }

  /** Null when all that waited are closed. */
  #next(): Waiting | null {
    for (const [address, queue] of this.#waiting) {
      this.#waiting.delete(address);
      const next = queue.splice(0, queue.findIndex(({ connection }) => !connection.destroyed) + 1).pop();
      if (next === undefined) continue;
      if (queue.length > 0) this.#waiting.set(address, queue);
      return next;
    }
    return null;
  }
}

const RECORD_HEAD_BYTES = 5;
const LENGTH_AT = 3;
const HANDSHAKE_RECORD = 0x16;

/** Calls `done` when the first TLS record is there, or something else. The connection can then be read from its start. */
function awaitHello(connection: Socket, done: () => void): void {
  let hello = Buffer.alloc(0);
  const read = (): void => {
    const bytes = connection.read() as Buffer | null;
    if (bytes !== null) hello = Buffer.concat([hello, bytes]);
    if (bytes !== null && !isWhole(hello)) return;
    connection.off('readable', read);
    if (hello.length > 0) connection.unshift(hello);
    done();
  };
  connection.on('readable', read);
}

/** The TLS server refuses what is no handshake. RFC 8446 §5.1. */
function isWhole(bytes: Buffer): boolean {
  if (bytes[0] !== HANDSHAKE_RECORD) return true;
  return bytes.length >= RECORD_HEAD_BYTES && bytes.length >= RECORD_HEAD_BYTES + bytes.readUInt16BE(LENGTH_AT);
}
