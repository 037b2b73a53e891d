/** One connection over HTTP: its bytes reach the parser in pieces, and at its end the client has time to read the last answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isAmbiguous } from './one-reading.ts';

/** With this many answers due the connection is not read further. */
const MOST_DUE = 8;
/** The parser is given this much at a time, so that a piece holds few requests even when they are as small as can be. */
const PIECE_BYTES = 1024;
/** And this much of a body whose length is not known. */
const BODY_PIECE_BYTES = 8192;
/** After the last answer, what the client still sends is thrown away, for this long and up to this much. */
const LINGER_MS = 1000;
const LINGER_BYTES = 256 * 1024;

/** Tells those that count connections what this one is used for, and by which project. */
export type Mark = (use: 'idle' | 'reading' | 'working', project: string) => void;

/** Large bodies must not delay new requests, nor new requests the bodies of those that are being read. */
export type Bytes = 'heads' | 'bodies';

/** What the connections of one server share: the time of one turn of the event loop, and the order of those that wait. */
export interface Pacing {
  /** Whether this turn has time left for such bytes. */
  hasTime(bytes: Bytes): boolean;
  /** Counts the time of the work against this turn. */
  spend(bytes: Bytes, work: () => void): void;
  /** The connection goes on in a later turn. */
  await(connection: PacedConnection, bytes: Bytes, gotNothing: boolean): void;
}

type Parse = (bytes: Buffer) => void;

export class PacedConnection {
  readonly #socket: Socket;
  readonly #pacing: Pacing;
  /** The listener with which node:http feeds its parser. */
  readonly #parse: Parse | undefined;
  /** Answers that are due. */
  #due = 0;
  /** The request that began last. */
  #latest: IncomingMessage | null = null;
  /** Bytes to come that certainly belong to the body of the latest request. */
  #bodyBytes = 0;
  /** Some of what arrived waits in the socket. */
  #waits = false;
  #isClosing = false;
  #thrownAway = 0;

  readonly mark: Mark;

  constructor(socket: Socket, pacing: Pacing, mark: Mark) {
    this.mark = mark;
    this.#socket = socket;
    this.#pacing = pacing;
    this.#parse = socket.listeners('data')[0] as Parse | undefined;
    if (this.#parse === undefined) return;
    socket.removeListener('data', this.#parse);
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
  }

  /** A request has begun. False when the connection is closing. */
  begin(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.#isClosing) return false;
    // At once: what follows in the same piece must not be begun.
    if (isAmbiguous(request)) this.close();
    this.#due++;
    this.#latest = request;
    response.once('close', () => {
      this.#due--;
      if (this.#waits && this.#due === MOST_DUE - 1) this.#pacing.await(this, this.#expected, false);
    });
    return true;
  }

  /** What waits in the socket may be taken. */
  goOn(): void {
    this.#waits = false;
    this.#socket.resume();
  }

  /**
   * Nothing that follows is served, and the connection closes after the answers that are due. It closes one way first: a
   * connection with unread bytes is reset when it closes, and the reset can overtake the answer.
   */
  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    const socket = this.#socket;
    // node:http calls this after the answer that says `Connection: close`.
    socket.destroySoon = () => {
      socket.end();
      const timer = setTimeout(() => socket.destroy(), LINGER_MS);
      socket.once('close', () => clearTimeout(timer));
    };
    this.goOn();
  }

  #take(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0) {
      if (this.#isClosing) {
        this.#throwAway(rest.length);
        return;
      }
      const expected = this.#expected;
      if (this.#due >= MOST_DUE || !this.#pacing.hasTime(expected)) {
        this.#leave(rest, rest === bytes);
        return;
      }
      const piece = rest.subarray(0, this.#sizeOfPiece());
      this.#pacing.spend(expected, () => this.#feed(piece));
      rest = rest.subarray(piece.length);
      // node:http waits for a reader of the body, or of answers, and resumes by itself.
      if (rest.length > 0 && !this.#isClosing && this.#socket.isPaused()) {
        this.#keep(rest);
        return;
      }
    }
  }

  #feed(piece: Buffer): void {
    const before = this.#latest;
    this.#parse?.call(this.#socket, piece);
    if (this.#latest === before) this.#bodyBytes -= piece.length;
    else this.#bodyBytes = Number(this.#latest?.headers['content-length'] ?? 0) - piece.length;
  }

  /** What the bytes to come belong to, first of all. */
  get #expected(): Bytes {
    return this.#latest?.complete === false ? 'bodies' : 'heads';
  }

  #sizeOfPiece(): number {
    if (this.#bodyBytes > PIECE_BYTES) return this.#bodyBytes;
    return this.#expected === 'bodies' ? BODY_PIECE_BYTES : PIECE_BYTES;
  }

  #leave(rest: Buffer, gotNothing: boolean): void {
    this.#waits = true;
    this.#socket.pause();
    this.#keep(rest);
    if (this.#due < MOST_DUE) this.#pacing.await(this, this.#expected, gotNothing);
  }

  #keep(rest: Buffer): void {
    if (!this.#socket.destroyed) this.#socket.unshift(rest);
  }

  #throwAway(bytes: number): void {
    this.#thrownAway += bytes;
    if (this.#thrownAway > LINGER_BYTES) this.#socket.pause();
  }
}
