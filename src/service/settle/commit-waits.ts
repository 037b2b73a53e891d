/**
 * How long requests wait for their commit. Groups of large requests and heavy requests take longer than the groups of
 * small ones beside them, so their waits are measured separately. A large request that would be answered only after its
 * sender has given up is refused: the sender would send it again and again, behind others that wait as long.
 */
import { GroupWait, type GroupWork } from '../../component/group-wait.ts';
import { groupPart, isHeavy, isLarge, type Weighed } from './waiting.ts';

/** The rows of a larger body are those of a large or heavy request. */
const LARGE_BODY_BYTES = 1048576;

export class CommitWaits {
  /** The wait for all groups, which decides whether a request is read. Heavy requests wait for no group. */
  readonly #all: GroupWait;
  readonly #large: GroupWait;
  readonly #heavy: GroupWait;

  /** `now`: a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#all = new GroupWait('commit', now);
    this.#large = new GroupWait('commit', now);
    this.#heavy = new GroupWait('commit', now);
  }

  /** Throws `overloaded`. */
  admit(project: string): void {
    this.#all.admit(project);
  }

  /** Throws `overloaded` when the rows of a body would wait too long, as far as its size shows. Saves its pass. */
  admitBody(project: string, bytes: number): void {
    if (bytes <= LARGE_BODY_BYTES) return;
    this.#large.admitLarge(project);
    this.#heavy.admitLarge(project);
  }

  /** Counts a request. Throws `overloaded` when it is large and would wait too long. */
  add(one: Weighed): void {
    const work = workOf(one);
    if (isLarge(one)) this.#ownOf(one).admitLarge(work.project);
    for (const wait of this.#waitsOf(one)) wait.add(work);
  }

  /** The request has ended without a group. */
  cancel(one: Weighed): void {
    for (const wait of this.#waitsOf(one)) wait.cancel(workOf(one));
  }

  /** A group begins. The returned function is called at its end, with the requests that it settled. */
  beginGroup(group: readonly Weighed[]): (done: readonly Weighed[]) => void {
    const waits = new Set(group.flatMap((one) => this.#waitsOf(one)));
    const groups = [...waits].map((wait) => ({ wait, end: wait.beginGroup() }));
    return (done) => {
      for (const { wait, end } of groups) end(done.filter((one) => this.#waitsOf(one).includes(wait)).map(workOf));
    };
  }

  #ownOf(one: Weighed): GroupWait {
    return isHeavy(one) ? this.#heavy : this.#large;
  }

  #waitsOf(one: Weighed): readonly GroupWait[] {
    if (isHeavy(one)) return [this.#heavy];
    return isLarge(one) ? [this.#large, this.#all] : [this.#all];
  }
}

const workOf = (one: Weighed): GroupWork => ({ project: one.claim.project.name, part: groupPart(one) });
