/**
 * An application for the tests of a process that ends. It sets up the client from the environment and ends spans,
 * numbered from 0. Each ended span is one byte of the file `COUNT_FILE`, which is known also after a signal.
 */
import { openSync, writeSync } from 'node:fs';
import { trace } from '@opentelemetry/api';
import { onExit } from 'signal-exit';
import { flush, setup } from '../../src/client/setup.ts';

setup();

const { COUNT_FILE = '', MODE = '', SPANS = '0' } = process.env;
const file = openSync(COUNT_FILE, 'a');
const tracer = trace.getTracer('program');
const count = { ended: 0 };
/** Spans per round of the busy program. */
const BURST = 4;
/** Two times this fits the queue of the client. */
const UNSENT = 1000;

function endSpan(): void {
  tracer.startSpan(`span ${count.ended}`).end();
  writeSync(file, '.');
  count.ended += 1;
  if (count.ended === Number(SPANS)) process.stdout.write('enough\n');
}

const MODES: Readonly<Record<string, () => void>> = {
  /** Works until it is ended. It does not flush after "enough", because a signal may have come. */
  busy: () => {
    let unsent = 0;
    let isSending = false;
    const isEnough = (): boolean => count.ended >= Number(SPANS);
    setInterval(() => {
      if (isSending) return;
      const limit = isEnough() ? 2 * UNSENT : UNSENT;
      for (let index = 0; index < BURST && unsent < limit; index += 1, unsent += 1) endSpan();
      if (isEnough() || unsent < UNSENT) return;
      isSending = true;
      void flush().then(() => {
        isSending = false;
        unsent = 0;
      });
    }, 1);
  },
  /** Ends by itself. */
  short: () => {
    for (let index = 0; index < Number(SPANS); index += 1) endSpan();
  },
  /** Has a listener of its own, and ends more spans after the signal. */
  graceful: () => {
    const open = setInterval(() => undefined, 1000);
    endSpan();
    process.once('SIGTERM', () => {
      setImmediate(() => {
        void flush().then(() => {
          endSpan();
          clearInterval(open);
        });
      });
    });
  },
  /** Waits, with a package that ends the process only when nothing else listens for the signal. */
  cleaning: () => {
    setInterval(() => undefined, 1000);
    onExit(() => void process.stdout.write('cleaned\n'));
    endSpan();
  },
  /** Has ended a span and waits. */
  waiting: () => {
    setInterval(() => undefined, 1000);
    endSpan();
  },
};

MODES[MODE]?.();
