/** A whole assembled service: it starts, stops and says whether it is ready. */
import type { ServiceStatus } from '../component/extension.ts';
import type { Lifecycle, LifecycleState } from './lifecycle.ts';

export interface Watched {
  readonly name: string;
  readonly healthy: boolean;
}

export class Service implements ServiceStatus {
  readonly #watched: () => readonly Watched[];
  #lifecycle: Lifecycle | null = null;

  constructor(watched: () => readonly Watched[]) {
    this.#watched = watched;
  }

  /** Called once by `assemble`; the status is offered to components before they, and so the lifecycle, exist. */
  adopt(lifecycle: Lifecycle): void {
    this.#lifecycle = lifecycle;
  }

  start(): Promise<void> {
    return this.#lifecycle?.start() ?? Promise.reject(new Error('the service is not assembled'));
  }

  stop(deadline: AbortSignal): Promise<void> {
    return this.#lifecycle?.stop(deadline) ?? Promise.resolve();
  }

  get state(): LifecycleState {
    return this.#lifecycle?.state ?? 'idle';
  }

  ready(): boolean {
    return this.problems().length === 0;
  }

  problems(): readonly string[] {
    const { state } = this;
    if (state !== 'running') return [`the service is ${state === 'idle' ? 'not started' : state}`];
    return this.#watched()
      .filter(({ healthy }) => !healthy)
      .map(({ name }) => `${name} is not healthy`);
  }
}
