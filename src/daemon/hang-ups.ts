/**
 * SIGHUP, which asks the daemon to load its configuration again. Before the daemon runs a signal is remembered, because
 * the configuration may have been read before it was changed.
 */
export class HangUps {
  #serve: (() => void) | null = null;
  #remembered = false;

  constructor(process: NodeJS.Process) {
    process.on('SIGHUP', () => {
      if (this.#serve === null) this.#remembered = true;
      else this.#serve();
    });
  }

  /** Serves the signals from now on, and those that are remembered by one call. */
  serve(serve: () => void): void {
    this.#serve = serve;
    if (this.#remembered) serve();
  }
}
