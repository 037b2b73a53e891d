/**
 * Reports that the process has no free file descriptor. Node.js does not: it accepts the waiting connections with one
 * that it keeps for this case, and closes them at once.
 */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { diskRemedy } from '../component/disk-remedy.ts';
import type { Logger } from '../component/logger.ts';
import { errorCode } from '../errors.ts';

const TICK_MS = 1_000;

export class OpenFileWatch {
  readonly #logger: Pick<Logger, 'info' | 'error'>;
  readonly #tryOpen: () => void;
  #isFull = false;

  constructor(logger: Pick<Logger, 'info' | 'error'>, tryOpen = openOne) {
    this.#logger = logger;
    this.#tryOpen = tryOpen;
  }

  start(): void {
    setInterval(() => this.tick(), TICK_MS).unref();
  }

  /** Reports only changes. */
  tick(): void {
    const wasFull = this.#isFull;
    const fault = this.#findFault();
    this.#isFull = fault !== null;
    if (this.#isFull === wasFull) return;
    if (fault === null) this.#logger.info({}, 'files can be opened again, and connections are accepted');
    else this.#logger.error({ fix: diskRemedy(fault) }, 'too many files are open: new connections are closed at once');
  }

  /** Null when a file can be opened. Other faults do not concern the number of files. */
  #findFault(): unknown {
    try {
      this.#tryOpen();
      return null;
    } catch (error) {
      return ['EMFILE', 'ENFILE'].includes(errorCode(error)) ? error : null;
    }
  }
}

function openOne(): void {
  closeSync(openSync(devNull, 'r'));
}
