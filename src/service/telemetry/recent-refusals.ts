/** Keeps the last refused requests of this process in memory. */
import type { RefusedRequest, RefusedRequests } from '../../component/capabilities/refused-requests.ts';

const LIMIT = 200;

export class RecentRefusals implements RefusedRequests {
  readonly #now: () => number;
  readonly #added: (request: RefusedRequest) => void;
  /** A ring: the next one replaces the oldest. */
  readonly #ring: RefusedRequest[] = [];
  #next = 0;

  /** `added` is called for each request. */
  constructor(now: () => number, added: (request: RefusedRequest) => void = () => undefined) {
    this.#now = now;
    this.#added = added;
  }

  add(request: Omit<RefusedRequest, 'timeMs'>): void {
    const entry = { timeMs: this.#now(), ...request };
    this.#ring[this.#next] = entry;
    this.#added(entry);
    this.#next = (this.#next + 1) % LIMIT;
  }

  list(): readonly RefusedRequest[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)].reverse();
  }
}
