/** A whole service: it starts, takes another configuration, stops, and says whether it is ready. */
import type { ServiceStatus } from '../component/extension.ts';
import type { Config } from '../config/config.ts';
import { UserError } from '../errors.ts';
import { ListeningSockets } from '../net/listener.ts';
import { type Assembly, type AssemblySurroundings, assemble, type Surroundings } from './assembly.ts';
import { Lifecycle, type LifecycleState } from './lifecycle.ts';

/** A new part that starts without what it needs, such as a database that is away, gets this long before the reload is given up. */
const READY_TIMEOUT_MS = 10_000;
const READY_CHECK_MS = 50;

/** Others that go over to the next configuration together with a service, or not at all. */
export interface Company {
  /** Asked when everything new of the service is ready. Resolves when theirs is; rejects when it will not be. */
  prepare(): Promise<void>;
  /** They go over, at once. */
  takeOver(): void;
  /** Resolves when they need nothing of the old configuration. */
  idle(): Promise<void>;
}

const ALONE: Company = {
  prepare: async () => undefined,
  takeOver: () => undefined,
  idle: async () => undefined,
};

export class Service implements ServiceStatus {
  readonly #surroundings: AssemblySurroundings;
  readonly #lifecycle: Lifecycle;
  readonly #furtherProblems: () => readonly string[];
  #assembly: Assembly;

  constructor(config: Config, surroundings: Surroundings) {
    const { logger, problems = () => [], sockets = new ListeningSockets() } = surroundings;
    this.#surroundings = { ...surroundings, sockets };
    this.#furtherProblems = problems;
    this.#assembly = assemble(config, this.#surroundings, { status: this, previous: null });
    this.#assembly.takeOver();
    this.#lifecycle = new Lifecycle(this.#assembly.parts, logger);
  }

  start(): Promise<void> {
    return this.#lifecycle.start();
  }

  /**
   * Goes over to another configuration without closing what does not change: the old pipelines serve until the new ones are
   * ready, and stop once their last request is answered, or when `deadline` aborts. Rejects with nothing changed when
   * something new can not start, or needs a restart. One at a time.
   */
  async reload(config: Config, deadline: AbortSignal, company = ALONE): Promise<void> {
    const old = this.#assembly;
    const next = assemble(config, this.#surroundings, { status: this, previous: old });
    const takeOver = (): void => {
      next.takeOver();
      this.#assembly = next;
      company.takeOver();
    };
    const ready = async (): Promise<void> => {
      await untilReady(next);
      await company.prepare();
    };
    const idle = async (): Promise<void> => void (await Promise.all([old.idle(), company.idle()]));
    await this.#lifecycle.replace({ parts: next.parts, ready, takeOver, idle }, deadline);
  }

  stop(deadline: AbortSignal): Promise<void> {
    return this.#lifecycle.stop(deadline);
  }

  /** The configuration that runs. */
  get config(): Config {
    return this.#assembly.config;
  }

  get state(): LifecycleState {
    return this.#lifecycle.state;
  }

  ready(): boolean {
    return this.problems().length === 0;
  }

  problems(): readonly string[] {
    const { state } = this;
    if (state !== 'running') return [`the service is ${state === 'idle' ? 'not started' : state}`];
    const unhealthy = this.#assembly.watched().filter(({ healthy }) => !healthy);
    return [...unhealthy.map(({ name }) => `${name} is not healthy`), ...this.#furtherProblems()];
  }
}

async function untilReady(next: Assembly): Promise<void> {
  for (const end = performance.now() + READY_TIMEOUT_MS; ; ) {
    const unready = next.unready();
    if (unready.length === 0) return;
    if (performance.now() > end) {
      throw new UserError(`not ready after ${READY_TIMEOUT_MS / 1000} s: ${unready.join(', ')}`);
    }
    await new Promise((resolve) => setTimeout(resolve, READY_CHECK_MS));
  }
}
