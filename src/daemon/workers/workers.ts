/**
 * All workers from the primary's view. They start after the primary's own parts and stop before them, switch to another
 * configuration together or not at all, and share one endpoint each for readiness, metrics and status.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { Component } from '../../component/component.ts';
import type { Logger } from '../../component/logger.ts';
import type { Meter } from '../../component/meter.ts';
import type { ListenPlace } from '../../component/listening.ts';
import { keyOfPlace } from '../../net/listener.ts';
import { openPausedPort } from '../../net/port.ts';
import type { Family } from '../../service/telemetry/families.ts';
import type { Activity, WorkerStatus } from '../../service/telemetry/status.ts';
import type { TapListener, TapQuestion } from '../../service/telemetry/tap.ts';
import { type Assignment, HEARTBEAT_MS, type PrimaryMessage, type StopReport, WORKER_VARIABLE } from './messages.ts';
import { SharedPorts } from './shared-ports.ts';
import { type Primary, WorkerProcess } from './worker-process.ts';

/** A worker's deadline is this much earlier than the primary's, so that it can still send its stop report. */
const STOP_MARGIN_MS = 500;

export interface WorkersOptions {
  readonly count: number;
  readonly process: NodeJS.Process;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Called when the primary's own parts run. */
  readonly firstAssignment: () => Promise<Assignment>;
  readonly shutdownTimeoutMs: () => number;
}

export class Workers implements Component {
  readonly #options: WorkersOptions;
  readonly #workers: readonly WorkerProcess[];
  readonly #ports = new SharedPorts(openPausedPort);
  #assignment: Assignment | null = null;
  /** The configuration that all workers have prepared, until the reload is committed or abandoned. */
  #next: Assignment | null = null;
  #prepared: readonly WorkerProcess[] = [];
  #switching: Promise<unknown> = Promise.resolve();
  readonly #taps = new Map<number, { readonly message: PrimaryMessage; readonly send: TapListener }>();
  #nextTap = 1;
  #heartbeats: NodeJS.Timeout | null = null;

