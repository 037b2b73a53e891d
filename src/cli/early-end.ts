/**
 * The early end of a command: by a signal, or because its output cannot be written. What the command has begun for
 * itself is undone first: a server that it started, a key that it created, an incomplete file. While there is nothing
 * to undo, a signal has its default action.
 */
import { setTimeout as pause } from 'node:timers/promises';

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** A server that does not stop and a database that does not answer must not hold the process. */
const LONGEST_MS = 20_000;

type Undo = () => unknown;

export class EarlyEnd {
  readonly #host: NodeJS.Process;
  /** The newest last: it is undone first. */
  readonly #undos = new Set<Undo>();
  #stop: (() => void) | null = null;
  #hasBegun = false;

  constructor(host: NodeJS.Process) {
    this.#host = host;
  }

  /** Errors after the begin are consequences of it. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** `undo` may be called while the work continues. Returns the function to call when there is nothing to undo. */
  prepare(undo: Undo): () => void {
    if (this.#undos.size === 0) for (const signal of SIGNALS) this.#host.on(signal, this.#onSignal);
    this.#undos.add(undo);
    return () => {
      if (this.#undos.delete(undo) && this.#undos.size === 0)
        for (const signal of SIGNALS) this.#host.removeListener(signal, this.#onSignal);
    };
  }

  /** The first signal calls `stop`, after which the command ends by itself with its result. A second one ends it. */
  stopAtSignal(stop: () => void): () => void {
    this.#stop = stop;
    const release = this.prepare(() => undefined);
    return () => {
      this.#stop = null;
      release();
    };
  }

  /** Undoes everything and calls `exit`: at once if there is nothing to undo. Only the first call has an effect. */
  begin(exit: () => void): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    if (this.#undos.size === 0) exit();
    else void Promise.race([this.#undoAll(), pause(LONGEST_MS, undefined, { ref: false })]).finally(exit);
  }

  async #undoAll(): Promise<void> {
    for (const undo of [...this.#undos].reverse())
      await Promise.resolve()
        .then(undo)
        .catch(() => undefined);
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    const stop = this.#stop;
    this.#stop = null;
    if (stop !== null) stop();
    else
      this.begin(() => {
        for (const each of SIGNALS) this.#host.removeListener(each, this.#onSignal);
        this.#host.kill(this.#host.pid, signal);
      });
  };
}
