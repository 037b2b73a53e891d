/**
 * The running process: starts the service, then waits for signals to reload the configuration or to stop. With several
 * workers it is the primary: it runs the parts of which there is one, and the workers run the pipelines.
 */
import { resolve } from 'node:path';
import { Capabilities } from '../component/capabilities/capability.ts';
import { CONSOLE } from '../component/capabilities/console.ts';
import { DAEMON_FACTS, type DaemonFacts } from '../component/capabilities/daemon-facts.ts';
import { OWN_COMMANDS } from '../component/capabilities/own-commands.ts';
import { PRICES, type Prices } from '../component/capabilities/prices.ts';
import { REFUSED_REQUESTS } from '../component/capabilities/refused-requests.ts';
import { ListeningSockets } from '../net/listener.ts';
import { CompiledSchemas } from '../config/compiled-schemas.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/diagnostics.ts';
import { UserError } from '../errors.ts';
import { Interrupted, type Part } from '../service/lifecycle.ts';
import type { Service } from '../service/service.ts';
import type { DaemonLogger } from '../service/telemetry/logger.ts';
import { RecentRefusals } from '../service/telemetry/recent-refusals.ts';
import { MetricsServer } from '../service/telemetry/metrics-server.ts';
import { Registry } from '../service/telemetry/registry.ts';
import { joinStatuses, type Status, statusOf } from '../service/telemetry/status.ts';
import { type Controls, StatusServer } from '../service/telemetry/status-server.ts';
import { OpenTaps } from '../service/telemetry/tap.ts';
import { ChildCommands } from './child-commands.ts';
import { type ReadFiles, readFiles } from './config-files.ts';
import { type BoundAddress, findEndpoint, findGrpcEndpoint, findMetricsUrl, listenPlaces } from './endpoint.ts';
import { findEmbeddedUrl } from './configured-database.ts';
import { greet } from './first-start.ts';
import { findRetention } from './retention.ts';
import { IdleCollections } from './idle-collections.ts';
import type { DaemonExitCode, DaemonHost } from './daemon-host.ts';
import { identityOf } from './identity.ts';
import { joinMetrics, metricsParts } from './metrics-parts.ts';
import { countRequests, FATAL_TIMEOUT_MS, makeLogger, makeService } from './process-service.ts';
import { OpenFileWatch } from './open-file-watch.ts';
import { type ReloadOutcome, Reloads } from './reloads.ts';
import { runtimeSocket } from './runtime-folder.ts';
import { ServiceManager } from './systemd.ts';
import { primaryConfig } from './workers/role-config.ts';
import type { Assignment } from './workers/messages.ts';
import { nameTaken } from './taken-endpoints.ts';
import { Workers } from './workers/workers.ts';

export class Daemon {
  readonly #host: DaemonHost;
  /** The configuration in force. The service runs all of it, or the primary's part. */
  #files: ReadFiles;
  readonly #logger: DaemonLogger;
  /** They belong to the process: after a reload the new service takes over the ports. */
  readonly #sockets = new ListeningSockets();
  readonly #registry: Registry;
  /** Kept between reloads, because compiling them delays requests. */
  readonly #schemas = new CompiledSchemas();
  /** Null when this process runs the pipelines itself. */
  readonly #workers: Workers | null;
  readonly #service: Service;
  readonly #manager: ServiceManager;
  readonly #taps = new OpenTaps(Date.now);
  readonly #refusals = new RecentRefusals(Date.now, (request) => this.#taps.refused(request));
  /** The capabilities of the running components; the greeting needs the database. */
  #capabilities = new Capabilities();
  /** Resolves `run`. Set in the constructor, so that a signal during the start is not lost. */
  #finish: (code: DaemonExitCode) => void = () => undefined;
  readonly #finished: Promise<DaemonExitCode>;
  #stopping = false;
  readonly #reloads: Reloads;

