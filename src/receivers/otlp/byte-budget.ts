/**
 * Limits the bytes of all requests in flight, with a fair share for each project. A request reserves bytes before it
 * uses them, so memory is bounded. Without room it is refused with `overloaded` and can be sent again. Buffers are
 * pooled, because V8 counts their memory and otherwise collects the whole heap about every hundred bodies.
 */
import { FairBudget } from '../../component/fair-budget.ts';
import { ChunkPool } from '../../pdata/chunk-pool.ts';

export class ByteBudget {
  readonly #shares: FairBudget;
  readonly #pool = new ChunkPool();

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

/**
 * The bytes of one request: the buffers of its body, and bytes reserved elsewhere. `close` releases all and may be
 * called twice.
 */
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

  /**
   * Reserves bytes for an expansion outside these buffers, in place of the earlier estimate, which stays reserved when
   * this throws `overloaded`.
   */
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

/** Changes a reservation from one number of bytes to another. Throws `overloaded`. */
type Share = (before: number, after: number) => void;

/** A buffer from the pool. Its bytes are reserved before it is taken. */
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
   * Replaces the buffer by one of `size` bytes that begins with the first `kept` bytes of the old one. It must not be
   * used after `close`. Throws `overloaded`.
   */
  grow(size: number, kept: number): Buffer {
    this.#share(this.#bytes, size);
    this.#bytes = size;
    const larger = this.#pool.take(size);
    this.#buffer?.copy(larger, 0, 0, kept);
    if (this.#buffer !== null) this.#pool.give(this.#buffer);
    this.#buffer = larger;
    return larger;
  }

  close(): void {
    this.#share(this.#bytes, 0);
    this.#bytes = 0;
    if (this.#buffer !== null) this.#pool.give(this.#buffer);
    this.#buffer = null;
  }
}
