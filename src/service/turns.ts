/**
 * Passes run one after the other, a few milliseconds of them at a time, so that the process looks at its sockets in between:
 * under more load than it can work off, it still reads the next headers at once and can refuse them at once. What waits has been
 * read, and is bounded by the receivers' byte budget; how long it may wait is decided here.
 */
import { Rejection } from '../errors.ts';

/** Passes of one look at the sockets take about this long together. A longer single pass is not divided. */
const SLICE_MS = 2;
/** Who comes now would wait longer than the second after which it may come again. */
const MAX_WAIT_MS = 1000;
/**
 * One look at the sockets accepts one connection, and nobody can be refused who has not been accepted: under load, the looks go on
 * while newcomers come, at most so many. By number, not by time: the first look takes longest, with all that came during the passes.
 */
const MOST_LOOKS = 16;
/** So many looks without a newcomer end them: what one look accepts, the next one reads. */
const QUIET_LOOKS = 2;
/** Under load, passes get at least this part of the time that the looks took, however many come to be refused. */
const PASSES_PART = 1 / 3;
/** Looks end after this. What takes longer between two passes is a pause of the process, and will not come with each. */
const LONGEST_LOOKS_MS = 50;
/** So few are no load: they never wait long enough to be sent away, however large they are. */
const ALWAYS_ADMITTED = 16;
/** What a request costs beside its bytes, expressed in bytes. */
const REQUEST_BYTES = 4096;
/** Each pass weighs this much less than the one after it in what is expected of the next. */
const DECAY = 0.97;

interface Waiting {
  readonly bytes: number;
  /** Does the work and settles its promise. */
  run(): void;
}

export interface TurnsOptions {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Calls back once the sockets have been looked at. */
  afterSockets(callback: () => void): void;
}

export class Turns {
  readonly #now: () => number;
  readonly #afterSockets: (callback: () => void) => void;
  /** Only those that have not had their turn: an entry holds a body. */
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #scheduled = false;
  /** Spent since the sockets were last looked at. */
  #sliceMs = 0;
  /** Who asked to be admitted since then. */
  #newcomers = 0;
  #lookingSince = 0;
  #looks = 0;
  /** In a row. */
  #quietLooks = 0;
  /** When the last pass ended, if others waited then. */
  #busySince: number | null = null;
  /** By the clock while others wait: a pass and what the sockets took before it. */
  #spentMs = 0;
  #spentBytes = 0;

  constructor({ now, afterSockets }: TurnsOptions) {
    this.#now = now;
    this.#afterSockets = afterSockets;
  }

  /** How many requests wait for their turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Milliseconds that a request would wait that came now, judged by the passes before it. */
  get expectedWaitMs(): number {
    return this.#spentBytes === 0 ? 0 : (this.#waitingBytes * this.#spentMs) / this.#spentBytes;
  }

  /** Throws `overloaded` when a newcomer would wait too long. */
  admit(): void {
    this.#newcomers++;
    if (this.waiting < ALWAYS_ADMITTED) return;
    if (this.expectedWaitMs > MAX_WAIT_MS) {
      throw new Rejection('overloaded', { hint: `${this.waiting} requests wait for their turn` });
    }
  }

  /** Does the work in its turn: at once when nothing waits, otherwise after what came before. `bytes` is the size of its body. */
  run<T>(bytes: number, work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const cost = bytes + REQUEST_BYTES;
      const run = (): void => {
        try {
          resolve(this.#measured(cost, work));
        } catch (error) {
          reject(error);
        }
      };
      if (!this.#scheduled) this.#look();
      if (this.waiting === 0 && this.#sliceMs < SLICE_MS) return run();
      this.#waiting.push({ bytes: cost, run });
      this.#waitingBytes += cost;
    });
  }

  #measured<T>(cost: number, work: () => T): T {
    const started = this.#now();
    try {
      return work();
    } finally {
      const ended = this.#now();
      this.#sliceMs += ended - started;
      const looked = Math.min(started - (this.#busySince ?? started), LONGEST_LOOKS_MS);
      this.#spentMs = this.#spentMs * DECAY + looked + ended - started;
      this.#spentBytes = this.#spentBytes * DECAY + cost;
      this.#busySince = this.waiting > 0 ? ended : null;
    }
  }

  #look(): void {
    this.#lookingSince = this.#now();
    this.#looks = 0;
    this.#quietLooks = 0;
    this.#schedule();
  }

  #schedule(): void {
    this.#scheduled = true;
    this.#afterSockets(() => {
      if (this.#isWorthAnotherLook()) this.#schedule();
      else this.#slice();
    });
  }

  #isWorthAnotherLook(): boolean {
    this.#quietLooks = this.#newcomers > 0 ? 0 : this.#quietLooks + 1;
    this.#newcomers = 0;
    if (this.waiting < ALWAYS_ADMITTED || this.#now() - this.#lookingSince >= LONGEST_LOOKS_MS) return false;
    return this.#quietLooks < QUIET_LOOKS && ++this.#looks < MOST_LOOKS;
  }

  /** How long the passes of this slice may take. */
  #mostMs(): number {
    if (this.waiting < ALWAYS_ADMITTED) return SLICE_MS;
    const looksMs = Math.min(this.#now() - this.#lookingSince, LONGEST_LOOKS_MS);
    return Math.max(SLICE_MS, looksMs * PASSES_PART);
  }

  #slice(): void {
    this.#scheduled = false;
    this.#sliceMs = 0;
    const most = this.#mostMs();
    while (this.#sliceMs < most) {
      const turn = this.#waiting.shift();
      if (turn === undefined) return;
      this.#waitingBytes -= turn.bytes;
      turn.run();
    }
    if (this.waiting > 0) this.#look();
  }
}
