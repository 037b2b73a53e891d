/**
 * Bytes of many projects under one limit. A holder may take more while what it holds is at most a fixed multiple of what is
 * free (dynamic thresholds, Choudhury and Hahne 1998). So one project alone gets nearly the whole limit, N greedy projects
 * converge to equal shares, and a small part stays free for projects that hold little. There are no timers and no queues: a
 * reservation succeeds or is refused at once.
 */
import { Rejection } from '../errors.ts';

/** A holder may hold this many times what is free: 8/9 of the limit when it is alone, 8/(1 + 8N) as one of N greedy holders. */
const SHARE_FACTOR = 8;
/** This part of the limit is kept for small holders. Greedy holders that come one after the other would leave too little. */
const SET_ASIDE_PART = 32;
/** A holder with at most this part of the limit is small: 256 KiB of 256 MiB. */
const SMALL_PART = 1024;

export interface FairBudgetOptions {
  readonly limitBytes: number;
  /** What the bytes are, for the hint of a refusal. */
  readonly what?: string;
}

export class FairBudget {
  readonly limitBytes: number;
  readonly #what: string;
  /** Only holders that hold something, so the number of entries is bounded by the bytes held. */
  readonly #held = new Map<string, number>();
  #heldBytes = 0;

  constructor({ limitBytes, what = 'bytes in flight' }: FairBudgetOptions) {
    this.limitBytes = limitBytes;
    this.#what = what;
  }

  /** Held by all holders together. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** How many holders hold something. */
  get holders(): number {
    return this.#held.size;
  }

  heldBy(holder: string): number {
    return this.#held.get(holder) ?? 0;
  }

  /** Throws `overloaded` when there is no room, and reserves nothing then. */
  reserve(holder: string, bytes: number): void {
    checkBytes(bytes);
    if (bytes === 0) return;
    const held = this.heldBy(holder) + bytes;
    const free = this.limitBytes - this.#heldBytes - bytes;
    if (free < 0) throw this.#refusal('the limit of all projects together is reached');
    if (!this.#isWithinShare(held, free)) throw this.#refusal('the share of this project is reached');
    this.#held.set(holder, held);
    this.#heldBytes += bytes;
  }

  /** Gives back what was reserved. */
  release(holder: string, bytes: number): void {
    checkBytes(bytes);
    const left = this.heldBy(holder) - bytes;
    if (left < 0) throw new RangeError(`${bytes} bytes cannot be released, ${this.heldBy(holder)} are held`);
    if (left === 0) this.#held.delete(holder);
    else this.#held.set(holder, left);
    this.#heldBytes -= bytes;
  }

  /** `held` by the holder and `free` for all, both after the reservation. */
  #isWithinShare(held: number, free: number): boolean {
    // While nothing else is held, one reservation may take everything: it would not fit later either.
    if (this.#heldBytes === 0 || held <= this.limitBytes / SMALL_PART) return true;
    return held <= SHARE_FACTOR * (free - this.limitBytes / SET_ASIDE_PART);
  }

  #refusal(bound: string): Rejection {
    return new Rejection('overloaded', { hint: `${this.#what}: ${bound}`, limit_bytes: this.limitBytes });
  }
}

function checkBytes(bytes: number): void {
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw new RangeError(`${bytes} is not a number of bytes`);
}
