/** Reloads of the configuration, one at a time. Requests that arrive during a reload are served by one more reload. */

export interface ReloadOutcome {
  readonly loaded: boolean;
  /** Why it was not loaded. */
  readonly problems: readonly string[];
}

export interface ReloadHooks {
  /** Whether a reload is possible now, and systemd may be notified of it. */
  isRunning(): boolean;
  begin(): void;
  /** Never rejects. */
  reload(): Promise<ReloadOutcome>;
  end(): void;
}

export class Reloads {
  readonly #hooks: ReloadHooks;
  #waiting: ((outcome: ReloadOutcome) => void)[] = [];
  #busy = false;

  constructor(hooks: ReloadHooks) {
    this.#hooks = hooks;
  }

  /** Resolves after a reload that began after this call. */
  request(): Promise<ReloadOutcome> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#busy) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const answered = this.#waiting;
      this.#waiting = [];
      // During the start no reload is possible, and systemd must not be notified that the daemon is ready.
      if (this.#hooks.isRunning()) this.#hooks.begin();
      const outcome = await this.#hooks.reload();
      for (const answer of answered) answer(outcome);
    }
    this.#busy = false;
    if (this.#hooks.isRunning()) this.#hooks.end();
  }
}
