/**
 * Spreads the starts of HTTP/2 sessions over iterations of the event loop. A client may send many calls behind the
 * preface, and node:http2 gives those of one read at once, before anything is known of the client.
 */

/** Sessions that start in one iteration. */
const MOST_STARTED = 2;

export class SessionStarts<Connection> {
  readonly #start: (connection: Connection) => void;
  readonly #waiting: Connection[] = [];
  #started = 0;

  constructor(start: (connection: Connection) => void) {
    this.#start = start;
  }

  /** Starts the session of the connection now, or in a later iteration. */
  add(connection: Connection): void {
    if (this.#started >= MOST_STARTED) {
      this.#waiting.push(connection);
      return;
    }
    if (this.#started++ === 0) setImmediate(() => this.#continue());
    this.#start(connection);
  }

  #continue(): void {
    this.#started = 0;
    for (const connection of this.#waiting.splice(0, MOST_STARTED)) this.add(connection);
  }
}
