/**
 * One of several processes that accept requests. It runs the pipelines with the configuration, the share of the budgets
 * and the connections that the primary gives it. It takes messages only from the primary, and exits when the primary
 * dies.
 */
import type { Socket } from 'node:net';
import type { Capabilities } from '../../component/capabilities/capability.ts';
import { OWN_COMMANDS } from '../../component/capabilities/own-commands.ts';
import { REFUSED_REQUESTS } from '../../component/capabilities/refused-requests.ts';
import { ListeningSockets } from '../../net/listener.ts';
import { CompiledSchemas } from '../../config/compiled-schemas.ts';
import type { Config } from '../../config/config.ts';
import { UserError } from '../../errors.ts';
import { Interrupted } from '../../service/lifecycle.ts';
import type { Service } from '../../service/service.ts';
import type { DaemonLogger } from '../../service/telemetry/logger.ts';
import { Registry } from '../../service/telemetry/registry.ts';
import { RecentRefusals } from '../../service/telemetry/recent-refusals.ts';
import { statusOf } from '../../service/telemetry/status.ts';
import { OpenTaps } from '../../service/telemetry/tap.ts';
import { ChildCommands } from '../child-commands.ts';
import { readingFrom } from '../config-files.ts';
import { IdleCollections } from '../idle-collections.ts';
import type { DaemonExitCode, DaemonHost } from '../daemon-host.ts';
import { OpenFileWatch } from '../open-file-watch.ts';
import { countRequests, FATAL_TIMEOUT_MS, makeLogger, makeService, type RequestCounts } from '../process-service.ts';
import { HandedOffPorts } from './handed-off-ports.ts';
import { type Assignment, faultOf, HEARTBEAT_MS, type PrimaryMessage, type WorkerMessage } from './messages.ts';
import { workerConfig } from './role-config.ts';

/** Set when the primary has started the worker. */
interface Running {
  readonly service: Service;
  readonly registry: Registry;
  readonly logger: DaemonLogger;
}

