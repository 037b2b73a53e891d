/**
 * The memory of one pass at a time: the tables of a request, and what processors keep for these tables. Every place in which
 * passes run has one. It is made at its first use, and a large one is given up after a while without use: its pages stay
 * resident as long as it lives.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Processor } from '../component/processor.ts';
import type { Steps } from '../pdata/steps.ts';
import { Intake } from '../pdata/index-body.ts';

/** How long an arena that is not kept outlives its last pass. */
const IDLE_MS = 20_000;

export class Arena {
  readonly #isKept: boolean;
  readonly #pauses: boolean;
  #intake: Intake | null = null;
  /** The processors that have been prepared for the tables. */
  #prepared = new WeakSet<Processor>();
  #idle: NodeJS.Timeout | null = null;

  /** `isKept`: never given up. `pauses`: for bodies that take long to index and to encode. */
  constructor({ isKept = false, pauses = false }: { readonly isKept?: boolean; readonly pauses?: boolean }) {
    this.#isKept = isKept;
    this.#pauses = pauses;
  }

  /** For a pass, which calls `release` when it is over, whatever its outcome. What has to be made is made in steps. */
  *acquire(processors: readonly Processor[]): Steps<Intake> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
    const intake = (this.#intake ??= new Intake({ pauses: this.#pauses }));
    for (const processor of processors) {
      if (this.#prepared.has(processor)) continue;
      yield;
      processor.prepare?.(intake.tables);
      this.#prepared.add(processor);
    }
    return intake;
  }

  release(): void {
    if (this.#isKept || this.#idle !== null) return;
    this.#idle = setTimeout(() => this.#drop(), IDLE_MS);
    this.#idle.unref();
  }

  #drop(): void {
    this.#intake = null;
    this.#prepared = new WeakSet();
    this.#idle = null;
    collectGarbage();
  }
}

/** Pages of a memory are given back when it is collected, and the engine collects nothing while the process is idle. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
