/**
 * How long a project would wait for the commit of a request that arrives now. Rows that wait take memory, and a sender
 * that waits long gives up and sends the same again, so requests that would wait long are refused before they are read.
 * The speed is measured: of the groups that ended, each took the time since the end of the group before it.
 */
import { ExpectedWait } from '../expected-wait.ts';
import { isHeavy, type Weighed } from './waiting.ts';

export class CommitWait {
  readonly #now: () => number;
  readonly #wait = new ExpectedWait('commit');
  /** Groups in progress. */
  #open = 0;
  /** The end of the last group; the beginning of the first after a time without groups. */
  #lastEndMs = 0;

  /** `now`: a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws `overloaded`. */
  admit(project: string): void {
    this.#wait.requireShort(project);
  }

  /** Heavy requests do not wait for groups, and no group waits for them. */
  add(one: Weighed): void {
    if (!isHeavy(one)) this.#wait.add(one.claim.project.name, one.bytes);
  }

  beginGroup(): void {
    if (this.#open++ === 0) this.#lastEndMs = this.#now();
  }

  /** `settled`: without the requests that wait for another group. */
  endGroup(settled: readonly Weighed[]): void {
    this.#open--;
    const ended = this.#now();
    const groups = settled.filter((one) => !isHeavy(one));
    if (groups.length === 0) return;
    const ms = (ended - this.#lastEndMs) / groups.length;
    this.#lastEndMs = ended;
    for (const { claim, bytes } of groups) this.#wait.remove(claim.project.name, bytes, ms);
  }
}
