/** Sends what is left when the process ends: at SIGTERM and SIGINT, and when it has nothing more to do. */

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

const SIGNAL_EXIT = Symbol.for('signal-exit emitter');

export interface Ending {
  /** Sends what has been recorded so far. */
  flush(): Promise<void>;
  /** Sends the rest. When it resolves, the process ends before anything else runs. */
  sendAll(): Promise<void>;
  /** Grows with everything that is recorded. */
  recorded(): number;
}

/** Returns a function that removes the listeners. */
export function sendAtEnd({ flush, sendAll, recorded }: Ending): () => void {
  let flushed = -1;
  let isEnding = false;
  const atRest = (): void => {
    // The flush keeps the process running, so this event is emitted again after it.
    if (recorded() === flushed) return;
    flushed = recorded();
    void flush();
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    // With listeners of its own, the application decides when it ends. It may record more until then.
    if (process.listenerCount(signal) - passiveListeners() > 1) return void flush();
    const end = (): void => {
      stop();
      process.kill(process.pid, signal);
    };
    // A second signal ends the process at once.
    if (isEnding) {
      end();
      return;
    }
    isEnding = true;
    // The listener stays until everything is sent: without it, `signal-exit` would end the process now.
    void sendAll().finally(end);
  };
  const stop = (): void => {
    process.off('beforeExit', atRest);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  process.on('beforeExit', atRest);
  // First in the list: a listener that was added with `once` is no longer counted after its call.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal);
  return stop;
}

interface Emitter {
  readonly count?: unknown;
}

/**
 * The listeners of `signal-exit`, a package below many others. They end the process only when no other listener is
 * there, so waiting for them would keep the process. Version 3 and version 4 each set their number here.
 */
function passiveListeners(): number {
  const emitters = [
    (process as { readonly __signal_exit_emitter__?: Emitter }).__signal_exit_emitter__,
    (globalThis as { readonly [SIGNAL_EXIT]?: Emitter })[SIGNAL_EXIT],
  ];
  return emitters.reduce((sum, emitter) => sum + (typeof emitter?.count === 'number' ? emitter.count : 0), 0);
}
