/**
 * The traces that requests claim, with their owners and times. They are held in typed arrays: a request can claim
 * hundreds of thousands, and the garbage collector would stop the process for longer than a pass to mark and copy as
 * many objects.
 */
import { arrayMemory, releaseArray } from './page-memory.ts';
import { KEY_WORDS, RecentKeys } from './recent-keys.ts';
import type { Steps } from './steps.ts';

/** The project that a trace belongs to, and its environment. */
export interface TraceOwner {
  readonly project: string;
  readonly environment: string;
}

/**
 * The words of a trace: its id as four numbers in big-endian order, so that ids compare like their bytes; the two
 * words of the first and of the last nanosecond, low word first; the number of its owner.
 */
const FIRST_TIME = 4;
const LAST_TIME = 6;
const OWNER = 8;
const STRIDE = 9;
const HIGHEST_WORD = 0xffffffff;

const ID_BYTES = 16;
const FIRST_ROOM = 16;
/** So few traces are searched one after the other, without an index. */
const FEW = 32;
/** The engine holds so few words in the array itself. */
const FEW_WORDS = 16;
/** A list of more traces gets the room of all that can be added. */
const LARGE = 8192;
/** Comparisons of a sort, or traces copied, in one step. */
const STEP = 8192;

/** Traces with unique ids. Those of one request are sorted by id. */
export class ClaimedTraces {
  static readonly none = new ClaimedTraces(new Uint32Array(0), []);
  readonly #words: Uint32Array;
  readonly #owners: readonly TraceOwner[];

  constructor(words: Uint32Array, owners: readonly TraceOwner[]) {
    this.#words = words;
    this.#owners = owners;
  }

  get count(): number {
    return this.#words.length / STRIDE;
  }

  /** The words, for tables by trace id. */
  get words(): Uint32Array {
    return this.#words;
  }

  /** The place of the id of a trace among the words. */
  placeOf(index: number): number {
    return index * STRIDE;
  }

  /** 32 lower-case hex digits. */
  traceIdOf(index: number): string {
    const id = Buffer.allocUnsafe(ID_BYTES);
    this.writeId(index, id, 0);
    return id.toString('hex');
  }

