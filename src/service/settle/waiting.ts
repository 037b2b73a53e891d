/**
 * The queue of requests that wait for a commit, and the groups that are formed of them. Projects alternate, and each
 * project's requests keep their order, so that a project with many requests does not delay those of others.
 */
import type { Claim, Kind } from '../../component/capabilities/ledger.ts';

export interface GroupLimits {
  /** A request whose rows only name a place counts a quarter. */
  readonly requests: number;
  /** Bytes of rows. */
  readonly bytes: number;
  /** Records and traces together. Small records cost more for their index entries than for their bytes. */
  readonly items: number;
}

/** Measured with COPY: larger groups only take longer. */
export const LARGE_GROUP: GroupLimits = { requests: 16, bytes: 8388608, items: 16384 };
/**
 * Small requests wait for groups of small requests only, which take half the time. With a quarter, the daemon stored a
 * fifth fewer small spans a core.
 */
export const SMALL_GROUP: GroupLimits = { requests: 16, bytes: 4194304, items: 8192 };
const SMALL_REQUEST = { bytes: SMALL_GROUP.bytes / 8, items: SMALL_GROUP.items / 8 };

/**
 * Measured: without rows, groups of 64 take less time than those of 16 with rows, and cost less a request than small
 * ones.
 */
const PLACED_REQUEST = 0.25;

export interface Weighed {
  readonly claim: Claim;
  /** Whether all of its rows were staged, and only name a place. */
  readonly isPlaced?: boolean;
  /** The bytes of its rows. */
  readonly bytes: number;
}

const requestsOf = ({ isPlaced }: Weighed): number => (isPlaced === true ? PLACED_REQUEST : 1);

const itemsOf = ({ claim }: Weighed): number => claim.recordCount + claim.traces.count;

const exceeds = (one: Weighed, { bytes, items }: Pick<GroupLimits, 'bytes' | 'items'>): boolean =>
  one.bytes > bytes || itemsOf(one) > items;

/** Whether a request is larger than the limits of a group. */
export const isHeavy = (one: Weighed): boolean => exceeds(one, LARGE_GROUP);

/** Whether small requests should not share a group with it. */
export const isLarge = (one: Weighed): boolean => exceeds(one, SMALL_REQUEST);

/** The part of a group that a request fills. */
export const groupPart = (one: Weighed): number =>
  Math.max(requestsOf(one) / SMALL_GROUP.requests, one.bytes / SMALL_GROUP.bytes, itemsOf(one) / SMALL_GROUP.items);

interface Sums {
  count: number;
  requests: number;
  bytes: number;
  items: number;
}

const NOTHING: Readonly<Sums> = { count: 0, requests: 0, bytes: 0, items: 0 };

/** Which groups may be formed at present. */
export interface Choice {
  kindOf(claim: Claim): Kind;
  /** Whether a group of this kind may be formed now. */
  allows(kind: Kind): boolean;
}

interface ProjectRequests<T> {
  readonly project: string;
  readonly list: T[];
}

export class WaitingRequests<T extends Weighed> {
  /** In the order in which projects are served. No list is empty. */
  readonly #projects: ProjectRequests<T>[] = [];
  readonly #sums: Sums = { ...NOTHING };
  readonly #limits: GroupLimits;

  constructor(limits: GroupLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#sums.count;
  }

  /** Whether the waiting requests fill a group. */
  get isWhole(): boolean {
    const { requests, bytes, items } = this.#limits;
    return this.#sums.requests >= requests || this.#sums.bytes >= bytes || this.#sums.items >= items;
  }

  push(one: T): void {
    this.#listOf(one).push(one);
    add(this.#sums, one, 1);
  }

  /** Adds a request before the others of its project. */
  putBack(one: T): void {
    this.#listOf(one).unshift(one);
    add(this.#sums, one, 1);
  }

  /** Removes and returns all requests. */
  takeAll(): T[] {
    Object.assign(this.#sums, NOTHING);
    return this.#projects.splice(0).flatMap(({ list }) => list);
  }

  /** Whether a group can be formed. */
  hasNext(choice: Choice): boolean {
    for (const {
      list: [next],
    } of this.#projects)
      if (next !== undefined && choice.allows(choice.kindOf(next.claim))) return true;
    return false;
  }

  /**
   * The next group: of one kind and within the limits, unless it is a single larger request. Empty when no group is
   * allowed.
   */
  take(choice: Choice): T[] {
    const group: T[] = [];
    const sums: Sums = { ...NOTHING };
    let kind: Kind | null = null;
    for (let index = 0; index < this.#projects.length; ) {
      const { project, list } = this.#projects[index] as ProjectRequests<T>;
      const next = list[0] as T;
      index++;
      const nextKind = choice.kindOf(next.claim);
      if (kind === null ? !choice.allows(nextKind) : nextKind !== kind || !this.#fits(next, sums)) continue;
      if (kind === 'apart' && group[0]?.claim.project.name !== project) continue;
      kind = nextKind;
      // A project with more requests is the last one now, and is reached again in this loop.
      index--;
      this.#remove(index);
      add(sums, next, 1);
      group.push(next);
      if (sums.requests >= this.#limits.requests) break;
    }
    return group;
  }

  #fits(one: T, sums: Sums): boolean {
    return sums.bytes + one.bytes <= this.#limits.bytes && sums.items + itemsOf(one) <= this.#limits.items;
  }

  #remove(index: number): void {
    const [requests] = this.#projects.splice(index, 1);
    const one = requests?.list.shift();
    if (one !== undefined) add(this.#sums, one, -1);
    if (requests !== undefined && requests.list.length > 0) this.#projects.push(requests);
  }

  #listOf({ claim }: T): T[] {
    const project = claim.project.name;
    const known = this.#projects.find((requests) => requests.project === project);
    if (known !== undefined) return known.list;
    const list: T[] = [];
    this.#projects.push({ project, list });
    return list;
  }
}

function add(sums: Sums, one: Weighed, sign: 1 | -1): void {
  sums.count += sign;
  sums.requests += sign * requestsOf(one);
  sums.bytes += sign * one.bytes;
  sums.items += sign * itemsOf(one);
}
