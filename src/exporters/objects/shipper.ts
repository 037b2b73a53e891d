/**
 * Collects the compressed rows of requests and puts several of them as one immutable object. An object is put when it
 * is large enough, or some time after its first request arrived. A few puts run at once; while all of them run, objects
 * grow. Projects alternate, so that one with many requests does not delay those of others. A failed put may have
 * written its object, so the next attempt has a new id, and no part names the first object.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { GroupWait, type GroupWork } from '../../component/group-wait.ts';
import type { Stall } from '../../component/stall.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import { CODEC } from './compress.ts';
import { keyOf, newObjectId } from './object-key.ts';

/** Where the rows of one request are. */
export interface Stored {
  readonly objectId: Buffer;
  readonly firstByte: number;
  readonly age: Age;
}

/** How long ago the put of an object began, in milliseconds. */
export type Age = () => number;

/** Measured: larger objects cost no less. */
const MAX_OBJECT_BYTES = 8388608;
/** An object of fewer bytes takes hardly less time than one of so many. */
const FULL_BYTES = 1048576;
const LARGE_BYTES = FULL_BYTES / 8;
const MAX_PUTS = 4;
const MAX_TRIES = 3;
/** No try begins later than this after the first: SDKs wait 10 s for their answer. */
const RETRY_WITHIN_MS = 5000;
/** The longest pause before the second try; twice as long before the third. */
const PAUSE_MS = 400;

export interface ShipperEvents {
  /** An object is stored. */
  stored(bytes: number, seconds: number): void;
  /** One try has failed. */
  failed(error: unknown): void;
  /** All tries of an object have failed. The next object has not begun. */
  lost(error: unknown): void;
}

export interface ShipperParts {
  readonly store: Pick<ObjectStore, 'put'>;
  /** How long a request waits for others, in milliseconds. 0: only while other puts run. */
  readonly lingerMs: number;
  readonly events: ShipperEvents;
  /** Notices puts that make no progress. Left out: the store ends them itself. */
  readonly stall?: Stall | null;
  /** Unix milliseconds. */
  now(): number;
  /** Left out: that of the process. */
  monotonicMs?(): number;
}

interface Waiting {
  readonly bytes: Buffer;
  readonly work: GroupWork;
  readonly sinceMs: number;
  resolve(stored: Stored): void;
  reject(error: unknown): void;
}

