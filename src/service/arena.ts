/**
 * The memory of one pass at a time: the tables of a request, and the state of processors for these tables. It is
 * created at its first use. A large arena is dropped after some time without use, because its pages stay resident while
 * it exists; a small one is kept, because the code that was compiled for its objects is of no use for others. An arena
 * is dropped at once when it has become very large: a body of another kind writes to other pages, so the memory would
 * grow to the sum of what each kind needs.
 */
import type { Processor } from '../component/processor.ts';
import type { Steps } from '../pdata/steps.ts';
import { Intake } from '../pdata/index-body.ts';
import { compileWire } from '../pdata/load-wasm.ts';
import { TableUsage } from '../pdata/table-usage.ts';
import { beginCollection, collectGarbage } from './collect-garbage.ts';

/** The time without a pass after which a large arena is dropped. */
const IDLE_MS = 20_000;
/** A small arena. A request of 64 model calls with content needs 0.4 MiB. */
const SMALL_BYTES = 8 * 1024 * 1024;
/** The tables that are kept for the next request: those of 16 MiB of spans, but not of 16 MiB of escaped text. */
const MAX_RESIDENT_BYTES = 60 * 1024 * 1024;

export class Arena {
  readonly #pauses: boolean;
  /** Compiled at the start: the files of the package may be replaced while the daemon runs. */
  readonly #module: WebAssembly.Module;
  #intake: Intake | null = null;
  #usage = new TableUsage();
  /** The processors that have been prepared for the tables. */
  #prepared = new WeakSet<Processor>();
  #idle: NodeJS.Timeout | null = null;

  /** `pauses`: for bodies that take long to index and to encode. */
  constructor({ pauses }: { readonly pauses: boolean }) {
    this.#pauses = pauses;
    this.#module = compileWire(pauses);
  }

  /** For a pass, which must call `release` at its end, with any outcome. Prepares processors in steps. */
  *acquire(processors: readonly Processor[]): Steps<Intake> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
    const intake = (this.#intake ??= new Intake({ pauses: this.#pauses, module: this.#module }));
    for (const processor of processors) {
      if (this.#prepared.has(processor)) continue;
      yield;
      processor.prepare?.(intake.tables);
      this.#prepared.add(processor);
    }
    return intake;
  }

  release(): void {
    if (this.#intake === null) return;
    this.#usage.note(this.#intake.tables);
    const { bytes } = this.#usage;
    if (bytes > MAX_RESIDENT_BYTES) {
      this.#drop();
      // The pages of a memory are released when it is collected, which is not possible while the caller refers to it.
      // Otherwise those of the next memory would be added to them.
      setImmediate(collectGarbage);
      return;
    }
    if (bytes > SMALL_BYTES) this.#idle ??= setTimeout(() => this.#dropIdle(), IDLE_MS).unref();
  }

  #dropIdle(): void {
    this.#drop();
    beginCollection();
  }

  #drop(): void {
    this.#intake = null;
    this.#usage = new TableUsage();
    this.#prepared = new WeakSet();
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
  }
}