  constructor(files: ReadFiles, host: DaemonHost, workers: number) {
    this.#host = host;
    this.#files = files;
    this.#finished = new Promise((resolve) => (this.#finish = resolve));
    this.#logger = makeLogger(files.config, host);
    this.#registry = new Registry(workers > 1 ? { worker: 'primary' } : {});
    this.#workers = workers > 1 ? this.#spawnWorkers(workers) : null;
    this.#service = this.#makeService();
    this.#manager = new ServiceManager(host.process, this.#logger, () => this.#condition());
    this.#reloads = new Reloads({
      isRunning: () => this.#service.state === 'running',
      begin: () => this.#manager.reloading(),
      reload: () => this.#reloadOnce(),
      end: () => this.#manager.ready(),
    });
  }

  async run(): Promise<DaemonExitCode> {
    new IdleCollections(this.#host.process).start();
    new OpenFileWatch(this.#logger).start();
    const { config } = this.#files;
    this.#warn(config);
    this.#listen();
    try {
      await this.#service.start();
    } catch (error) {
      if (error instanceof Interrupted) return this.#finished;
      throw await nameTaken(
        error,
        listenPlaces(config).filter((place) => this.#bound(place) === null),
      );
    }
    const problems = this.#service.problems();
    const fields = {
      pipelines: pipelinesOf(config),
      ...(this.#workers === null ? {} : { workers: this.#workers.count }),
    };
    if (problems.length === 0) this.#logger.info(fields, 'everything is ready');
    else this.#logger.warn({ ...fields, problems }, 'everything has started, but not all of it is ready');
    if (!this.#stopping) this.#manager.ready();
    this.#host.hangUps.serve(() => void this.#reloads.request());
    const greeter = { host: this.#host, logger: this.#logger, bound: this.#bound, isStopping: () => this.#stopping };
    void greet(config, this.#capabilities, greeter);
    return this.#finished;
  }

  #spawnWorkers(count: number): Workers {
    return new Workers({
      count,
      process: this.#host.process,
      logger: this.#logger,
      meter: this.#registry,
      firstAssignment: () => this.#assign(this.#files),
      shutdownTimeoutMs: () => this.#files.config.service.shutdownTimeoutMs,
    });
  }

  async #assign({ config, texts }: ReadFiles): Promise<Assignment> {
    return { texts, databaseUrl: await findEmbeddedUrl(config, this.#host.process) };
  }

  /** The part of a configuration that this process runs. */
  #own(config: Config): Config {
    return this.#workers === null ? config : primaryConfig(config);
  }

  #makeService(): Service {
    const workers = this.#workers;
    const metrics = workers === null ? this.#registry : joinMetrics(this.#registry, workers);
    const outside = { process: this.#host.process, logger: this.#logger, registry: this.#registry, taps: this.#taps };
    return makeService(this.#own(this.#files.config), outside, {
      fatal: (error) => void this.#fail(error),
      offer: (capabilities) => {
        this.#capabilities = capabilities;
        capabilities.offer(DAEMON_FACTS, this.#facts());
        capabilities.offer(OWN_COMMANDS, new ChildCommands(this.#host));
        // With workers, this process receives nothing.
        if (workers === null) capabilities.offer(REFUSED_REQUESTS, this.#refusals);
      },
      sockets: this.#sockets,
      firstParts: (config, listeners, running) => {
        return [
          ...this.#statusParts(config, running),
          ...metricsParts(config, running, (endpoint) => new MetricsServer(endpoint, metrics, listeners)),
        ];
      },
      ...(workers === null
        ? {}
        : { lastParts: [{ name: 'workers', component: workers }], problems: () => workers.problems() }),
    });
  }

  #listen(): void {
    const { process } = this.#host;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void this.#stop(signal));
    process.on('SIGUSR1', () => this.#logger.info({}, 'SIGUSR1 is ignored'));
    process.on('uncaughtException', (error) => void this.#fail(error));
    process.on('unhandledRejection', (reason) => void this.#fail(reason));
  }

  async #stop(signal: string): Promise<void> {
    if (this.#stopping) {
      this.#logger.warn({ signal }, 'second signal: exiting at once');
      this.#host.process.exit(1);
    }
    this.#stopping = true;
    this.#manager.stopping();
    const before = countRequests(this.#registry);
    const started = performance.now();
    this.#logger.info({ signal, in_flight: this.#workers?.inFlight ?? before.open }, 'stopping');
    await this.#service.stop(AbortSignal.timeout(this.#files.config.service.shutdownTimeoutMs));
    const after = countRequests(this.#registry);
    const report = this.#workers?.stopReport ?? {
      answered: after.answered - before.answered,
      refused: after.refused - before.refused,
      left: after.open,
    };
    this.#logger.info({ ...report, seconds: secondsSince(started) }, 'stopped');
    this.#finish(0);
  }

  #statusParts({ service }: Config, running: readonly Part[]): readonly Part[] {
    const { process } = this.#host;
    const { socket } = service.telemetry.status;
    const configured = socket === '' || process.platform === 'win32' ? null : resolve(process.cwd(), socket);
    const own = runtimeSocket(process);
    const paths = [configured, own].filter((path) => path !== null);
    return paths.map((path) => {
      const known = running.find(({ component }) => component instanceof StatusServer && component.path === path);
      return known ?? { name: 'status', component: new StatusServer(path, this.#controls(), this.#logger) };
    });
  }

  #controls(): Controls {
    return { status: () => this.#status(), reload: () => this.#reloads.request(), tap: this.#openTap };
  }

  readonly #bound: BoundAddress = (place) => this.#workers?.boundAddress(place) ?? this.#sockets.boundAddress(place);

  readonly #openTap: Controls['tap'] = (question, send) => {
    const close = this.#taps.open(question, send);
    const closeWorkers = this.#workers?.tap(question, send);
    return () => {
      close();
      closeWorkers?.();
    };
  };

  async #status(): Promise<Status> {
    const { config } = this.#files;
    const activity = statusOf({
      config,
      registry: this.#registry,
      state: this.#service.state,
      problems: this.#service.problems(),
      lastProblems: this.#logger.problems,
    });
    const place = this.#capabilities.find(CONSOLE)?.address() ?? null;
    const own = {
      ...identityOf(this.#files, this.#host),
      ...activity,
      otlp: { http: findEndpoint(config, this.#bound), grpc: findGrpcEndpoint(config, this.#bound) },
      metrics: findMetricsUrl(config, this.#bound),
      console: place?.url ?? place?.endpoint ?? null,
    };
    if (this.#workers === null) return own;
    return joinStatuses(own, this.#workers.list(), (await this.#workers.collect()).statuses);
  }

  #facts(): DaemonFacts {
    const status = async (): Promise<Readonly<Record<string, unknown>>> => ({ ...(await this.#status()) });
    // The configuration in force changes with a reload.
    const endpoint = (): string | null => findEndpoint(this.#files.config, this.#bound);
    const config = (): Config => this.#files.config;
    const prices = (): Prices | null => this.#capabilities.find(PRICES) ?? null;
    return {
      version: this.#host.version,
      workers: this.#workers?.count ?? 0,
      status,
      get endpoint() {
        return endpoint();
      },
      get keptFor() {
        return findRetention(config());
      },
      get prices() {
        return prices();
      },
    };
  }

  /** One line for `systemctl status`. */
  #condition(): string {
    const problems = this.#service.problems();
    if (problems.length > 0) return problems.join('; ');
    return `ready: ${pipelinesOf(this.#files.config).join(', ')}`;
  }

  /**
   * After an unexpected fault the state in memory cannot be trusted. No further request is accepted, and only committed
   * ones are acknowledged.
   */
  async #fail(error: unknown): Promise<void> {
    if (error instanceof UserError) this.#logger.error({ hint: error.hint }, error.message);
    else this.#logger.error({ error }, 'a fatal error; exiting');
    if (this.#stopping) this.#host.process.exit(1);
    this.#stopping = true;
    this.#manager.stopping();
    setTimeout(() => this.#host.process.exit(1), FATAL_TIMEOUT_MS);
    await this.#service.stop(AbortSignal.timeout(FATAL_TIMEOUT_MS));
    this.#finish(1);
  }

  async #reloadOnce(): Promise<ReloadOutcome> {
    if (this.#service.state !== 'running') {
      const problem = 'the configuration can be loaded again once everything is ready';
      this.#logger.warn({ state: this.#service.state }, problem);
      return { loaded: false, problems: [problem] };
    }
    const started = performance.now();
    try {
      const files = await readFiles(this.#host, { workers: this.#workers?.count ?? 1, schemas: this.#schemas });
      const { config } = files;
      this.#warn(config);
      await this.#switchTo(files, AbortSignal.timeout(config.service.shutdownTimeoutMs));
      this.#files = files;
      this.#logger.configure(config.service.telemetry.logs);
      const fields = { pipelines: pipelinesOf(config), seconds: secondsSince(started) };
      this.#logger.info(fields, 'the configuration was loaded again');
      return { loaded: true, problems: [] };
    } catch (error) {
      if (error instanceof Interrupted) return { loaded: false, problems: ['the daemon is stopping'] };
      const problems = problemsOf(error);
      this.#logger.error({ problems }, 'the configuration was not loaded; the running one stays in use');
      return { loaded: false, problems };
    }
  }

  async #switchTo(files: ReadFiles, deadline: AbortSignal): Promise<void> {
    const workers = this.#workers;
    if (workers === null) return this.#service.reload(files.config, deadline);
    const prepare = async (): Promise<void> => workers.prepare(await this.#assign(files));
    const participant = { prepare, takeOver: () => workers.takeOver(), idle: () => workers.idle() };
    try {
      await this.#service.reload(this.#own(files.config), deadline, participant);
    } catch (error) {
      await workers.abandon();
      throw error;
    }
  }

  #warn({ warnings }: Config): void {
    for (const warning of warnings) this.#logger.warn({}, warning.split('\n')[0] ?? '');
  }
}

/** All problems of a configuration with their places, or the error of the component that did not start. */
function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.message.split('\n');
  if (error instanceof UserError) return [error.message, ...(error.hint === null ? [] : [`hint: ${error.hint}`])];
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}

const pipelinesOf = ({ service }: Config): readonly string[] => service.pipelines.map(({ id }) => id);
const secondsSince = (started: number): number => Math.round(performance.now() - started) / 1000;
