/** The owners of the most recent traces: the project that stored a trace first, and its environment. */
import { RecentKeys } from './recent-keys.ts';

/** Beyond this limit the oldest are removed. */
const MAX_TRACES = 500000;

export interface TraceOwner {
  readonly project: string;
  readonly environment: string;
}

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

  constructor(limit = MAX_TRACES) {
    this.#traces = new RecentKeys(limit, (owner) => this.#leave(owner));
  }

  /** `traceId` in hex. */
  ownerOf(traceId: string): TraceOwner | undefined {
    const number = this.#traces.find(traceId);
    return number === undefined ? undefined : this.#owners[number]?.owner;
  }

  /** The first claim is kept. */
  claim(traceId: string, owner: TraceOwner): void {
    if (this.#traces.find(traceId) === undefined) this.#traces.add(traceId, this.#enter(owner));
  }

  #enter(owner: TraceOwner): number {
    const name = nameOf(owner);
    const number = this.#numbers.get(name) ?? this.#free.pop() ?? this.#owners.length;
    const held = this.#owners[number] ?? { owner, traces: 0 };
    held.traces++;
    this.#owners[number] = held;
    this.#numbers.set(name, number);
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
