/**
 * The bytes of all requests in flight, bounded. A request reserves before its bytes are read, so memory is bounded by
 * construction; who finds no room is refused with `overloaded` and comes back a second later.
 */
import { Rejection } from '../../errors.ts';

export class ByteBudget {
  readonly limitBytes: number;
  #reservedBytes = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  get reservedBytes(): number {
    return this.#reservedBytes;
  }

  open(): Reservation {
    return new Reservation(this);
  }

  /** For `Reservation` only. */
  take(bytes: number): void {
    if (this.#reservedBytes + bytes > this.limitBytes) {
      throw new Rejection('overloaded', { hint: 'bytes in flight', limit_bytes: this.limitBytes });
    }
    this.#reservedBytes += bytes;
  }

  /** For `Reservation` only. */
  give(bytes: number): void {
    this.#reservedBytes -= bytes;
  }
}

/** One request's share. `close` gives all of it back and may be called twice. */
export class Reservation {
  readonly #budget: ByteBudget;
  #bytes = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Throws `overloaded`; what was reserved before stays reserved until `close`. */
  add(bytes: number): void {
    this.#budget.take(bytes);
    this.#bytes += bytes;
  }

  close(): void {
    this.#budget.give(this.#bytes);
    this.#bytes = 0;
  }
}