export class Shipper {
  readonly #parts: ShipperParts;
  /** By project, in the order in which projects are served. No list is empty. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #wait: GroupWait;
  #waitingBytes = 0;
  /** When the first of the waiting requests arrived. Searched once an object: many projects may wait. */
  #oldestMs = Number.POSITIVE_INFINITY;
  #puts = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: ShipperParts) {
    this.#parts = parts;
    this.#wait = new GroupWait('object', parts.monotonicMs ?? (() => performance.now()));
  }

  /** Throws `overloaded` when a request of the project would wait too long for its object. */
  admit(project: string): void {
    this.#wait.admit(project);
  }

  /**
   * Resolves when the bytes are stored. Rejects with the error of the last try, and with `overloaded` when they are
   * many and would wait too long.
   */
  store(project: string, bytes: Buffer): Promise<Stored> {
    return new Promise((resolve, reject) => {
      if (bytes.length > LARGE_BYTES) this.#wait.admitLarge(project);
      const work = { project, part: bytes.length / FULL_BYTES };
      this.#wait.add(work);
      const waiting = { bytes, work, sinceMs: performance.now(), resolve, reject };
      const list = this.#waiting.get(project);
      if (list === undefined) this.#waiting.set(project, [waiting]);
      else list.push(waiting);
      this.#waitingBytes += bytes.length;
      this.#oldestMs = Math.min(this.#oldestMs, waiting.sinceMs);
      this.#shipDue();
    });
  }

  /** Rejects the requests of no object. */
  refuseWaiting(error: unknown): void {
    const all = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#waitingBytes = 0;
    this.#oldestMs = Number.POSITIVE_INFINITY;
    this.#stopTimer();
    for (const { work, reject } of all) {
      this.#wait.cancel(work);
      reject(error);
    }
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #shipDue(): void {
    this.#stopTimer();
    while (this.#puts < MAX_PUTS && this.#isDue()) void this.#ship(this.#take());
    if (this.#waiting.size === 0 || this.#puts === MAX_PUTS || this.#parts.lingerMs === 0) return;
    const dueMs = this.#oldestMs + this.#parts.lingerMs - performance.now();
    this.#timer = setTimeout(() => this.#shipDue(), Math.max(0, dueMs));
  }

  #isDue(): boolean {
    if (this.#waiting.size === 0) return false;
    const { lingerMs } = this.#parts;
    if (this.#waitingBytes >= MAX_OBJECT_BYTES) return true;
    return lingerMs === 0 ? this.#puts === 0 : performance.now() - this.#oldestMs >= lingerMs;
  }

  /** The requests of the next object. One that is larger than an object is an object of its own. */
  #take(): readonly Waiting[] {
    const group: Waiting[] = [];
    let bytes = 0;
    for (const [project, list] of this.#waiting) {
      const [next] = list;
      if (next === undefined || (group.length > 0 && bytes + next.bytes.length > MAX_OBJECT_BYTES)) break;
      group.push(next);
      bytes += next.bytes.length;
      list.shift();
      this.#waiting.delete(project);
      // A project with more requests is the last one now, and is reached again in this loop.
      if (list.length > 0) this.#waiting.set(project, list);
    }
    this.#waitingBytes -= bytes;
    this.#oldestMs = Number.POSITIVE_INFINITY;
    for (const [first] of this.#waiting.values())
      this.#oldestMs = Math.min(this.#oldestMs, first?.sinceMs ?? this.#oldestMs);
    return group;
  }

  async #ship(group: readonly Waiting[]): Promise<void> {
    this.#puts++;
    const endGroup = this.#wait.beginGroup();
    try {
      const { objectId, age } = await this.#put(group.map(({ bytes }) => bytes));
      let firstByte = 0;
      for (const { bytes, resolve } of group) {
        resolve({ objectId, firstByte, age });
        firstByte += bytes.length;
      }
      endGroup(group.map(({ work }) => work));
    } catch (error) {
      endGroup([]);
      this.#parts.events.lost(error);
      for (const { work, reject } of group) {
        // The time of a failure says nothing about the speed.
        this.#wait.cancel(work);
        reject(error);
      }
    }
    this.#puts--;
    this.#shipDue();
  }

  async #put(body: readonly Buffer[]): Promise<Pick<Stored, 'objectId' | 'age'>> {
    const { store, events, now, stall } = this.#parts;
    const startedMs = performance.now();
    for (let attempt = 1; ; attempt++) {
      const objectId = newObjectId(now());
      const begun = performance.now();
      const age = ageFrom(now);
      try {
        const put = (): Promise<void> => store.put(keyOf(objectId, CODEC), body, { ifAbsent: true });
        await (stall?.watch(put) ?? put());
        events.stored(bytesOf(body), (performance.now() - begun) / 1000);
        return { objectId, age };
      } catch (error) {
        events.failed(error);
        if (attempt === MAX_TRIES || performance.now() - startedMs > RETRY_WITHIN_MS) throw error;
      }
      const most = PAUSE_MS * attempt;
      await pause(randomInt(Math.ceil(most / 2), most + 1));
    }
  }
}

const bytesOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

/**
 * The longer time of two clocks counts: the monotonic clock of some systems stops while they sleep, and the other one
 * can be set.
 */
function ageFrom(now: () => number): Age {
  const [monotonicMs, clockMs] = [performance.now(), now()];
  return () => Math.max(performance.now() - monotonicMs, now() - clockMs);
}
