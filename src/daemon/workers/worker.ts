/**
 * One of several processes that take requests. It runs the pipelines on what the primary assigns: a configuration, its part of the
 * budgets, connections. It obeys the primary alone, and does not outlive it.
 */
import type { Socket } from 'node:net';
import { ListeningSockets } from '../../net/listener.ts';
import { CompiledSchemas } from '../../config/compiled-schemas.ts';
import type { Config } from '../../config/config.ts';
import { UserError } from '../../errors.ts';
import { Interrupted } from '../../service/lifecycle.ts';
import type { Service } from '../../service/service.ts';
import type { DaemonLogger } from '../../service/telemetry/logger.ts';
import { Registry } from '../../service/telemetry/registry.ts';
import { statusOf } from '../../service/telemetry/status.ts';
import { readingFrom } from '../config-files.ts';
import { letHeapGrow } from '../heap.ts';
import type { DaemonExitCode, DaemonHost } from '../host.ts';
import { countRequests, FATAL_TIMEOUT_MS, makeLogger, makeService, type RequestCounts } from '../process-service.ts';
import { BEAT_MS } from './channel.ts';
import { workerConfig } from './division.ts';
import { faultOf } from './fault.ts';
import { LentPorts } from './lent-ports.ts';
import type { Assignment, Order, Report } from './messages.ts';

const IGNORED: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP'];

/** Exists once the worker has been told what to do. */
interface Running {
  readonly service: Service;
  readonly registry: Registry;
  readonly logger: DaemonLogger;
}

export class Worker {
  readonly #host: DaemonHost;
  readonly #ports = new LentPorts((report) => void this.#say(report));
  /** They belong to the process: a service that follows another takes over its ports. */
  readonly #sockets = new ListeningSockets(this.#ports.open);
  readonly #schemas = new CompiledSchemas();
  #running: Running | null = null;
  #workers = 1;
  #stopping = false;
  #change: Change | null = null;
  #finish: (code: DaemonExitCode) => void = () => undefined;
  readonly #finished: Promise<DaemonExitCode>;

  constructor(host: DaemonHost) {
    this.#host = host;
    this.#finished = new Promise((resolve) => (this.#finish = resolve));
  }

