/** `sluice run`: the daemon. Starts the service, then waits for signals. */
import { resolve } from 'node:path';
import { pino } from 'pino';
import pretty from 'pino-pretty';
import { Capabilities } from '../component/capability.ts';
import { ListeningSockets } from '../component/listener.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/problem.ts';
import { UserError } from '../errors.ts';
import { assemble } from '../service/assemble.ts';
import { Interrupted, type Part } from '../service/lifecycle.ts';
import { makePipelines } from '../service/make-pipeline.ts';
import type { Service } from '../service/service.ts';
import { createLogger, type LoggerRoot } from '../service/telemetry/logger.ts';
import { MetricsServer } from '../service/telemetry/metrics-server.ts';
import { observeProcess } from '../service/telemetry/process-metrics.ts';
import { Registry } from '../service/telemetry/registry.ts';
import type { Call, Command, ExitCode } from './command.ts';
import { CONFIG_OPTIONS, readConfig } from './config-options.ts';
import { greet } from './first-start.ts';
import { wantsColour } from './terminal.ts';

/** After a fault nobody foresaw, the process is gone within this. */
const FATAL_TIMEOUT_MS = 1_500;
const MICROSECONDS = 1e6;

export const run: Command = {
  name: 'run',
  summary: 'Run the pipeline (the default)',
  description:
    'Runs until SIGTERM or SIGINT, then finishes the requests in flight within service.shutdown_timeout; a second\nsignal ends it at once. SIGHUP checks the configuration again.',
  options: CONFIG_OPTIONS,
  examples: [
    ['sluice', 'run with config/sluice.yaml'],
    ['sluice --config config/sidecar.yaml', 'run with another configuration'],
    ['sluice run --set receivers.otlp.protocols.http.endpoint=0.0.0.0:4318', 'change one option'],
  ],
  async run(call) {
    const config = await readConfig(call);
    const daemon = new Daemon(config, call);
    const code = await daemon.run();
    // A connection that would not close must not keep a stopped daemon alive.
    return call.process.exit(code);
  },
};

class Daemon {
  readonly #call: Call;
  readonly #config: Config;
  readonly #logger: LoggerRoot;
  /** They belong to the process: a service that follows another takes over its ports. */
  readonly #sockets = new ListeningSockets();
  readonly #service: Service;
  /** What the components offer each other; the greeting needs the database. */
  #capabilities = new Capabilities();
  /** Resolves `run`. Set at once, so that a signal during the start is not lost. */
  #finish: (code: ExitCode) => void = () => undefined;
  readonly #finished: Promise<ExitCode>;
  #stopping = false;

  constructor(config: Config, call: Call) {
    this.#call = call;
    this.#config = config;
    this.#finished = new Promise((resolve) => (this.#finish = resolve));
    this.#logger = makeLogger(config, call.process);
    this.#service = this.#assemble();
  }

  async run(): Promise<ExitCode> {
    for (const warning of this.#config.warnings) this.#logger.warn({}, warning.split('\n')[0] ?? '');
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
    void greet(this.#call, this.#config, this.#capabilities, this.#logger);
    return this.#finished;
  }

  #assemble(): Service {
    const { process } = this.#call;
    const meter = new Registry();
    const workingDirectory = process.cwd();
    observeProcess(meter, {
      cpuSeconds: () => (process.cpuUsage().user + process.cpuUsage().system) / MICROSECONDS,
      rssBytes: () => process.memoryUsage.rss(),
    });
    return assemble(this.#config, {
      logger: this.#logger,
      loggerFor: (kind, id) => this.#logger.child({ 'otelcol.component.kind': kind, 'otelcol.component.id': id }),
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
      foundation: metricsPart(this.#config, meter, this.#sockets),
    });
  }

  #listen(): void {
    const { process } = this.#call;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void this.#stop(signal));
    process.on('SIGHUP', () => void this.#checkAgain());
    process.on('uncaughtException', (error) => void this.#fail(error));
    process.on('unhandledRejection', (reason) => void this.#fail(reason));
  }

  async #stop(signal: string): Promise<void> {
    if (this.#stopping) {
      this.#logger.warn({ signal }, 'second signal: leaving at once');
      this.#call.process.exit(1);
    }
    this.#stopping = true;
    this.#logger.info({ signal }, 'stopping');
    await this.#service.stop(AbortSignal.timeout(this.#config.service.shutdownTimeoutMs));
    this.#logger.info({}, 'stopped');
    this.#finish(0);
  }

  /** What is in memory can not be trusted any more: nothing is acknowledged from here on. */
  async #fail(error: unknown): Promise<void> {
    if (error instanceof UserError) this.#logger.error({ hint: error.hint }, error.message);
    else this.#logger.error({ error }, 'a fault that cannot be survived; leaving');
    if (this.#stopping) this.#call.process.exit(1);
    this.#stopping = true;
    setTimeout(() => this.#call.process.exit(1), FATAL_TIMEOUT_MS);
    await this.#service.stop(AbortSignal.timeout(FATAL_TIMEOUT_MS));
    this.#finish(1);
  }

  async #checkAgain(): Promise<void> {
    try {
      await readConfig(this.#call);
      this.#logger.info({}, 'the configuration is valid; restart to use it');
    } catch (error) {
      const problems = error instanceof ConfigError ? error.message.split('\n') : [String(error)];
      this.#logger.error({ problems }, 'the configuration is not valid; the running one stays');
    }
  }
}

function metricsPart(config: Config, registry: Registry, sockets: ListeningSockets): readonly Part[] {
  const { enabled, endpoint } = config.service.telemetry.metrics;
  return enabled ? [{ name: 'metrics', component: new MetricsServer(endpoint, registry, sockets.forService()) }] : [];
}

function makeLogger(config: Config, process: NodeJS.Process): LoggerRoot {
  const { level, format } = config.service.telemetry.logs;
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
  return createLogger(level, destination);
}
