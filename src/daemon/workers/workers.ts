/**
 * The workers of a daemon, as the primary has them: they start after everything the primary runs itself and stop before it, go over to
 * another configuration together or not at all, and speak through one endpoint.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { Component } from '../../component/component.ts';
import type { Logger } from '../../component/logger.ts';
import type { Meter } from '../../component/meter.ts';
import { openPausedPort } from '../../net/port.ts';
import type { Family } from '../../service/telemetry/families.ts';
import type { Status, WorkerStatus } from '../../service/telemetry/status.ts';
import { BEAT_MS, WORKER_VARIABLE } from './channel.ts';
import { errorOf } from './fault.ts';
import type { Assignment, StopReport } from './messages.ts';
import { SharedPorts } from './shared-ports.ts';
import { type Employer, WorkerProcess } from './worker-process.ts';

/** A worker that has not made ready for another configuration by then is ended, and the configuration not taken. */
const PREPARE_TIMEOUT_MS = 30_000;
/** A worker's own deadline lies so far before the primary's, that it can still say what it left behind. */
const STOP_MARGIN_MS = 500;

export interface WorkersOptions {
  readonly count: number;
  readonly process: NodeJS.Process;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Asked when everything below the workers runs. */
  readonly firstAssignment: () => Promise<Assignment>;
  readonly shutdownTimeoutMs: () => number;
}

export class Workers implements Component {
  readonly #options: WorkersOptions;
  readonly #workers: readonly WorkerProcess[];
  readonly #ports = new SharedPorts(openPausedPort);
  #assignment: Assignment | null = null;
  /** What all of them have made ready for, and wait for a word about. */
  #next: Assignment | null = null;
  #prepared: readonly WorkerProcess[] = [];
  #changing: Promise<unknown> = Promise.resolve();
  #beat: NodeJS.Timeout | null = null;

  constructor(options: WorkersOptions) {
    this.#options = options;
    const { count: workers, logger, meter } = options;
    const restarts = observeWorkers(meter, () => this.#workers.filter(({ isReady }) => isReady).length);
    const employer: Employer = {
      workers,
      logger,
      ports: this.#ports,
      fork: () => this.#fork(),
      assignment: () => this.#current(),
      lost: () => restarts.add(1),
    };
    this.#workers = Array.from({ length: workers }, (_, index) => new WorkerProcess(index + 1, employer));
  }

  get count(): number {
    return this.#options.count;
  }

  async start(): Promise<void> {
    this.#assignment = await this.#options.firstAssignment();
    await Promise.all(this.#workers.map((worker) => worker.start()));
    this.#beat = setInterval(() => {
      for (const worker of this.#workers) worker.listenForBeat();
    }, BEAT_MS).unref();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    if (this.#beat !== null) clearInterval(this.#beat);
    const timeoutMs = this.#options.shutdownTimeoutMs();
    const margin = Math.min(STOP_MARGIN_MS, timeoutMs / 2);
    const end = (): void => {
      for (const worker of this.#workers) worker.end();
    };
    const stopped = Promise.all(this.#workers.map((worker) => worker.stop(timeoutMs - margin)));
    if (deadline.aborted) end();
    else deadline.addEventListener('abort', end, { once: true });
    await stopped;
    deadline.removeEventListener('abort', end);
  }

  /** Resolves when every worker has everything new ready; rejects when one will not. `takeOver` or `abandon` follows. */
  async prepare(next: Assignment): Promise<void> {
    this.#prepared = this.#workers.filter(({ isReady }) => isReady);
    this.#next = next;
    await Promise.all(this.#prepared.map((worker) => prepareOne(worker, next)));
  }

  /** Resolves when everything goes on as it was. */
  async abandon(): Promise<void> {
    const prepared = this.#prepared;
    this.#prepared = [];
    this.#next = null;
    const abandoned = prepared.map((worker) => worker.expect('abandoned').catch(() => undefined));
    for (const worker of prepared) worker.say({ kind: 'abandon' });
    await Promise.all(abandoned);
  }

  /** At once: whatever starts from here on has the new configuration. */
  takeOver(): void {
    if (this.#next !== null) this.#assignment = this.#next;
    const prepared = this.#prepared;
    this.#changing = Promise.all(prepared.map((worker) => worker.expect('changed').catch(() => undefined)));
    for (const worker of prepared) worker.say({ kind: 'commit' });
    // Who was starting meanwhile, with the old configuration, starts once more.
    for (const worker of this.#workers) if (!prepared.includes(worker)) worker.end();
    this.#prepared = [];
    this.#next = null;
  }

  /** Resolves when no worker needs anything of the old configuration. */
  async idle(): Promise<void> {
    await this.#changing;
    if (this.#workers.every(({ isReady }) => isReady)) this.#ports.tidy();
  }

  problems(): readonly string[] {
    return this.#workers.flatMap((worker) => worker.problems());
  }

  get inFlight(): number {
    return this.#workers.reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  /** Once they have stopped. */
  get stopReport(): StopReport {
    const sum = (pick: (report: StopReport) => number): number =>
      this.#workers.reduce((total, { stopReport }) => total + pick(stopReport), 0);
    return {
      answered: sum(({ answered }) => answered),
      refused: sum(({ refused }) => refused),
      left: sum(({ left }) => left),
    };
  }

  /** Of those that answer in time. */
  async figures(): Promise<{ readonly families: readonly Family[]; readonly statuses: readonly Status[] }> {
    const answers = (await Promise.all(this.#workers.map((worker) => worker.ask()))).filter((each) => each !== null);
    return {
      families: answers.flatMap(({ families }) => families),
      statuses: answers.map(({ status }) => status),
    };
  }

  list(): readonly WorkerStatus[] {
    return this.#workers.map(({ number, pid, state, restarts }) => ({ number, pid, state, restarts }));
  }

  #current(): Assignment {
    if (this.#assignment === null) throw new Error('nothing is assigned yet');
    return this.#assignment;
  }

  /** The same command line: what tells a worker from its primary is the channel, and a variable. */
  #fork(): ChildProcess {
    const { argv, env } = this.#options.process;
    const [, program = '', ...words] = argv;
    return fork(program, words, {
      // What systemd is told is the primary's affair.
      env: { ...env, [WORKER_VARIABLE]: '1', NOTIFY_SOCKET: undefined, WATCHDOG_USEC: undefined },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
  }
}

async function prepareOne(worker: WorkerProcess, assignment: Assignment): Promise<void> {
  const outcome = worker.expect('prepared', 'refused');
  worker.say({ kind: 'prepare', assignment });
  const late = setTimeout(() => worker.end(), PREPARE_TIMEOUT_MS);
  try {
    const report = await outcome;
    if (report.kind === 'refused') throw errorOf(report.fault);
  } finally {
    clearTimeout(late);
  }
}

/** Counts restarts. */
export function observeWorkers(meter: Meter, running: () => number): ReturnType<Meter['counter']> {
  meter.gauge('sluice_workers', 'Workers that take requests.', running);
  return meter.counter('sluice_worker_restarts', 'Workers that ended unasked and were started again.');
}