  constructor(options: WorkersOptions) {
    this.#options = options;
    const { count: workers, logger, meter } = options;
    const restarts = observeWorkers(meter, () => this.#workers.filter(({ isReady }) => isReady).length);
    const primary: Primary = {
      workers,
      logger,
      ports: this.#ports,
      spawn: () => this.#spawn(),
      assignment: () => this.#current(),
      restarting: () => restarts.add(1),
      taps: () => [...this.#taps.values()].map(({ message }) => message),
      tapped: ({ id, event }) => this.#taps.get(id)?.send(event),
    };
    this.#workers = Array.from({ length: workers }, (_, index) => new WorkerProcess(index + 1, primary));
  }

  get count(): number {
    return this.#options.count;
  }

  /** The bound address of an endpoint that the workers share; null without one. */
  boundAddress(place: ListenPlace): string | null {
    const key = keyOfPlace(place);
    return key === null ? null : this.#ports.boundAddress(key);
  }

  /** A stop of the service does not wait until all workers are ready: their start ends when they are stopped. */
  async start(stopping?: AbortSignal): Promise<void> {
    this.#assignment = await this.#options.firstAssignment();
    stopping?.throwIfAborted();
    const stopped = new Promise<never>((_resolve, reject) =>
      stopping?.addEventListener('abort', () => reject(new Error('stopped while starting'))),
    );
    await Promise.race([Promise.all(this.#workers.map((worker) => worker.start())), stopped]);
    this.#heartbeats = setInterval(() => {
      for (const worker of this.#workers) worker.checkHeartbeat();
    }, HEARTBEAT_MS).unref();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    if (this.#heartbeats !== null) clearInterval(this.#heartbeats);
    const timeoutMs = this.#options.shutdownTimeoutMs();
    const margin = Math.min(STOP_MARGIN_MS, timeoutMs / 2);
    const end = (): void => {
      for (const worker of this.#workers) worker.kill();
    };
    const stopped = Promise.all(this.#workers.map((worker) => worker.stop(timeoutMs - margin)));
    if (deadline.aborted) end();
    else deadline.addEventListener('abort', end, { once: true });
    await stopped;
    deadline.removeEventListener('abort', end);
  }

  /**
   * Resolves when every worker has prepared the configuration; rejects when one refuses. `takeOver` or `abandon`
   * follows.
   */
  async prepare(next: Assignment): Promise<void> {
    // Otherwise one that switches more slowly than the configuration changes would never end.
    await Promise.all(this.#workers.map((worker) => worker.settled()));
    this.#prepared = this.#workers.filter(({ isReady }) => isReady);
    this.#next = next;
    await Promise.all(this.#prepared.map((worker) => worker.prepare(next)));
  }

  /** Resolves when every worker has returned to its old configuration. */
  async abandon(): Promise<void> {
    const prepared = this.#prepared;
    this.#prepared = [];
    this.#next = null;
    await Promise.all(prepared.map((worker) => worker.abandon()));
  }

  /** Commits the reload: workers that start from now on get the new configuration. */
  takeOver(): void {
    if (this.#next !== null) this.#assignment = this.#next;
    this.#switching = Promise.all(this.#workers.map((worker) => worker.renew()));
    this.#prepared = [];
    this.#next = null;
  }

  /** Resolves when no worker uses the old configuration. */
  async idle(): Promise<void> {
    await this.#switching;
    if (this.#workers.every(({ isReady }) => isReady)) this.#ports.closeUnused();
  }

  problems(): readonly string[] {
    return this.#workers.flatMap((worker) => worker.problems());
  }

  get inFlight(): number {
    return this.#workers.reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  /** Valid after the stop. */
  get stopReport(): StopReport {
    const sum = (pick: (report: StopReport) => number): number =>
      this.#workers.reduce((total, { stopReport }) => total + pick(stopReport), 0);
    return {
      answered: sum(({ answered }) => answered),
      refused: sum(({ refused }) => refused),
      left: sum(({ left }) => left),
    };
  }

  /** From the workers that reply in time. */
  async collect(): Promise<{ readonly families: readonly Family[]; readonly statuses: readonly Activity[] }> {
    const answers = (await Promise.all(this.#workers.map((worker) => worker.collect()))).filter(
      (each) => each !== null,
    );
    return {
      families: answers.flatMap(({ families }) => families),
      statuses: answers.map(({ status }) => status),
    };
  }

  /** Shows what the workers store and refuse. Returns the function that ends it. */
  tap(question: TapQuestion, send: TapListener): () => void {
    const id = this.#nextTap++;
    const share = { ...question, limit: Math.ceil(question.limit / this.count) };
    const message = { kind: 'tap', id, question: share } as const;
    this.#taps.set(id, { message, send });
    for (const worker of this.#workers) worker.send(message);
    return () => {
      this.#taps.delete(id);
      for (const worker of this.#workers) worker.send({ kind: 'untap', id });
    };
  }

  list(): readonly WorkerStatus[] {
    return this.#workers.map(({ number, pid, state, restarts }) => ({ number, pid, state, restarts }));
  }

  #current(): Assignment {
    if (this.#assignment === null) throw new Error('nothing is assigned yet');
    return this.#assignment;
  }

  /** A worker has the same command line as the primary. It differs by its channel and by a variable. */
  #spawn(): ChildProcess {
    const { argv, env } = this.#options.process;
    const [, program = '', ...words] = argv;
    return fork(program, words, {
      // Only the primary notifies systemd.
      env: { ...env, [WORKER_VARIABLE]: '1', NOTIFY_SOCKET: undefined, WATCHDOG_USEC: undefined },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
  }
}

export function observeWorkers(meter: Meter, running: () => number): ReturnType<Meter['counter']> {
  meter.gauge('sluice_workers', 'Workers that accept requests.', running);
  return meter.counter('sluice_worker_restarts', 'Workers that exited unexpectedly and were restarted.');
}
