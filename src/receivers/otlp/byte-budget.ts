/**
 * The bytes of all requests in flight, bounded, with a fair share for each project. A request reserves room before it is used,
 * so memory is bounded by construction. A request that finds no room is refused with `overloaded` and can be sent again. Buffers
 * are pooled: the engine counts what buffers hold beside its heap, and would collect the whole heap every hundred bodies or so.
 */
import { FairBudget } from '../../component/fair-budget.ts';
import { ChunkPool } from '../../model/chunk-pool.ts';

/** What is kept while no request needs it. */
const IDLE_BYTES = 8 * 1024 * 1024;

export class ByteBudget {
  readonly #shares: FairBudget;
  readonly #pool = new ChunkPool(IDLE_BYTES);

  constructor(limitBytes: number) {
    this.#shares = new FairBudget({ limitBytes });
  }

  get reservedBytes(): number {
    return this.#shares.heldBytes;
  }

  /** For one request of this project. */
  open(project: string): Reservation {
    return new Reservation(this.#shares, this.#pool, project);
  }
}

/** What one request holds, with the buffer of its body. `close` gives all of it back and may be called twice. */
export class Reservation {
  readonly #shares: FairBudget;
  readonly #pool: ChunkPool;
  readonly #project: string;
  #buffer: Buffer | null = null;
  #bufferBytes = 0;
  #expandedBytes = 0;

  constructor(shares: FairBudget, pool: ChunkPool, project: string) {
    this.#shares = shares;
    this.#pool = pool;
    this.#project = project;
  }

  /** For what the body expands to, in place of the estimate before it. Throws `overloaded`; the estimate stays reserved then. */
  expand(bytes: number): void {
    this.#replace(this.#expandedBytes, bytes);
    this.#expandedBytes = bytes;
  }

  /**
   * A buffer of `size` bytes in place of the one before, whose first `kept` bytes it begins with. It must not be used after
   * `close`. Throws `overloaded`.
   */
  grow(size: number, kept: number): Buffer {
    this.#replace(this.#bufferBytes, size);
    const larger = this.#pool.take(size);
    this.#buffer?.copy(larger, 0, 0, kept);
    if (this.#buffer !== null) this.#pool.give(this.#buffer);
    this.#buffer = larger;
    this.#bufferBytes = size;
    return larger.subarray(0, size);
  }

  close(): void {
    this.expand(0);
    this.#replace(this.#bufferBytes, 0);
    this.#bufferBytes = 0;
    if (this.#buffer !== null) this.#pool.give(this.#buffer);
    this.#buffer = null;
  }

  #replace(before: number, after: number): void {
    if (after > before) this.#shares.reserve(this.#project, after - before);
    else this.#shares.release(this.#project, before - after);
  }
}
