/** A whole service: it starts, takes another configuration, stops, and says whether it is ready. */
import type { ServiceStatus } from '../component/extension.ts';
import type { Logger } from '../component/logger.ts';
import type { Config } from '../config/config.ts';
import { UserError } from '../errors.ts';
import type { Assemble, Assembly } from './assemble.ts';
import { Lifecycle, type LifecycleState } from './lifecycle.ts';

/** A new part that starts without what it needs, such as a database that is away, gets this long before the reload is given up. */
const READY_TIMEOUT_MS = 10_000;
const READY_CHECK_MS = 50;

export class Service implements ServiceStatus {
  readonly #assemble: Assemble;
  readonly #lifecycle: Lifecycle;
  #assembly: Assembly;

  constructor(config: Config, assemble: Assemble, logger: Logger) {
    this.#assemble = assemble;
    this.#assembly = assemble(config, this, null);
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
  async reload(config: Config, deadline: AbortSignal): Promise<void> {
    const old = this.#assembly;
    const next = this.#assemble(config, this, old);
    const takeOver = (): void => {
      next.takeOver();
      this.#assembly = next;
    };
    const ready = (): Promise<void> => untilReady(next);
    await this.#lifecycle.replace({ parts: next.parts, ready, takeOver, idle: () => old.idle() }, deadline);
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
    return this.#assembly
      .watched()
      .filter(({ healthy }) => !healthy)
      .map(({ name }) => `${name} is not healthy`);
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
