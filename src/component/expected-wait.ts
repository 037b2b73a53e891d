/**
 * Estimates how long a project would wait for work that it requests now, and refuses its requests when that is too
 * long. Projects share the time evenly, so the work of another project counts only up to the amount of the project's
 * own work.
 */
import { Rejection } from '../errors.ts';

/** The weight of a request relative to the request after it, in the averages. */
const DECAY = 0.97;
/** A request that would wait longer is refused, with Retry-After of a second. */
const MAX_WAIT_MS = 1000;
/**
 * A project with fewer requests than this is never refused for the time they take; with fewer in all there is no load.
 */
export const ALWAYS_ADMITTED = 16;
/**
 * Where the speed of the work is steady, a project with this many requests may wait for this time only. It sends more
 * than is done, so its queue is never empty, and a longer one would store nothing more. With fewer waiting requests,
 * garbage collections take less time.
 */
const MANY = 128;
const MAX_WAIT_OF_MANY_MS = 300;
/**
 * A large request that would wait longer is refused, unless fewer than so many of the project wait. SDKs give up after
 * 10 s, and the request itself takes long too.
 */
const LARGE_MAX_WAIT_MS = 3000;
const LARGE_ALWAYS_ADMITTED = 2;
/** The limit of idle projects whose speed is remembered. */
const MAX_IDLE_PROJECTS = 1024;

/** Weighted sums of milliseconds and work of past requests; the latest has the highest weight. */
class Speed {
  #ms = 0;
  #work = 0;

  add(ms: number, work: number): void {
    this.#ms = this.#ms * DECAY + ms;
    this.#work = this.#work * DECAY + work;
  }

  /** Milliseconds for a unit of work; null before the first request. */
  get msPerWork(): number | null {
    return this.#work === 0 ? null : this.#ms / this.#work;
  }
}

interface Load {
  readonly speed: Speed;
  requests: number;
  work: number;
}

export class ExpectedWait {
  /** Projects with work, and some of the others. */
  readonly #loads = new Map<string, Load>();
  #busy = 0;
  readonly #speed = new Speed();
  /** What the requests wait for, for the hint of a refusal. */
  readonly #end: string;
  /** The time of passes with the polls between them, and without. */
  #elapsedMs = 0;
  #passMs = 0;

  constructor(end: string) {
    this.#end = end;
  }

  /** Throws `overloaded` when a request of the project would wait too long. */
  requireShort(project: string): void {
    this.#require(project, ALWAYS_ADMITTED, MAX_WAIT_MS);
  }

  /** Like `requireShort`, for work of a steady speed: very many requests may wait for a shorter time only. */
  requireShortForMany(project: string): void {
    this.requireShort(project);
    this.#require(project, MANY, MAX_WAIT_OF_MANY_MS);
  }

  /** Throws `overloaded` when a large request of the project would wait too long. */
  requireShortForLarge(project: string): void {
    this.#require(project, LARGE_ALWAYS_ADMITTED, LARGE_MAX_WAIT_MS);
  }

  /** Throws `overloaded` unless few requests of the project wait. */
  requireFew(project: string): void {
    this.#require(project, ALWAYS_ADMITTED, Number.NEGATIVE_INFINITY);
  }

  #require(project: string, alwaysAdmitted: number, maxWaitMs: number): void {
    const requests = this.requests(project);
    if (requests < alwaysAdmitted || this.of(project) <= maxWaitMs) return;
    throw new Rejection('overloaded', { hint: `${requests} requests of the project wait for their ${this.#end}` });
  }

  /** The number of requests of a project that wait or are in progress. */
  requests(project: string): number {
    return this.#loads.get(project)?.requests ?? 0;
  }

  /** `work` in any unit that the time of requests is proportional to. */
  add(project: string, work: number): void {
    let load = this.#loads.get(project);
    if (load === undefined) {
      load = { speed: new Speed(), requests: 0, work: 0 };
      this.#loads.set(project, load);
    }
    if (load.requests === 0) this.#busy++;
    load.requests++;
    load.work += work;
  }

  /** An added request has ended; it took `ms`. Null: nothing was done for it. */
  remove(project: string, work: number, ms: number | null): void {
    const load = this.#loads.get(project);
    if (load === undefined) return;
    load.requests--;
    load.work -= work;
    if (ms !== null) for (const speed of [load.speed, this.#speed]) speed.add(ms, work);
    if (load.requests > 0) return;
    this.#busy--;
    if (this.#loads.size - this.#busy > MAX_IDLE_PROJECTS) this.#forgetIdle();
  }

  /** Part of a pass took `passMs`, and the polls before it `pollMs`. */
  measure(passMs: number, pollMs: number): void {
    this.#passMs = this.#passMs * DECAY + passMs;
    this.#elapsedMs = this.#elapsedMs * DECAY + passMs + pollMs;
  }

  /** Milliseconds until all requests of the project are done. */
  of(project: string): number {
    const own = this.#workMs(this.#loads.get(project));
    if (own === 0) return 0;
    let ms = 0;
    for (const load of this.#loads.values()) ms += Math.min(own, this.#workMs(load));
    return this.#passMs === 0 ? ms : (ms * this.#elapsedMs) / this.#passMs;
  }

  #workMs(load: Load | undefined): number {
    if (load === undefined || load.requests === 0) return 0;
    return load.work * (load.speed.msPerWork ?? this.#speed.msPerWork ?? 0);
  }

  #forgetIdle(): void {
    for (const [project, { requests }] of this.#loads) if (requests === 0) this.#loads.delete(project);
  }
}
