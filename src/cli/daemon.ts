/** The running process: starts the service, then waits for signals to load the configuration again or to stop. */
import { resolve } from 'node:path';
import { pino } from 'pino';
import pretty from 'pino-pretty';
import { Capabilities } from '../component/capability.ts';
import { ListeningSockets } from '../component/listener.ts';
import { CompiledSchemas } from '../config/compiled-schemas.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/problem.ts';
import { UserError } from '../errors.ts';
import { assemble } from '../service/assemble.ts';
import { Interrupted, type Part } from '../service/lifecycle.ts';
import { makePipelines } from '../service/make-pipeline.ts';
import type { Service } from '../service/service.ts';
import { DaemonLogger } from '../service/telemetry/logger.ts';
import { MetricsServer } from '../service/telemetry/metrics-server.ts';
import { observeProcess } from '../service/telemetry/process-metrics.ts';
import { Registry } from '../service/telemetry/registry.ts';
import { statusOf } from '../service/telemetry/status.ts';
import { StatusServer } from '../service/telemetry/status-server.ts';
import type { Call, ExitCode } from './command.ts';
import { readConfig } from './config-options.ts';
import { greet } from './first-start.ts';
import { letHeapGrow } from './heap.ts';
import { ServiceManager } from './service-manager.ts';
import { wantsColour } from './terminal.ts';

/** After a fault nobody foresaw, the process is gone within this. */
const FATAL_TIMEOUT_MS = 1_500;
const MICROSECONDS = 1e6;

export class Daemon {
  readonly #call: Call;
  /** The configuration of the start; `#service.config` is the one that runs. */
  readonly #config: Config;
  readonly #logger: DaemonLogger;
  /** They belong to the process: a service that follows another takes over its ports. */
  readonly #sockets = new ListeningSockets();
  readonly #registry = new Registry();
  /** Kept from one reload to the next, since compiling them holds up requests. */
  readonly #schemas = new CompiledSchemas();
  readonly #service: Service;
  readonly #manager: ServiceManager;
  /** What the components offer each other; the greeting needs the database. */
  #capabilities = new Capabilities();
  /** Resolves `run`. Set at once, so that a signal during the start is not lost. */
  #finish: (code: ExitCode) => void = () => undefined;
  readonly #finished: Promise<ExitCode>;
  #stopping = false;
  #reload: 'none' | 'running' | 'asked again' = 'none';

  constructor(config: Config, call: Call) {
    this.#call = call;
    this.#config = config;
    this.#finished = new Promise((resolve) => (this.#finish = resolve));
    this.#logger = makeLogger(config, call.process);
    this.#service = this.#assemble();
    this.#manager = new ServiceManager(call.process, this.#logger, () => this.#condition());
  }

