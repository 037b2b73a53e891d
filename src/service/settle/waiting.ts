/**
 * Requests that wait to be settled, and the groups that are formed of them. Projects take turns, and each project's requests are
 * served in their order: a project that sends many does not push those of others to the back.
 */
import type { Claim, Kind } from '../../component/capabilities/ledger.ts';

/** Past these a larger group only waits longer; measured with COPY. */
const MAX_GROUP_REQUESTS = 16;
const MAX_GROUP_BYTES = 8388608;
/** Records and traces together. Small ones cost their rows in the indexes more than their bytes. */
const MAX_GROUP_ITEMS = 16384;

export interface Weighed {
  readonly claim: Claim;
  /** Of its rows. */
  readonly bytes: number;
}

const itemsOf = ({ claim }: Weighed): number => claim.recordCount + claim.traces.length;

/** Whether a request is larger than a group of others may be. */
export const isHeavy = (one: Weighed): boolean => one.bytes > MAX_GROUP_BYTES || itemsOf(one) > MAX_GROUP_ITEMS;

interface Sums {
  count: number;
  bytes: number;
  items: number;
}

const isWhole = ({ count, bytes, items }: Sums): boolean =>
  count >= MAX_GROUP_REQUESTS || bytes >= MAX_GROUP_BYTES || items >= MAX_GROUP_ITEMS;

/** What a lane may take. */
export interface Choice {
  kindOf(claim: Claim): Kind;
  /** Whether a group of this kind may be formed now. */
  allows(kind: Kind): boolean;
}

export class WaitingRequests<T extends Weighed> {
  /** In the order of their turns. A list is never empty. */
  readonly #byProject = new Map<string, T[]>();
  readonly #sums: Sums = { count: 0, bytes: 0, items: 0 };

  get count(): number {
    return this.#sums.count;
  }

  /** Whether what waits makes a group of full size. */
  get isWhole(): boolean {
    return isWhole(this.#sums);
  }

  push(one: T): void {
    this.#listOf(one).push(one);
    add(this.#sums, one, 1);
  }

  /** Ahead of what else waits of its project. */
  putBack(one: T): void {
    this.#listOf(one).unshift(one);
    add(this.#sums, one, 1);
  }

  /** Whether there is a request that a group could begin with. */
  hasNext(choice: Choice): boolean {
    for (const [next] of this.#byProject.values())
      if (next !== undefined && choice.allows(choice.kindOf(next.claim))) return true;
    return false;
  }

  /** The next group, of one kind and bounded. One request may be larger than the bounds. Empty when nothing is allowed. */
  take(choice: Choice): T[] {
    const group: T[] = [];
    const sums: Sums = { count: 0, bytes: 0, items: 0 };
    let kind: Kind | null = null;
    // A project that has more waits again at the end, and is met again in this loop.
    for (const [project, list] of this.#byProject) {
      const [next] = list;
      if (next === undefined) continue;
      const nextKind = choice.kindOf(next.claim);
      if (kind === null ? !choice.allows(nextKind) : nextKind !== kind || !this.#fits(next, sums)) continue;
      if (kind === 'apart' && group[0]?.claim.project.name !== project) continue;
      kind = nextKind;
      this.#remove(project, list);
      add(sums, next, 1);
      group.push(next);
      if (sums.count >= MAX_GROUP_REQUESTS) break;
    }
    return group;
  }

  #fits(one: T, sums: Sums): boolean {
    return sums.bytes + one.bytes <= MAX_GROUP_BYTES && sums.items + itemsOf(one) <= MAX_GROUP_ITEMS;
  }

  #remove(project: string, list: T[]): void {
    const one = list.shift();
    if (one !== undefined) add(this.#sums, one, -1);
    this.#byProject.delete(project);
    if (list.length > 0) this.#byProject.set(project, list);
  }

  #listOf({ claim }: T): T[] {
    const known = this.#byProject.get(claim.project.name);
    if (known !== undefined) return known;
    const list: T[] = [];
    this.#byProject.set(claim.project.name, list);
    return list;
  }
}

function add(sums: Sums, one: Weighed, sign: 1 | -1): void {
  sums.count += sign;
  sums.bytes += sign * one.bytes;
  sums.items += sign * itemsOf(one);
}
