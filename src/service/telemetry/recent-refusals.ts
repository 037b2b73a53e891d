/** Keeps the last refused requests of this process in memory. */
import type { RefusedRequest, RefusedRequests } from '../../component/capabilities/refused-requests.ts';

const LIMIT = 200;

export class RecentRefusals implements RefusedRequests {
  readonly #now: () => number;
  /** A ring: the next one replaces the oldest. */
  readonly #ring: RefusedRequest[] = [];
  #next = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(request: Omit<RefusedRequest, 'timeMs'>): void {
    this.#ring[this.#next] = { timeMs: this.#now(), ...request };
    this.#next = (this.#next + 1) % LIMIT;
  }

  list(): readonly RefusedRequest[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)].reverse();
  }
}
