/**
 * Estimates how long a project would wait for a pass that it requests now. Projects share the time evenly, so the work
 * of another project counts only up to the amount of the project's own work.
 */

/** The fixed cost of a request, in bytes. */
const REQUEST_BYTES = 4096;
/** The weight of a pass relative to the pass after it, in the averages. */
const DECAY = 0.97;
/** The limit of idle projects whose speed is remembered. */
const MAX_IDLE_PROJECTS = 1024;

/** Weighted sums of milliseconds and bytes of past passes; the latest has the highest weight. */
class Speed {
  #ms = 0;
  #bytes = 0;

  add(ms: number, bytes: number): void {
    this.#ms = this.#ms * DECAY + ms;
    this.#bytes = this.#bytes * DECAY + bytes;
  }

  /** Null before the first pass. */
  get msPerByte(): number | null {
    return this.#bytes === 0 ? null : this.#ms / this.#bytes;
  }
}

interface Load {
  readonly speed: Speed;
  requests: number;
  bytes: number;
}

export class ExpectedWait {
  /** Projects with work, and some of the others. */
  readonly #loads = new Map<string, Load>();
  #busy = 0;
  readonly #speed = new Speed();
  /** The time of passes with the polls between them, and without. */
  #elapsedMs = 0;
  #passMs = 0;

  /** The number of requests of a project that wait or are in progress. */
  requests(project: string): number {
    return this.#loads.get(project)?.requests ?? 0;
  }

  add(project: string, bytes: number): void {
    let load = this.#loads.get(project);
    if (load === undefined) {
      load = { speed: new Speed(), requests: 0, bytes: 0 };
      this.#loads.set(project, load);
    }
    if (load.requests === 0) this.#busy++;
    load.requests++;
    load.bytes += bytes + REQUEST_BYTES;
  }

  /** An added request has ended; its pass took `ms`. */
  remove(project: string, bytes: number, ms: number): void {
    const load = this.#loads.get(project);
    if (load === undefined) return;
    load.requests--;
    load.bytes -= bytes + REQUEST_BYTES;
    load.speed.add(ms, bytes + REQUEST_BYTES);
    this.#speed.add(ms, bytes + REQUEST_BYTES);
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
    return load.bytes * (load.speed.msPerByte ?? this.#speed.msPerByte ?? 0);
  }

  #forgetIdle(): void {
    for (const [project, { requests }] of this.#loads) if (requests === 0) this.#loads.delete(project);
  }
}
