/**
 * One HTTP connection: its bytes are given to the parser in pieces, and at its end the client has time to read the last
 * answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ReadBuffer } from './read-buffer.ts';

/** With this many pending answers the connection is not read further. */
const MOST_DUE = 8;
/** The size of a piece for the parser: it holds few requests even when they are very small. */
const PIECE_BYTES = 1024;
/** The size of a piece of a body without a known length. */
const BODY_PIECE_BYTES = 8192;
/** After this many requests in a row that stored nothing, further ones are read at a limited rate. */
const MOST_UNSTORED = 16;
/** The size of a piece of their heads. */
const UNSTORED_PIECE_BYTES = 256;
const PIECE_SIZES: Readonly<Record<Bytes, number>> = {
  heads: PIECE_BYTES,
  bodies: BODY_PIECE_BYTES,
  unstored: UNSTORED_PIECE_BYTES,
};
/** After the last answer, further bytes of the client are discarded for this time and up to this size. */
const LINGER_MS = 1000;
const LINGER_BYTES = 256 * 1024;

/** Records the use of the connection and its project for the connection limit. */
export type Mark = (use: 'idle' | 'reading' | 'working', project: string) => void;

/**
 * Separate budgets: large bodies must not delay new requests, and new requests must not delay bodies. `unstored`: heads
 * on a connection whose last requests stored nothing, for example because of a wrong key.
 */
export type Bytes = 'heads' | 'bodies' | 'unstored';

/**
 * Shared by the connections of one server: the time in one iteration of the event loop, and the order of waiting
 * connections.
 */
export interface Pacing {
  readonly readBuffer: ReadBuffer;
  /** Whether bytes behind the request cannot be trusted, so that its connection closes. */
  isAmbiguous(request: IncomingMessage): boolean;
  /** Whether this iteration has time left for bytes of this kind. */
  hasTime(bytes: Bytes): boolean;
  /** Counts the time of the work against this iteration. */
  spend(bytes: Bytes, work: () => void): void;
  /** The connection continues in a later iteration. */
  await(connection: PacedConnection, bytes: Bytes, gotNothing: boolean): void;
}

type Parse = (bytes: Buffer) => void;

export class PacedConnection {
  readonly #socket: Socket;
  readonly #pacing: Pacing;
  /** The listener with which node:http feeds its parser. */
  readonly #parse: Parse | undefined;
  /** The number of pending answers. */
  #due = 0;
  /** The request that began last. */
  #latest: IncomingMessage | null = null;
  /** The number of requests since the last one that was stored. */
  #unstored = 0;
  /** The number of next bytes that belong to the body of the latest request. */
  #bodyBytes = 0;
  /** Received bytes wait in the socket. */
  #waits = false;
  #isClosing = false;
  #discarded = 0;

  readonly mark: Mark;

  constructor(socket: Socket, pacing: Pacing, mark: Mark) {
    this.mark = mark;
    this.#socket = socket;
    this.#pacing = pacing;
    this.#parse = socket.listeners('data')[0] as Parse | undefined;
    if (this.#parse === undefined) return;
    socket.removeListener('data', this.#parse);
    socket.on('data', (bytes: Buffer) => this.#take(bytes, false));
    pacing.readBuffer.adopt(socket, (bytes) => this.#take(bytes, true));
  }

  /** A request has begun. False when the connection is closing. */
  begin(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.#isClosing) return false;
    // At once, because later requests of the same piece must not begin.
    if (this.#pacing.isAmbiguous(request)) this.close();
    this.#due++;
    this.#unstored++;
    this.#latest = request;
    response.once('close', () => {
      this.#due--;
      if (this.#waits && this.#due === MOST_DUE - 1) this.#pacing.await(this, this.#expected, false);
    });
    return true;
  }

  /** A request was stored, or was refused for a reason of the server. */
  noteProgress(): void {
    this.#unstored = 0;
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /** Nothing was read or written for a while. The client waits for an answer unless it has unread ones. */
  closeUnlessWorking(): void {
    if (this.#due === 0 || this.#socket.writableLength > 0) this.#socket.destroy();
  }

  /** Continues to read the socket. */
  continueReading(): void {
    this.#waits = false;
    this.#socket.resume();
  }

  /**
   * Serves no further request and closes the connection after the pending answers. It sends FIN first: closing a
   * connection with unread bytes sends a reset, which can discard the answer.
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
    this.continueReading();
  }

  /** `isShared`: the bytes are not valid later. */
  #take(bytes: Buffer, isShared: boolean): void {
    let rest = bytes;
    while (rest.length > 0) {
      if (this.#isClosing) {
        this.#discard(rest.length);
        return;
      }
      const expected = this.#expected;
      if (this.#due >= MOST_DUE || !this.#pacing.hasTime(expected)) {
        this.#leave(rest, isShared, rest === bytes);
        return;
      }
      const piece = rest.subarray(0, this.#sizeOfPiece());
      this.#pacing.spend(expected, () => this.#feed(piece));
      rest = rest.subarray(piece.length);
      // node:http has paused the socket for a reader of the body or of answers, and resumes it.
      if (rest.length > 0 && !this.#isClosing && this.#socket.isPaused()) {
        this.#keep(rest, isShared);
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

  /** The kind of the next bytes. */
  get #expected(): Bytes {
    if (this.#latest?.complete === false) return 'bodies';
    return this.#unstored < MOST_UNSTORED ? 'heads' : 'unstored';
  }

  #sizeOfPiece(): number {
    if (this.#bodyBytes > PIECE_BYTES) return this.#bodyBytes;
    return PIECE_SIZES[this.#expected];
  }

  #leave(rest: Buffer, isShared: boolean, gotNothing: boolean): void {
    this.#waits = true;
    this.#socket.pause();
    this.#keep(rest, isShared);
    if (this.#due < MOST_DUE) this.#pacing.await(this, this.#expected, gotNothing);
  }

  #keep(rest: Buffer, isShared: boolean): void {
    if (!this.#socket.destroyed) this.#socket.unshift(isShared ? Buffer.from(rest) : rest);
  }

  #discard(bytes: number): void {
    this.#discarded += bytes;
    if (this.#discarded > LINGER_BYTES) this.#socket.pause();
  }
}