  async run(): Promise<ExitCode> {
    letHeapGrow();
    this.#warn(this.#config);
    this.#listen();
    try {
      await this.#service.start();
    } catch (error) {
      if (error instanceof Interrupted) return this.#finished;
      throw error;
    }
    const pipelines = this.#config.service.pipelines.map(({ id }) => id);
    const problems = this.#service.problems();
    if (problems.length === 0) this.#logger.info({ pipelines }, 'everything is ready');
    else this.#logger.warn({ pipelines, problems }, 'everything has started, but not all of it is ready');
    if (!this.#stopping) this.#manager.ready();
    void greet(this.#call, this.#config, this.#capabilities, this.#logger);
    return this.#finished;
  }

  #assemble(): Service {
    const { process } = this.#call;
    const meter = this.#registry;
    const workingDirectory = process.cwd();
    observeProcess(meter, {
      cpuSeconds: () => (process.cpuUsage().user + process.cpuUsage().system) / MICROSECONDS,
      rssBytes: () => process.memoryUsage.rss(),
    });
    return assemble(this.#config, {
      logger: this.#logger,
      loggerFor: (speaker) => this.#logger.for(speaker),
      meter,
      makePipeline: makePipelines(this.#logger, meter, Date.now),
      now: Date.now,
      process,
      resolvePath: (path) => resolve(workingDirectory, path),
      fatal: (error) => void this.#fail(error),
      offer: (capabilities) => {
        this.#capabilities = capabilities;
      },
      sockets: this.#sockets,
      foundation: (config, listeners, running) => {
        return [
          ...this.#statusParts(config, running),
          ...metricsParts(config, running, (endpoint) => new MetricsServer(endpoint, meter, listeners)),
        ];
      },
    });
  }

  #listen(): void {
    const { process } = this.#call;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void this.#stop(signal));
    process.on('SIGHUP', () => void this.#loadAgain());
    process.on('uncaughtException', (error) => void this.#fail(error));
    process.on('unhandledRejection', (reason) => void this.#fail(reason));
  }

  async #stop(signal: string): Promise<void> {
    if (this.#stopping) {
      this.#logger.warn({ signal }, 'second signal: leaving at once');
      this.#call.process.exit(1);
    }
    this.#stopping = true;
    this.#manager.stopping();
    const before = this.#requests();
    const started = performance.now();
    this.#logger.info({ signal, in_flight: before.open }, 'stopping');
    await this.#service.stop(AbortSignal.timeout(this.#service.config.service.shutdownTimeoutMs));
    const after = this.#requests();
    const report = {
      answered: after.answered - before.answered,
      refused: after.refused - before.refused,
      left: after.open,
      seconds: Math.round(performance.now() - started) / 1000,
    };
    this.#logger.info(report, 'stopped');
    this.#finish(0);
  }

  #statusParts({ service }: Config, running: readonly Part[]): readonly Part[] {
    const { socket } = service.telemetry.status;
    if (socket === '' || this.#call.process.platform === 'win32') return [];
    const path = resolve(this.#call.process.cwd(), socket);
    const known = running.find(({ component }) => component instanceof StatusServer && component.path === path);
    const snapshot = (): object =>
      statusOf({
        config: this.#service.config,
        registry: this.#registry,
        state: this.#service.state,
        problems: this.#service.problems(),
        lastProblems: this.#logger.problems,
      });
    return [known ?? { name: 'status', component: new StatusServer(path, snapshot, this.#logger) }];
  }

  /** One line for people. */
  #condition(): string {
    const problems = this.#service.problems();
    if (problems.length > 0) return problems.join('; ');
    return `ready: ${this.#service.config.service.pipelines.map(({ id }) => id).join(', ')}`;
  }

  #requests() {
    return {
      open: this.#registry.total('sluice_requests_in_flight'),
      answered: this.#registry.total('sluice_acknowledge_seconds'),
      refused: this.#registry.total('sluice_refusals'),
    };
  }

  /** What is in memory can not be trusted any more: no request is taken from here on, and only what is committed is acknowledged. */
  async #fail(error: unknown): Promise<void> {
    if (error instanceof UserError) this.#logger.error({ hint: error.hint }, error.message);
    else this.#logger.error({ error }, 'a fault that cannot be survived; leaving');
    if (this.#stopping) this.#call.process.exit(1);
    this.#stopping = true;
    this.#manager.stopping();
    setTimeout(() => this.#call.process.exit(1), FATAL_TIMEOUT_MS);
    await this.#service.stop(AbortSignal.timeout(FATAL_TIMEOUT_MS));
    this.#finish(1);
  }

  /** Reloads one after the other; signals that arrive meanwhile are one more. */
  async #loadAgain(): Promise<void> {
    if (this.#reload !== 'none') {
      this.#reload = 'asked again';
      return;
    }
    do {
      this.#reload = 'running';
      // A daemon that still starts can not reload, and must not be called ready for having tried.
      if (this.#service.state === 'running') this.#manager.reloading();
      await this.#reloadOnce();
    } while (this.#asked());
    this.#reload = 'none';
    if (this.#service.state === 'running') this.#manager.ready();
  }

  #asked(): boolean {
    return this.#reload === 'asked again' && !this.#stopping;
  }

  async #reloadOnce(): Promise<void> {
    if (this.#service.state !== 'running') {
      this.#logger.warn(
        { state: this.#service.state },
        'the configuration can be loaded again once everything is ready',
      );
      return;
    }
    const started = performance.now();
    try {
      const config = await readConfig(this.#call, this.#schemas);
      this.#warn(config);
      await this.#service.reload(config, AbortSignal.timeout(config.service.shutdownTimeoutMs));
      this.#logger.configure(config.service.telemetry.logs);
      const pipelines = config.service.pipelines.map(({ id }) => id);
      const seconds = Math.round(performance.now() - started) / 1000;
      this.#logger.info({ pipelines, seconds }, 'the configuration was loaded again');
    } catch (error) {
      if (error instanceof Interrupted) return;
      this.#logger.error({ problems: problemsOf(error) }, 'the configuration was not loaded; the running one stays');
    }
  }

  #warn({ warnings }: Config): void {
    for (const warning of warnings) this.#logger.warn({}, warning.split('\n')[0] ?? '');
  }
}

/** Every problem of a configuration with its place, or the one thing that did not start. */
function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.message.split('\n');
  if (error instanceof UserError) return [error.message, ...(error.hint === null ? [] : [`hint: ${error.hint}`])];
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}

/** The server of the metrics goes on for as long as its address stays. */
function metricsParts(
  { service }: Config,
  running: readonly Part[],
  make: (endpoint: string) => MetricsServer,
): readonly Part[] {
  const { enabled, endpoint } = service.telemetry.metrics;
  if (!enabled) return [];
  const known = running.find(({ component }) => component instanceof MetricsServer && component.endpoint === endpoint);
  return [known ?? { name: 'metrics', component: make(endpoint) }];
}

function makeLogger(config: Config, process: NodeJS.Process): DaemonLogger {
  const { level, format, sampling } = config.service.telemetry.logs;
  const readable = format === 'pretty' || (format === 'auto' && process.stderr.isTTY === true);
  const fd = process.stderr.fd;
  const destination = readable
    ? pretty({
        colorize: wantsColour(process, process.stderr),
        destination: fd,
        sync: true,
        translateTime: 'SYS:HH:MM:ss.l',
      })
    : pino.destination({ fd, sync: true });
  return DaemonLogger.create({ level, sampling }, destination);
}
