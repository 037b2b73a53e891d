/** The connections that are open at one server, and the end of them: waiting for it, and forcing it at a deadline. */
import type { Socket } from 'node:net';

export class OpenConnections {
  readonly #open = new Set<Socket>();
  readonly #waiting: (() => void)[] = [];

  add(connection: Socket): void {
    this.#open.add(connection);
    connection.once('close', () => {
      this.#open.delete(connection);
      if (this.#open.size === 0) for (const ended of this.#waiting.splice(0)) ended();
    });
  }

  /** Resolves when no connection is left. */
  async ended(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Those that never said anything are cut now, those that are left when the deadline aborts then. Works twice. */
  async endBy(deadline: AbortSignal): Promise<void> {
    for (const connection of this.#open) if (connection.bytesRead === 0) connection.destroy();
    const cut = (): void => {
      for (const connection of this.#open) connection.destroy();
    };
    if (deadline.aborted) cut();
    else deadline.addEventListener('abort', cut, { once: true });
    await this.ended();
    deadline.removeEventListener('abort', cut);
  }
}