export class Worker {
  readonly #host: DaemonHost;
  readonly #ports = new HandedOffPorts((request) => void this.#send(request));
  /** They belong to the process: after a reload the new service takes over the ports. */
  readonly #sockets = new ListeningSockets(this.#ports.open);
  readonly #schemas = new CompiledSchemas();
  readonly #taps = new OpenTaps(Date.now);
  /** Functions that close the taps, by id. */
  readonly #untaps = new Map<number, () => void>();
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
    const { process } = this.#host;
    new IdleCollections(process).start();
    process.on('uncaughtException', (error) => void this.#fail(error));
    process.on('unhandledRejection', (reason) => void this.#fail(reason));
    process.on('message', (message, connection) =>
      this.#receive(message as PrimaryMessage, connection as Socket | undefined),
    );
    // The primary may have ended while this process loaded its code.
    if (process.connected) process.once('disconnect', () => void this.#primaryLost());
    else void this.#primaryLost();
    void this.#send({ kind: 'hello' });
    return this.#finished;
  }

  #receive(message: PrimaryMessage, connection: Socket | undefined): void {
    if (message.kind === 'opened' || message.kind === 'not_opened' || message.kind === 'connection')
      this.#ports.receive(message, connection);
    else if (message.kind === 'start') void this.#start(message);
    else if (message.kind === 'prepare') void this.#prepare(message.assignment);
    else if (message.kind === 'commit') this.#change?.decide(true);
    else if (message.kind === 'abandon') void this.#abandon();
    else if (message.kind === 'stop') void this.#stop(message.timeoutMs);
    else if (message.kind === 'tap') this.#tap(message);
    else if (message.kind === 'untap') this.#untap(message.id);
    else this.#collect();
  }

  async #start({ number, workers, assignment }: Extract<PrimaryMessage, { readonly kind: 'start' }>): Promise<void> {
    this.#workers = workers;
    // It begins before the start: the primary also replaces a worker that is suspended while it starts.
    setInterval(() => this.#heartbeat(), HEARTBEAT_MS).unref();
    try {
      const config = await this.#read(assignment);
      if (this.#stopping) return;
      const logger = makeLogger(config, this.#host, number);
      new OpenFileWatch(logger).start();
      const registry = new Registry({ worker: String(number) });
      const outside = { process: this.#host.process, logger, registry, taps: this.#taps };
      const refusals = new RecentRefusals(Date.now, (request) => this.#taps.refused(request));
      const offer = (capabilities: Capabilities): void => {
        capabilities.offer(REFUSED_REQUESTS, refusals);
        capabilities.offer(OWN_COMMANDS, new ChildCommands(this.#host));
      };
      const fatal = (error: Error): void => void this.#fail(error);
      const service = makeService(config, outside, { sockets: this.#sockets, workers, fatal, offer });
      this.#running = { service, registry, logger };
      await service.start();
      this.#heartbeat();
      await this.#send({ kind: 'ready' });
    } catch (error) {
      if (error instanceof Interrupted) return;
      await this.#send({ kind: 'failed', fault: faultOf(error) });
      this.#finish(1);
    }
  }

  async #read({ texts, databaseUrl }: Assignment): Promise<Config> {
    const options = { workers: this.#workers, read: readingFrom(texts), schemas: this.#schemas };
    const config = await this.#host.load(options);
    return workerConfig(config, databaseUrl);
  }

  /** Prepares another configuration, then waits until the primary says that all workers are prepared. */
  async #prepare(assignment: Assignment): Promise<void> {
    const change = new Change();
    this.#change = change;
    const prepare = async (): Promise<void> => {
      void this.#send({ kind: 'prepared' });
      change.announced = true;
      if (!(await change.decision)) throw new Abandoned();
    };
    try {
      if (this.#running === null) throw new Error('the worker has not started');
      const { service, logger } = this.#running;
      const config = await this.#read(assignment);
      const deadline = AbortSignal.timeout(config.service.shutdownTimeoutMs);
      const participant = { prepare, takeOver: () => undefined, idle: async () => undefined };
      await service.reload(config, deadline, participant);
      logger.configure(config.service.telemetry.logs);
      this.#heartbeat();
      void this.#send({ kind: 'switched' });
    } catch (error) {
      if (!change.announced) void this.#send({ kind: 'refused', fault: faultOf(error) });
      else if (!(error instanceof Abandoned || error instanceof Interrupted)) void this.#fail(error);
    } finally {
      change.end();
    }
  }

  async #abandon(): Promise<void> {
    this.#change?.decide(false);
    await this.#change?.ended;
    void this.#send({ kind: 'abandoned' });
  }

  async #stop(timeoutMs: number): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#change?.decide(false);
    const before = this.#counts();
    await this.#running?.service.stop(AbortSignal.timeout(timeoutMs));
    const after = this.#counts();
    const [answered, refused] = [after.answered - before.answered, after.refused - before.refused];
    await this.#send({ kind: 'stopped', report: { answered, refused, left: after.open } });
    this.#finish(0);
  }

  /** Without the primary there are no ports and no new connections: answers the requests in flight, then exits. */
  async #primaryLost(): Promise<void> {
    if (this.#stopping) this.#host.process.exit(1);
    this.#running?.logger.error({}, 'the primary process has ended; exiting');
    await this.#stop(this.#running?.service.config.service.shutdownTimeoutMs ?? 0);
  }

  /** After an unexpected fault the state in memory cannot be trusted: nothing more is acknowledged. */
  async #fail(error: unknown): Promise<void> {
    const fields = error instanceof UserError ? { hint: error.hint } : { error };
    const message = error instanceof UserError ? error.message : 'a fatal error; exiting';
    this.#running?.logger.error(fields, message);
    if (this.#stopping) this.#host.process.exit(1);
    this.#stopping = true;
    setTimeout(() => this.#host.process.exit(1), FATAL_TIMEOUT_MS);
    await this.#running?.service.stop(AbortSignal.timeout(FATAL_TIMEOUT_MS));
    this.#finish(1);
  }

  #heartbeat(): void {
    const problems = this.#running?.service.problems() ?? [];
    void this.#send({ kind: 'heartbeat', problems, inFlight: this.#counts().open });
  }

  #collect(): void {
    if (this.#running === null) return;
    const { service, registry, logger } = this.#running;
    const status = statusOf({
      config: service.config,
      registry,
      state: service.state,
      problems: service.problems(),
      lastProblems: logger.problems,
    });
    void this.#send({ kind: 'collected', families: registry.families(), status });
  }

  #tap({ id, question }: Extract<PrimaryMessage, { readonly kind: 'tap' }>): void {
    this.#untap(id);
    this.#untaps.set(
      id,
      this.#taps.open(question, (event) => void this.#send({ kind: 'tapped', id, event })),
    );
  }

  #untap(id: number): void {
    this.#untaps.get(id)?.();
    this.#untaps.delete(id);
  }

  #counts(): RequestCounts {
    return this.#running === null ? { open: 0, answered: 0, refused: 0 } : countRequests(this.#running.registry);
  }

  /** Resolves when the message is sent, or cannot be sent any more. */
  #send(message: WorkerMessage): Promise<void> {
    const { process } = this.#host;
    return new Promise((resolve) => {
      if (process.send === undefined || !process.connected) resolve();
      else process.send(message, undefined, {}, () => resolve());
    });
  }
}

/** The primary has abandoned the reload. */
class Abandoned extends Error {}

/** One reload, from `prepare` to its end. */
class Change {
  /** Whether `prepared` has been sent. */
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
