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
    const share: Share = (before, after) => {
      if (after > before) this.#shares.reserve(project, after - before);
      else this.#shares.release(project, before - after);
    };
    return new Reservation(share, this.#pool);
  }
}

/** Changes a reservation from one number of bytes to another. Throws `overloaded`. */
type Share = (before: number, after: number) => void;

/** A buffer from the pool for one body as it arrives. Its bytes are reserved before it is taken. */
export class Reservation {
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

  /** Releases all. May be called twice. */
  close(): void {
    this.#share(this.#bytes, 0);
    this.#bytes = 0;
    if (this.#buffer !== null) this.#pool.give(this.#buffer);
    this.#buffer = null;
  }
}
