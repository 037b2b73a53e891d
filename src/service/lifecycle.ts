/**
 * Starts, replaces and stops parts in order. When one part fails to start, the parts before it are stopped again. All
 * parts are stopped in reverse order with one deadline, also when one of them fails.
 */
import type { Component } from '../component/component.ts';
import type { Logger } from '../component/logger.ts';

/** A component with its name in logs: `extension postgres`, `receiver otlp`. */
export interface Part {
  readonly name: string;
  readonly component: Component;
}

/** The time limit to stop the started parts after another part failed to start. */
const ROLLBACK_TIMEOUT_MS = 5_000;

/**
 * States: `idle` → `starting` → `running` → `stopping` → `stopped`. A failed start goes from `starting` to `stopped`. A
 * stop during the start tells the part that is starting and waits for it, then stops the started parts.
 */
export type LifecycleState = 'idle' | 'starting' | 'running' | 'stopping' | 'stopped';

/** The new parts, and the steps between starting them and stopping the old ones. */
export interface Replacement {
  readonly parts: readonly Part[];
  /** Resolves when the new parts are ready; rejects when they will not be. */
  ready(): Promise<void>;
  /** Switches to the new parts, synchronously: the next request uses them. */
  takeOver(): void;
  /** Resolves when no request uses the old parts. */
  idle(): Promise<void>;
}

export class Lifecycle {
  /** In the order of the start. */
  #parts: readonly Part[];
  readonly #logger: Logger;
  #state: LifecycleState = 'idle';
  #starting: Promise<void> | null = null;
  #stopping: Promise<void> | null = null;
  /** For the part that is starting. A stop aborts it. */
  #interruption: AbortController | null = null;

  constructor(parts: readonly Part[], logger: Logger) {
    this.#parts = parts;
    this.#logger = logger;
  }

  get state(): LifecycleState {
    return this.#state;
  }

  /**
   * Rejects with the error of the part that failed, after the others are stopped; and with `Interrupted` after a stop.
   */
  start(): Promise<void> {
    if (this.#state !== 'idle') return Promise.reject(new Error(`a service starts once; this one is ${this.#state}`));
    this.#state = 'starting';
    const starting = this.#startAll();
    this.#starting = starting;
    return starting;
  }

  /**
   * Replaces the running parts; parts that are in both keep running. Rejects with the error of a new part that could
   * not start; then nothing has changed. Rejects with `Interrupted` after a stop, which may have been requested while
   * the replacement was prepared. Old parts that have not stopped when `deadline` aborts are abandoned.
   */
  replace(replacement: Replacement, deadline: AbortSignal): Promise<void> {
    if (this.#stopping !== null) return Promise.reject(new Interrupted());
    if (this.#state !== 'running')
      return Promise.reject(new Error(`nothing to replace: the service is ${this.#state}`));
    const replacing = this.#replaceWith(replacement, deadline);
    this.#starting = replacing;
    return replacing;
  }

  /**
   * Never rejects. Parts that have not stopped when `deadline` aborts are abandoned. Every call returns the same
   * promise.
   */
  stop(deadline: AbortSignal): Promise<void> {
    this.#stopping ??= this.#stopWhenPossible(deadline);
    return this.#stopping;
  }

  async #startAll(): Promise<void> {
    try {
      await this.#startParts(this.#parts);
      this.#state = 'running';
    } catch (error) {
      this.#state = 'stopped';
      throw error;
    }
  }

  async #replaceWith({ parts, ready, takeOver, idle }: Replacement, deadline: AbortSignal): Promise<void> {
    const old = this.#parts;
    await this.#startParts(without(parts, old), ready);
    takeOver();
    this.#parts = parts;
    await orAborted(idle(), deadline);
    await this.#stopParts(without(old, parts), deadline);
  }

  async #startParts(parts: readonly Part[], ready?: () => Promise<void>): Promise<void> {
    const started: Part[] = [];
    try {
      for (const part of parts) {
        if (this.#stopping !== null) throw new Interrupted();
        // A part whose start fails is stopped as well, because it may have opened something before.
        started.push(part);
        // Each part has its own: those that have started are stopped in order.
        this.#interruption = new AbortController();
        await part.component.start?.(this.#interruption.signal);
        this.#interruption = null;
      }
      await ready?.();
      if (this.#stopping !== null) throw new Interrupted();
    } catch (error) {
      this.#interruption = null;
      const failure = this.#stopping === null ? error : new Interrupted();
      await this.#stopParts(started, AbortSignal.timeout(ROLLBACK_TIMEOUT_MS));
      throw failure;
    }
  }

  async #stopWhenPossible(deadline: AbortSignal): Promise<void> {
    this.#interruption?.abort();
    if (this.#starting !== null) await orAborted(this.#starting.catch(ignore), deadline);
    if (this.#state === 'stopped') return;
    this.#state = 'stopping';
    await this.#stopParts(this.#parts, deadline);
    this.#state = 'stopped';
  }

  async #stopParts(parts: readonly Part[], deadline: AbortSignal): Promise<void> {
    for (const { name, component } of [...parts].reverse()) {
      if (component.stop === undefined) continue;
      try {
        const stopped = await orAborted(component.stop(deadline), deadline);
        if (!stopped) this.#logger.warn({ part: name }, 'did not stop in time; it is not waited for');
      } catch (error) {
        this.#logger.error({ part: name, error }, 'failed to stop');
      }
    }
  }
}

/** The start was interrupted by a stop. */
export class Interrupted extends Error {
  constructor() {
    super('stopped while starting');
  }
}

function without(parts: readonly Part[], others: readonly Part[]): readonly Part[] {
  const known = new Set(others.map(({ component }) => component));
  return parts.filter(({ component }) => !known.has(component));
}

const ignore = (): void => undefined;

/**
 * Whether the promise resolved before the signal aborted. An abandoned promise may reject without a handler elsewhere.
 */
async function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<boolean> {
  let abandon = ignore;
  const aborted = new Promise<boolean>((resolve) => {
    abandon = () => setImmediate(() => resolve(false));
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
  });
  try {
    return await Promise.race([promise.then(() => true), aborted]);
  } finally {
    signal.removeEventListener('abort', abandon);
  }
}