  /** Writes the 16 bytes of an id. */
  writeId(index: number, target: Buffer, at: number): void {
    const place = index * STRIDE;
    for (let word = 0; word < KEY_WORDS; word++)
      target.writeUInt32BE(this.#words[place + word] as number, at + word * 4);
  }

  ownerOf(index: number): TraceOwner {
    return this.#owners[this.#words[index * STRIDE + OWNER] as number] as TraceOwner;
  }

  /**
   * Whether spans claim the trace, not only log records. Its times are then the earliest start and the latest end of
   * these spans. They bound later searches.
   */
  hasTimes(index: number): boolean {
    const place = index * STRIDE;
    return !isBefore(this.#words, place + LAST_TIME, this.#words, place + FIRST_TIME);
  }

  /** Writes the eight bytes of a time in Unix nanoseconds, like a `bigint` of Postgres. */
  writeFirstNs(index: number, target: Buffer, at: number): void {
    this.#writeTime(index * STRIDE + FIRST_TIME, target, at);
  }

  writeLastNs(index: number, target: Buffer, at: number): void {
    this.#writeTime(index * STRIDE + LAST_TIME, target, at);
  }

  #writeTime(place: number, target: Buffer, at: number): void {
    target.writeUInt32BE(this.#words[place + 1] as number, at);
    target.writeUInt32BE(this.#words[place] as number, at + 4);
  }
}

/** The words of an id of 32 hex digits, for tables by trace id. */
export function wordsOf(traceId: string): Uint32Array {
  return Uint32Array.from({ length: KEY_WORDS }, (_, word) =>
    Number.parseInt(traceId.slice(word * 8, word * 8 + 8), 16),
  );
}

/** Whether two requests claim a common trace. */
export function shareTrace(left: ClaimedTraces, right: ClaimedTraces): boolean {
  const [few, many] = left.count <= right.count ? [left, right] : [right, left];
  const { count } = many;
  let at = 0;
  for (let index = 0; index < few.count; index++) {
    const place = few.placeOf(index);
    // The traces before `at` are lower. The distance doubles, so that a trace far away is found in a few steps.
    let distance = 1;
    while (at + distance < count && compareIds(many.words, many.placeOf(at + distance), few.words, place) < 0) {
      at += distance;
      distance *= 2;
    }
    let end = Math.min(at + distance, count);
    while (at < end) {
      const middle = (at + end) >>> 1;
      if (compareIds(many.words, many.placeOf(middle), few.words, place) < 0) at = middle + 1;
      else end = middle;
    }
    if (at === count) return false;
    if (compareIds(many.words, many.placeOf(at), few.words, place) === 0) return true;
  }
  return false;
}

/** Where a merge of pairs of runs is: the start of its two runs, and the next index of each and of the result. */
interface Merge {
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly run: number;
  start: number;
  left: number;
  right: number;
  next: number;
}

/** Collects traces with unique ids. The owners may grow until the end. */
export class TraceList {
  #words = new Uint32Array(FIRST_ROOM * STRIDE);
  #count = 0;
  readonly #owners: readonly TraceOwner[];
  readonly #most: number;
  /** The index of each trace; made when there are many. */
  #indexes: RecentKeys | null = null;

  /** `most`: no more traces can be added. */
  constructor(owners: readonly TraceOwner[], most: number) {
    this.#owners = owners;
    this.#most = most;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * The index of the trace whose id is at a place of `words`. An unknown trace is added, with the owner and without
   * times.
   */
  enter(words: Uint32Array, at: number, owner: number): number {
    const known = this.#find(words, at);
    if (known !== undefined) return known;
    const index = this.#count++;
    const place = index * STRIDE;
    if (place === this.#words.length) this.#grow();
    for (let word = 0; word < KEY_WORDS; word++) this.#words[place + word] = words[at + word] as number;
    this.#words[place + FIRST_TIME] = HIGHEST_WORD;
    this.#words[place + FIRST_TIME + 1] = HIGHEST_WORD;
    this.#words[place + OWNER] = owner;
    this.#indexes?.add(words, at, index);
    return index;
  }

  /** The number of the owner of a trace. */
  ownerOf(index: number): number {
    return this.#words[index * STRIDE + OWNER] as number;
  }

  /** Extends the times of a trace. `first` and `last` are places in `words`, low word first. */
  widen(index: number, words: Uint32Array, first: number, last: number): void {
    const place = index * STRIDE;
    if (isBefore(words, first, this.#words, place + FIRST_TIME))
      copyTime(words, first, this.#words, place + FIRST_TIME);
    if (isBefore(this.#words, place + LAST_TIME, words, last)) copyTime(words, last, this.#words, place + LAST_TIME);
  }

  /** In the order of their first claim. The list is not used afterwards. */
  inOrderOfClaims(): ClaimedTraces {
    const words = wordArray(this.#count * STRIDE);
    words.set(this.#words.subarray(0, words.length));
    this.#release();
    return new ClaimedTraces(words, this.#owners);
  }

  /** In the order of their ids. The list is not used afterwards. */
  *sorted(): Steps<ClaimedTraces> {
    if (this.#count <= 1) return this.inOrderOfClaims();
    const order = yield* this.#sortedIndexes();
    const words = wordArray(this.#count * STRIDE);
    for (let to = 0; to < order.length; to++) {
      if (to % STEP === STEP - 1) yield;
      const place = (order[to] as number) * STRIDE;
      for (let word = 0; word < STRIDE; word++) words[to * STRIDE + word] = this.#words[place + word] as number;
    }
    releaseArray(order);
    this.#release();
    return new ClaimedTraces(words, this.#owners);
  }

  /** A merge sort that begins with runs of one trace. */
  *#sortedIndexes(): Steps<Uint32Array<ArrayBuffer>> {
    const count = this.#count;
    let from = wordArray(count);
    let to = wordArray(count);
    for (let index = 0; index < count; index++) from[index] = index;
    for (let run = 1; run < count; run *= 2) {
      const merge: Merge = { from, to, run, start: 0, left: 0, right: run, next: 0 };
      for (;;) {
        this.#continue(merge);
        if (merge.next === count) break;
        yield;
      }
      [from, to] = [to, from];
    }
    releaseArray(to);
    return from;
  }

  /** One step of a merge. It is no generator, because those are compiled to slower code. */
  #continue(merge: Merge): void {
    const { from, to, run } = merge;
    const count = this.#count;
    const last = Math.min(merge.next + STEP, count);
    let { start, left, right, next } = merge;
    while (next < last) {
      const middle = Math.min(start + run, count);
      const end = Math.min(start + 2 * run, count);
      for (const stop = Math.min(end, last); next < stop; next++) {
        const takesLeft =
          left < middle && (right === end || this.#isLower(from[left] as number, from[right] as number));
        to[next] = from[takesLeft ? left++ : right++] as number;
      }
      if (next < end) break;
      start = end;
      left = end;
      right = Math.min(end + run, count);
    }
    Object.assign(merge, { start, left, right, next });
  }

  #isLower(left: number, right: number): boolean {
    const words = this.#words;
    // Nearly all ids differ in their first word.
    const [leftFirst, rightFirst] = [words[left * STRIDE] as number, words[right * STRIDE] as number];
    if (leftFirst !== rightFirst) return leftFirst < rightFirst;
    return compareIds(words, left * STRIDE, words, right * STRIDE) < 0;
  }

  #find(words: Uint32Array, at: number): number | undefined {
    if (this.#indexes !== null) return this.#indexes.find(words, at);
    for (let index = 0; index < this.#count; index++)
      if (compareIds(this.#words, index * STRIDE, words, at) === 0) return index;
    if (this.#count >= FEW) this.#indexAll();
    return undefined;
  }

  #indexAll(): void {
    this.#indexes = new RecentKeys(this.#most);
    for (let index = 0; index < this.#count; index++) this.#indexes.add(this.#words, index * STRIDE, index);
  }

  #release(): void {
    releaseArray(this.#words);
    this.#indexes?.release();
  }

  #grow(): void {
    // A large list gets all its room at once. Pages without traces take no memory.
    const isLarge = this.#count >= LARGE;
    const words = wordArray(isLarge ? this.#most * STRIDE : this.#words.length * 2);
    words.set(this.#words);
    releaseArray(this.#words);
    this.#words = words;
  }
}

/** The number of traces that several requests claim; those that they share count for each. */
export function countOf(claims: readonly ClaimedTraces[]): number {
  return claims.reduce((sum, { count }) => sum + count, 0);
}

/** All traces of several claims, each once, with the widest times and its first owner. */
export function mergeTraces(claims: readonly ClaimedTraces[]): TraceList {
  const owners: TraceOwner[] = [];
  const list = new TraceList(owners, countOf(claims));
  for (const traces of claims) {
    const { words } = traces;
    for (let index = 0; index < traces.count; index++) {
      const owner = traces.ownerOf(index);
      if (owners.at(-1) !== owner) owners.push(owner);
      const place = traces.placeOf(index);
      list.widen(list.enter(words, place, owners.length - 1), words, place + FIRST_TIME, place + LAST_TIME);
    }
  }
  return list;
}

function wordArray(length: number): Uint32Array<ArrayBuffer> {
  return length <= FEW_WORDS
    ? new Uint32Array(length)
    : new Uint32Array(arrayMemory(length * Uint32Array.BYTES_PER_ELEMENT));
}

function compareIds(left: Uint32Array, leftAt: number, right: Uint32Array, rightAt: number): number {
  for (let word = 0; word < KEY_WORDS; word++) {
    const difference = (left[leftAt + word] as number) - (right[rightAt + word] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

function isBefore(left: Uint32Array, leftAt: number, right: Uint32Array, rightAt: number): boolean {
  const leftHigh = left[leftAt + 1] as number;
  const rightHigh = right[rightAt + 1] as number;
  return leftHigh === rightHigh ? (left[leftAt] as number) < (right[rightAt] as number) : leftHigh < rightHigh;
}

function copyTime(from: Uint32Array, at: number, to: Uint32Array, place: number): void {
  to[place] = from[at] as number;
  to[place + 1] = from[at + 1] as number;
}
