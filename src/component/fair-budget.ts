/**
 * A byte budget shared by projects. A holder may take more while it holds at most a fixed multiple of the free bytes
 * (dynamic thresholds, Choudhury and Hahne 1998). One project alone gets nearly the whole limit, N greedy projects
 * converge to equal shares, and a small part stays free for projects that hold little. There are no timers and no
 * queues: a reservation succeeds or is refused at once.
 */
import { Rejection } from '../errors.ts';

/** A holder may hold this multiple of the free bytes: 8/9 of the limit alone, 8/(1 + 8N) as one of N greedy holders. */
const SHARE_FACTOR = 8;
/**
 * This part of the limit is reserved for small holders. Greedy holders that arrive one after the other would leave too
 * little.
 */
const SET_ASIDE_PART = 32;
/** A holder with at most this part of the limit is small: 256 KiB of 256 MiB. */
const SMALL_PART = 1024;

/**
 * Holders without bytes that are remembered. A map that loses and gains an entry with each request is rehashed again
 * and again, and the engine chains its old tables: after a full collection each scavenge follows the chain, which takes
 * milliseconds.
 */
const MAX_IDLE_HOLDERS = 1024;

interface Holding {
  bytes: number;
}

export interface FairBudgetOptions {
  readonly limitBytes: number;
  /** The name of the bytes, for the hint of a refusal. */
  readonly what?: string;
}

export class FairBudget {
  readonly limitBytes: number;
  readonly #what: string;
  readonly #holdings = new Map<string, Holding>();
  /** Entries without bytes. */
  #idle = 0;
  #heldBytes = 0;

  constructor({ limitBytes, what = 'bytes in flight' }: FairBudgetOptions) {
    this.limitBytes = limitBytes;
    this.#what = what;
  }

  /** The total of all holders. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The number of holders with bytes. */
  get holders(): number {
    return this.#holdings.size - this.#idle;
  }

  heldBy(holder: string): number {
    return this.#holdings.get(holder)?.bytes ?? 0;
  }

  /** Whether these bytes could be reserved now. */
  hasRoom(holder: string, bytes: number): boolean {
    return this.#boundReached(holder, bytes) === null;
  }

  /** Throws `overloaded` when these bytes could not be reserved now. */
  requireRoom(holder: string, bytes: number): void {
    const bound = this.#boundReached(holder, bytes);
    if (bound !== null)
      throw new Rejection('overloaded', { hint: `${this.#what}: ${bound}`, limit_bytes: this.limitBytes });
  }

  /** Reserves bytes, or throws `overloaded` and reserves nothing. */
  reserve(holder: string, bytes: number): void {
    this.requireRoom(holder, bytes);
    if (bytes === 0) return;
    const holding = this.#holdings.get(holder);
    if (holding === undefined) this.#holdings.set(holder, { bytes });
    else {
      if (holding.bytes === 0) this.#idle--;
      holding.bytes += bytes;
    }
    this.#heldBytes += bytes;
  }

  /** Releases reserved bytes. */
  release(holder: string, bytes: number): void {
    checkBytes(bytes);
    if (bytes === 0) return;
    const holding = this.#holdings.get(holder);
    if (holding === undefined || holding.bytes < bytes)
      throw new RangeError(`${bytes} bytes cannot be released, ${holding?.bytes ?? 0} are held`);
    holding.bytes -= bytes;
    this.#heldBytes -= bytes;
    if (holding.bytes === 0 && ++this.#idle > MAX_IDLE_HOLDERS) this.#forgetIdle();
  }

  #forgetIdle(): void {
    for (const [holder, { bytes }] of this.#holdings) if (bytes === 0) this.#holdings.delete(holder);
    this.#idle = 0;
  }

  /** Why these bytes cannot be reserved; null when they can. */
  #boundReached(holder: string, bytes: number): string | null {
    checkBytes(bytes);
    if (bytes === 0) return null;
    const free = this.limitBytes - this.#heldBytes - bytes;
    if (free < 0) return 'the limit of all projects together is reached';
    return this.#isWithinShare(this.heldBy(holder) + bytes, free) ? null : 'the share of this project is reached';
  }

  /** `held` by the holder and `free` in total, both after the reservation. */
  #isWithinShare(held: number, free: number): boolean {
    // While nothing else is held, one reservation may take everything, because it would not fit later either.
    if (this.#heldBytes === 0 || held <= this.limitBytes / SMALL_PART) return true;
    return held <= SHARE_FACTOR * (free - this.limitBytes / SET_ASIDE_PART);
  }
}

function checkBytes(bytes: number): void {
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw new RangeError(`${bytes} is not a number of bytes`);
}