  run(): Promise<DaemonExitCode> {
    letHeapGrow();
    const { process } = this.#host;
    // A terminal and systemd send them to every process; what follows from them is the primary's to say.
    for (const signal of IGNORED) process.on(signal, () => undefined);
    process.on('uncaughtException', (error) => void this.#fail(error));
    process.on('unhandledRejection', (reason) => void this.#fail(reason));
    process.on('message', (order, connection) => this.#obey(order as Order, connection as Socket | undefined));
    process.once('disconnect', () => void this.#orphaned());
    void this.#say({ kind: 'born' });
    return this.#finished;
  }

  #obey(order: Order, connection: Socket | undefined): void {
    if (order.kind === 'opened' || order.kind === 'not_opened' || order.kind === 'connection')
      this.#ports.hear(order, connection);
    else if (order.kind === 'begin') void this.#begin(order);
    else if (order.kind === 'prepare') void this.#prepare(order.assignment);
    else if (order.kind === 'commit') this.#change?.decide(true);
    else if (order.kind === 'abandon') void this.#abandon();
    else if (order.kind === 'stop') void this.#stop(order.timeoutMs);
    else this.#answer();
  }

  async #begin({ number, workers, assignment }: Extract<Order, { readonly kind: 'begin' }>): Promise<void> {
    this.#workers = workers;
    try {
      const config = await this.#read(assignment);
      if (this.#stopping) return;
      const logger = makeLogger(config, this.#host, number);
      const registry = new Registry({ worker: String(number) });
      const outside = { process: this.#host.process, logger, registry };
      const fatal = (error: Error): void => void this.#fail(error);
      const service = makeService(config, outside, { sockets: this.#sockets, workers, fatal });
      this.#running = { service, registry, logger };
      await service.start();
      this.#beat();
      setInterval(() => this.#beat(), BEAT_MS).unref();
      await this.#say({ kind: 'ready' });
    } catch (error) {
      if (error instanceof Interrupted) return;
      await this.#say({ kind: 'failed', fault: faultOf(error) });
      this.#finish(1);
    }
  }

  async #read({ texts, databaseUrl }: Assignment): Promise<Config> {
    const options = { workers: this.#workers, read: readingFrom(texts), schemas: this.#schemas };
    const config = await this.#host.load(options);
    return workerConfig(config, databaseUrl);
  }

  /** Makes everything ready for another configuration, then waits for the word that all the others have. */
  async #prepare(assignment: Assignment): Promise<void> {
    const change = new Change();
    this.#change = change;
    const prepare = async (): Promise<void> => {
      void this.#say({ kind: 'prepared' });
      change.announced = true;
      if (!(await change.decision)) throw new Abandoned();
    };
    try {
      if (this.#running === null) throw new Error('the worker has not begun');
      const { service, logger } = this.#running;
      const config = await this.#read(assignment);
      const deadline = AbortSignal.timeout(config.service.shutdownTimeoutMs);
      const company = { prepare, takeOver: () => undefined, idle: async () => undefined };
      await service.reload(config, deadline, company);
      logger.configure(config.service.telemetry.logs);
      this.#beat();
      void this.#say({ kind: 'changed' });
    } catch (error) {
      if (!change.announced) void this.#say({ kind: 'refused', fault: faultOf(error) });
    } finally {
      change.end();
    }
  }

  async #abandon(): Promise<void> {
    this.#change?.decide(false);
    await this.#change?.ended;
    void this.#say({ kind: 'abandoned' });
  }

  async #stop(timeoutMs: number): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#change?.decide(false);
    const before = this.#counts();
    await this.#running?.service.stop(AbortSignal.timeout(timeoutMs));
    const after = this.#counts();
    const [answered, refused] = [after.answered - before.answered, after.refused - before.refused];
    await this.#say({ kind: 'stopped', report: { answered, refused, left: after.open } });
    this.#finish(0);
  }

  /** Whoever it was given connections by is gone, and their ports with it: what is in flight is answered, and that is all. */
  async #orphaned(): Promise<void> {
    if (this.#stopping) this.#host.process.exit(1);
    this.#running?.logger.error({}, 'the primary process is gone; leaving');
    await this.#stop(this.#running?.service.config.service.shutdownTimeoutMs ?? 0);
  }

  /** What is in memory can not be trusted any more: nothing is acknowledged from here on. */
  async #fail(error: unknown): Promise<void> {
    const fields = error instanceof UserError ? { hint: error.hint } : { error };
    const message = error instanceof UserError ? error.message : 'a fault that cannot be survived; leaving';
    this.#running?.logger.error(fields, message);
    if (this.#stopping) this.#host.process.exit(1);
    this.#stopping = true;
    setTimeout(() => this.#host.process.exit(1), FATAL_TIMEOUT_MS);
    await this.#running?.service.stop(AbortSignal.timeout(FATAL_TIMEOUT_MS));
    this.#finish(1);
  }

  #beat(): void {
    const problems = this.#running?.service.problems() ?? [];
    void this.#say({ kind: 'beat', problems, inFlight: this.#counts().open });
  }

  #answer(): void {
    if (this.#running === null) return;
    const { service, registry, logger } = this.#running;
    const status = statusOf({
      config: service.config,
      registry,
      state: service.state,
      problems: service.problems(),
      lastProblems: logger.problems,
    });
    void this.#say({ kind: 'answer', families: registry.families(), status });
  }

  #counts(): RequestCounts {
    return this.#running === null ? { open: 0, answered: 0, refused: 0 } : countRequests(this.#running.registry);
  }

  /** Resolves when it is on its way, or can not be said any more. */
  #say(report: Report): Promise<void> {
    const { process } = this.#host;
    return new Promise((resolve) => {
      if (process.send === undefined || !process.connected) resolve();
      else process.send(report, undefined, {}, () => resolve());
    });
  }
}

/** The primary has taken back what it asked to be prepared. */
class Abandoned extends Error {}

/** One change of the configuration, between its beginning and its end. */
class Change {
  /** Whether the primary has been told that everything is ready. */
  announced = false;
  decide: (commit: boolean) => void = () => undefined;
  end: () => void = () => undefined;
  readonly decision: Promise<boolean>;
  readonly ended: Promise<void>;

  constructor() {
    this.decision = new Promise((resolve) => (this.decide = resolve));
    this.ended = new Promise((resolve) => (this.end = resolve));
  }
}
