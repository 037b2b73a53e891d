/** A service: start, reload, stop, readiness. */
import type { ServiceStatus } from '../component/extension.ts';
import type { Config } from '../config/config.ts';
import { UserError } from '../errors.ts';
import { ListeningSockets } from '../net/listener.ts';
import { type Assembly, type AssemblyDependencies, assemble, type ServiceDependencies } from './assembly.ts';
import { Lifecycle, type LifecycleState } from './lifecycle.ts';

/** The time limit of a reload for new parts to become healthy, for example with a database that is unavailable. */
const READY_TIMEOUT_MS = 10_000;
const READY_CHECK_MS = 50;

/** Other participants of a reload, which all switch to the next configuration or none does. */
export interface ReloadParticipants {
  /**
   * Called when the new parts of the service are ready. Resolves when the participants are ready; rejects when they
   * will not be.
   */
  prepare(): Promise<void>;
  /** Switches to the new configuration, synchronously. */
  takeOver(): void;
  /** Resolves when no request uses the old configuration. */
  idle(): Promise<void>;
}

const NO_PARTICIPANTS: ReloadParticipants = {
  prepare: async () => undefined,
  takeOver: () => undefined,
  idle: async () => undefined,
};

export class Service implements ServiceStatus {
  readonly #dependencies: AssemblyDependencies;
  readonly #lifecycle: Lifecycle;
  readonly #furtherProblems: () => readonly string[];
  #assembly: Assembly;

  constructor(config: Config, dependencies: ServiceDependencies) {
    const { logger, problems = () => [], sockets = new ListeningSockets() } = dependencies;
    this.#dependencies = { ...dependencies, sockets };
    this.#furtherProblems = problems;
    this.#assembly = assemble(config, this.#dependencies, { status: this, previous: null });
    this.#assembly.takeOver();
    this.#lifecycle = new Lifecycle(this.#assembly.parts, logger);
  }

  start(): Promise<void> {
    return this.#lifecycle.start();
  }

  /**
   * Switches to another configuration and reuses unchanged parts: the old pipelines serve until the new ones are ready,
   * and stop when their last request is answered or `deadline` aborts. Rejects without a change when a new part cannot
   * start, or a change needs a restart. One reload at a time.
   */
  async reload(config: Config, deadline: AbortSignal, participants = NO_PARTICIPANTS): Promise<void> {
    const old = this.#assembly;
    const next = assemble(config, this.#dependencies, { status: this, previous: old });
    const takeOver = (): void => {
      next.takeOver();
      this.#assembly = next;
      participants.takeOver();
    };
    const ready = async (): Promise<void> => {
      await untilReady(next);
      await participants.prepare();
    };
    const idle = async (): Promise<void> => void (await Promise.all([old.idle(), participants.idle()]));
    await this.#lifecycle.replace({ parts: next.parts, ready, takeOver, idle }, deadline);
  }

  stop(deadline: AbortSignal): Promise<void> {
    return this.#lifecycle.stop(deadline);
  }

  /** The running configuration. */
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
