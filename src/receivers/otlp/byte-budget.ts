/**
 * The bytes of all requests in flight, bounded, with a fair share for each project. A request reserves room before it is used,
 * so memory is bounded by construction. A request that finds no room is refused with `overloaded` and can be sent again. Buffers
 * are pooled: the engine counts what buffers hold beside its heap, and would collect the whole heap every hundred bodies or so.
 */
import { FairBudget } from '../../component/fair-budget.ts';
import { ChunkPool } from '../../pdata/chunk-pool.ts';

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

/** What one request holds: the buffers of its body, and what is reserved without one. `close` gives all of it back and may be called twice. */
export class Reservation {
  /** The body as it arrives. */
  readonly raw: GrowingBuffer;
  /** The body as it expands. */
  readonly expanded: GrowingBuffer;
  readonly project: string;
  readonly #share: Share;
  #expandedBytes = 0;

  constructor(shares: FairBudget, pool: ChunkPool, project: string) {
    this.project = project;
    this.#share = (before, after) => {
      if (after > before) shares.reserve(project, after - before);
      else shares.release(project, before - after);
    };
    this.raw = new GrowingBuffer(this.#share, pool);
    this.expanded = new GrowingBuffer(this.#share, pool);
  }

  /** For what the body expands to elsewhere, in place of the estimate before it. Throws `overloaded`; the estimate stays reserved then. */
  expand(bytes: number): void {
    this.#share(this.#expandedBytes, bytes);
    this.#expandedBytes = bytes;
  }

  close(): void {
    this.expand(0);
    this.raw.close();
    this.expanded.close();
  }
}

/** Reserves one number of bytes in place of another. Throws `overloaded`. */
type Share = (before: number, after: number) => void;

/** A buffer from the pool whose bytes are reserved before they are taken. */
export class GrowingBuffer {
  readonly #share: Share;
  readonly #pool: ChunkPool;
  #buffer: Buffer | null = null;
  #bytes = 0;

  constructor(share: Share, pool: ChunkPool) {
    this.#share = share;
    this.#pool = pool;
  }

  /**
   * A buffer of `size` bytes in place of the one before, whose first `kept` bytes it begins with. It must not be used after
   * `close`. Throws `overloaded`.
   */
  grow(size: number, kept: number): Buffer {
    this.#share(this.#bytes, size);
    this.#bytes = size;
    const larger = this.#pool.take(size);
    this.#buffer?.copy(larger, 0, 0, kept);
    if (this.#buffer !== null) this.#pool.give(this.#buffer);
    this.#buffer = larger;
    return larger.subarray(0, size);
  }

  close(): void {
    this.#share(this.#bytes, 0);
    this.#bytes = 0;
    if (this.#buffer !== null) this.#pool.give(this.#buffer);
    this.#buffer = null;
  }
}
