/**
 * Starting, replacing and stopping in order. A start is a transaction: when one part fails, those that had started are stopped
 * again. Stopping goes backwards through all parts with one deadline, and goes on when a part fails.
 */
import type { Component } from '../component/component.ts';
import type { Logger } from '../component/logger.ts';

/** One thing with a life, under the name that logs use: `extension postgres`, `receiver otlp`. */
export interface Part {
  readonly name: string;
  readonly component: Component;
}

/** How long the parts that had started may take to stop after another failed to start. */
const ROLLBACK_TIMEOUT_MS = 5_000;

/**
 * States: `idle` → `starting` → `running` → `stopping` → `stopped`. A failed start goes straight from `starting` to `stopped`;
 * a stop during the start waits for the part that is starting, then takes back what had started.
 */
export type LifecycleState = 'idle' | 'starting' | 'running' | 'stopping' | 'stopped';

/** What is done between starting the parts that are new and stopping those that are no longer wanted. */
export interface Replacement {
  readonly parts: readonly Part[];
  /** Resolves when the new parts can do their work; rejects when they will not. */
  ready(): Promise<void>;
  /** Hands over, at once: whatever it touches is changed for every request from the next on. */
  takeOver(): void;
  /** Resolves when nothing needs the old parts any more. */
  idle(): Promise<void>;
}

export class Lifecycle {
  /** In the order of the start. */
  #parts: readonly Part[];
  readonly #logger: Logger;
  #state: LifecycleState = 'idle';
  #starting: Promise<void> | null = null;
  #stopping: Promise<void> | null = null;
  /** Set when someone stops the service while it starts. */
  #interrupted = false;

  constructor(parts: readonly Part[], logger: Logger) {
    this.#parts = parts;
    this.#logger = logger;
  }

  get state(): LifecycleState {
    return this.#state;
  }

  /** Rejects with the failing part's own error, after the rollback; and with `Interrupted` when stopped meanwhile. */
  start(): Promise<void> {
    if (this.#state !== 'idle') return Promise.reject(new Error(`a service starts once; this one is ${this.#state}`));
    this.#state = 'starting';
    const starting = this.#startAll();
    this.#starting = starting;
    return starting;
  }

  /**
   * Other parts take over from the running ones; what is in both goes on untouched. Rejects with the error of a new part that
   * could not start: then nothing has changed. Old parts that are not done when `deadline` aborts are left behind.
   */
  replace(replacement: Replacement, deadline: AbortSignal): Promise<void> {
    if (this.#state !== 'running')
      return Promise.reject(new Error(`nothing to replace: the service is ${this.#state}`));
    const replacing = this.#replaceWith(replacement, deadline);
    this.#starting = replacing;
    return replacing;
  }

  /** Never rejects. Parts that are not done when `deadline` aborts are left behind. The same promise for every call. */
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
        if (this.#interrupted) throw new Interrupted();
        // A part whose start fails is stopped as well: it may have opened something before it failed.
        started.push(part);
        await part.component.start?.();
      }
      await ready?.();
      if (this.#interrupted) throw new Interrupted();
    } catch (error) {
      await this.#stopParts(started, AbortSignal.timeout(ROLLBACK_TIMEOUT_MS));
      throw error;
    }
  }

  async #stopWhenPossible(deadline: AbortSignal): Promise<void> {
    this.#interrupted = true;
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
        if (!stopped) this.#logger.warn({ part: name }, 'not stopped in time, left behind');
      } catch (error) {
        this.#logger.error({ part: name, error }, 'failed to stop');
      }
    }
  }
}

/** The start was given up because a stop was asked for. */
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

/** True when the promise was first. A promise that is already done always wins; one left behind may reject unheard. */
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
