/** The owners of traces: the project that claimed a trace first, and its environment. */
import type { TraceOwner } from './claimed-traces.ts';
import { RecentKeys } from './recent-keys.ts';

interface Held {
  readonly owner: TraceOwner;
  /** The number of its traces. */
  traces: number;
}

export class OwnedTraces {
  /** The number of the owner of each trace. */
  readonly #traces: RecentKeys;
  readonly #owners: (Held | undefined)[] = [];
  readonly #numbers = new Map<string, number>();
  /** Unused numbers. */
  readonly #free: number[] = [];
  /** The number of the owner of the newest trace. */
  #last = 0;

  /** Beyond `limit` the oldest traces are removed. */
  constructor(limit: number) {
    this.#traces = new RecentKeys(limit, (owner) => this.#leave(owner));
  }

  /** The owner of the trace whose id is at a place of `words`. */
  ownerOf(words: Uint32Array, at: number): TraceOwner | undefined {
    const number = this.#traces.find(words, at);
    return number === undefined ? undefined : this.#owners[number]?.owner;
  }

  /** The first claim is kept. */
  claim(words: Uint32Array, at: number, owner: TraceOwner): void {
    if (this.#traces.find(words, at) === undefined) this.#traces.add(words, at, this.#enter(owner));
  }

  #enter(owner: TraceOwner): number {
    // Most traces have the owner of the one before.
    const last = this.#owners[this.#last];
    if (last?.owner.project === owner.project && last.owner.environment === owner.environment) {
      last.traces++;
      return this.#last;
    }
    const name = nameOf(owner);
    const number = this.#numbers.get(name) ?? this.#free.pop() ?? this.#owners.length;
    const held = this.#owners[number] ?? { owner, traces: 0 };
    held.traces++;
    this.#owners[number] = held;
    this.#numbers.set(name, number);
    this.#last = number;
    return number;
  }

  #leave(number: number): void {
    const held = this.#owners[number];
    if (held === undefined) return;
    held.traces--;
    if (held.traces > 0) return;
    this.#numbers.delete(nameOf(held.owner));
    this.#owners[number] = undefined;
    this.#free.push(number);
  }
}

const nameOf = ({ project, environment }: TraceOwner): string => `${project}\0${environment}`;
