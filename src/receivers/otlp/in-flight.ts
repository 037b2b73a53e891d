/** Counts the requests in flight of one protocol, and waits for the last of them. */

export class InFlight {
  readonly #waiting: (() => void)[] = [];
  #count = 0;

  begin(): void {
    this.#count++;
  }

  end(): void {
    this.#count--;
    if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when no request is in flight, or the deadline aborts. */
  async idle(deadline: AbortSignal): Promise<void> {
    if (this.#count === 0 || deadline.aborted) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      deadline.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
