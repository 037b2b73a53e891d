/**
 * The bytes of all requests in flight, bounded. A request reserves before its bytes are read, so memory is bounded by
 * construction; who finds no room is refused with `overloaded` and comes back a second later. The buffers are used again and
 * again: the engine counts what buffers hold beside its heap, and would collect the whole heap every hundred bodies or so.
 */
import { Rejection } from '../../errors.ts';
import { ChunkPool } from '../../model/chunk-pool.ts';

/** What is kept while no request needs it. */
const IDLE_BYTES = 8 * 1024 * 1024;

export class ByteBudget {
  readonly limitBytes: number;
  /** For `Reservation` only. */
  readonly pool = new ChunkPool(IDLE_BYTES);
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

/** One request's share, and the buffer of its body. `close` gives all of it back and may be called twice. */
export class Reservation {
  readonly #budget: ByteBudget;
  #bytes = 0;
  #buffer: Buffer | null = null;
  #bufferBytes = 0;
  #expandedBytes = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Throws `overloaded`; what was reserved before stays reserved until `close`. */
  #add(bytes: number): void {
    this.#budget.take(bytes);
    this.#bytes += bytes;
  }

  /** For what the body expands to, in place of what it was said to. Throws `overloaded`. */
  expand(bytes: number): void {
    this.#add(bytes - this.#expandedBytes);
    this.#expandedBytes = bytes;
  }

  /**
   * A buffer of `size` bytes in place of the one before, whose first `kept` bytes it begins with. Nobody may use it after `close`.
   * Throws `overloaded`.
   */
  grow(size: number, kept: number): Buffer {
    this.#add(size - this.#bufferBytes);
    const larger = this.#budget.pool.take(size);
    this.#buffer?.copy(larger, 0, 0, kept);
    this.#giveBuffer();
    this.#buffer = larger;
    this.#bufferBytes = size;
    return larger.subarray(0, size);
  }

  close(): void {
    this.#budget.give(this.#bytes);
    this.#bytes = 0;
    this.#giveBuffer();
  }

  #giveBuffer(): void {
    if (this.#buffer !== null) this.#budget.pool.give(this.#buffer);
    this.#buffer = null;
    this.#bufferBytes = 0;
  }
}
