/**
 * How long a project would wait for the commit of a request that arrives now. Rows that wait take memory, and a sender
 * that waits long gives up and sends the same again, so requests that would wait long are refused before they are read.
 *
 * The work of a request is the part of a group that it fills, and the speed is measured: of the groups that ended, each
 * took the time since the end of the group before it. A group that is not full counts as a full one, which would have
 * taken hardly longer. The estimate is therefore too short at low load, when most of the time of a group is that of its
 * sync, and right under overload, when groups are full.
 */
import { ExpectedWait } from '../expected-wait.ts';
import { groupPart, isHeavy, type Weighed } from './waiting.ts';

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
    if (!isHeavy(one)) this.#wait.add(one.claim.project.name, groupPart(one));
  }

  beginGroup(): void {
    if (this.#open++ === 0) this.#lastEndMs = this.#now();
  }

  /** `settled`: without the requests that wait for another group. */
  endGroup(settled: readonly Weighed[]): void {
    this.#open--;
    const ended = this.#now();
    const settledInGroups = settled.filter((one) => !isHeavy(one));
    if (settledInGroups.length === 0) return;
    const whole = Math.max(
      1,
      settledInGroups.reduce((sum, one) => sum + groupPart(one), 0),
    );
    const msPerGroup = (ended - this.#lastEndMs) / whole;
    this.#lastEndMs = ended;
    for (const one of settledInGroups)
      this.#wait.remove(one.claim.project.name, groupPart(one), msPerGroup * groupPart(one));
  }
}
