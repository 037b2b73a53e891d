/**
 * How long a project would wait until a request that arrives now is stored together with others, in a group. Requests
 * that wait take memory, and a sender that waits long gives up and sends the same again, so requests that would wait
 * long are refused before they are read.
 *
 * The work of a request is the part of a group that it fills, and the speed is measured: of the groups that ended, each
 * took the time since it began, or since the end of the group before it if that was later. A group that is not full
 * counts as a full one, which would have taken hardly longer. The estimate is therefore too short at low load, when
 * most of the time of a group does not depend on its size, and right under overload, when groups are full.
 */
import { ExpectedWait } from './expected-wait.ts';

/** While no group ends for this time, the speed is not known, and a project has only a few requests that wait. */
const STALL_MS = 3000;

/** The work of one request. */
export interface GroupWork {
  readonly project: string;
  /** 1: a full group. */
  readonly part: number;
}

export class GroupWait {
  readonly #now: () => number;
  readonly #wait: ExpectedWait;
  #lastEndMs = Number.NEGATIVE_INFINITY;
  #openGroups = 0;
  /** When the first of the open groups began, or a group ended later. */
  #progressMs = 0;

  /** `end`: what the requests wait for, for the hint of a refusal. `now`: a monotonic clock in milliseconds. */
  constructor(end: string, now: () => number) {
    this.#wait = new ExpectedWait(end);
    this.#now = now;
  }

  /** Throws `overloaded`. */
  admit(project: string): void {
    if (this.#openGroups > 0 && this.#now() - this.#progressMs > STALL_MS) this.#wait.requireFew(project);
    this.#wait.requireShort(project);
  }

  /** Throws `overloaded` when a large request of the project would wait too long. */
  admitLarge(project: string): void {
    this.#wait.requireShortForLarge(project);
  }

  add({ project, part }: GroupWork): void {
    this.#wait.add(project, part);
  }

  /** The request has ended without a group. */
  cancel({ project, part }: GroupWork): void {
    this.#wait.remove(project, part, null);
  }

  /** A group begins. The returned function is called at its end, with the work that it settled. */
  beginGroup(): (done: readonly GroupWork[]) => void {
    const begunMs = this.#now();
    if (this.#openGroups++ === 0) this.#progressMs = begunMs;
    return (done) => {
      this.#openGroups--;
      this.#progressMs = this.#now();
      this.#endGroup(begunMs, done);
    };
  }

  #endGroup(begunMs: number, done: readonly GroupWork[]): void {
    if (done.length === 0) return;
    const ended = this.#now();
    const whole = Math.max(
      1,
      done.reduce((sum, { part }) => sum + part, 0),
    );
    const msPerGroup = (ended - Math.max(begunMs, this.#lastEndMs)) / whole;
    this.#lastEndMs = ended;
    for (const { project, part } of done) this.#wait.remove(project, part, msPerGroup * part);
  }
}
