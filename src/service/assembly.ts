/**
 * Assembles the parts of a service from a validated configuration: creates each component once with its host, and
 * connects receivers to the pipelines of their signals. A reload reuses running components according to the reload
 * plan. Nothing here does I/O.
 */
import { Capabilities } from '../component/capabilities/capability.ts';
import type { Component, Host, HostProcess } from '../component/component.ts';
import type { Exporter } from '../component/exporter.ts';
import { type Extension, SERVICE_STATUS, type ServiceStatus } from '../component/extension.ts';
import type { Listeners } from '../component/listening.ts';
import { ListeningSockets } from '../net/listener.ts';
import type { Logger } from '../component/logger.ts';
import type { Meter } from '../component/meter.ts';
import type { Processor } from '../component/processor.ts';
import type { Pipeline, Receiver } from '../component/receiver.ts';
import type { Definition, Kind } from '../component/definition.ts';
import type { ComponentConfig, Config, PipelineConfig } from '../config/config.ts';
import type { Signal } from '../pdata/context.ts';
import { type DesiredComponent, planReload, type ReusedComponent, type RunningComponent } from './reload-plan.ts';
import type { Part } from './lifecycle.ts';
import type { MakePipeline, Named } from './pipeline-parts.ts';
import type { LogScope } from './telemetry/logger.ts';
import { OwnTraces } from './telemetry/own-traces.ts';
import { StagedMeter } from './telemetry/staged-meter.ts';

export interface ServiceDependencies {
  readonly logger: Logger;
  /** A logger bound to one component, or to a pipeline. */
  readonly loggerFor: (scope: LogScope) => Logger;
  readonly meter: Meter;
  readonly makePipeline: MakePipeline;
  readonly now: () => number;
  readonly process: HostProcess;
  readonly resolvePath: (path: string) => string;
  readonly fatal: (error: Error) => void;
  /** Left out: one process is the whole daemon. */
  readonly workers?: number;
  /** Left out: the service has its own sockets. */
  readonly sockets?: ListeningSockets;
  /**
   * Built-in parts, for example the metrics server. They start first and stop last. `running` are those of the running
   * service; a part that is returned again is reused.
   */
  readonly firstParts?: (config: Config, listeners: Listeners, running: readonly Part[]) => readonly Part[];
  /** Built-in parts that start last and stop first. They are the same for every configuration. */
  readonly lastParts?: readonly Part[];
  /** Further reasons why the service is not ready, in addition to those of its components. */
  readonly problems?: () => readonly string[];
  /**
   * Offers capabilities of the service itself, for example the memory ledger. Called before any component is created.
   */
  readonly offer?: (capabilities: Capabilities) => void;
}

export interface WatchedComponent {
  readonly name: string;
  readonly healthy: boolean;
}

/** The parts of a service for one configuration. */
export interface Assembly {
  readonly config: Config;
  readonly firstParts: readonly Part[];
  /** In the order of their start, including those that already run. */
  readonly parts: readonly Part[];
  /** The parts whose health decides readiness. */
  watched(): readonly WatchedComponent[];
  /**
   * After all new parts have started: routes requests to the new pipelines and applies changed options to reused
   * components. Synchronous.
   */
  takeOver(): void;
  /** Resolves when every request that its pipelines admitted has ended. */
  idle(): Promise<void>;
  /** The new components that are not healthy yet. */
  unready(): readonly string[];
  readonly running: ReadonlyMap<string, RunningComponent>;
}

/** `previous`: the running assembly, if there is one. Throws a `UserError` for a change that needs a restart. */
export function assemble(
  config: Config,
  dependencies: AssemblyDependencies,
  { status, previous }: { readonly status: ServiceStatus; readonly previous: Assembly | null },
): Assembly {
  return new Builder(config, dependencies, previous).build(status);
}

export type AssemblyDependencies = ServiceDependencies & { readonly sockets: ListeningSockets };

class Builder {
  readonly #config: Config;
  readonly #dependencies: ServiceDependencies;
  readonly #capabilities = new Capabilities();
  readonly #meter: StagedMeter;
  readonly #reused: ReadonlyMap<string, ReusedComponent>;
  readonly #running = new Map<string, RunningComponent>();
  /** Applied by `takeOver`. */
  readonly #changes: (() => void)[] = [];

  readonly #firstParts: readonly Part[];

  readonly #listeners: Listeners;
  readonly #traces: OwnTraces | null;

  constructor(config: Config, dependencies: AssemblyDependencies, previous: Assembly | null) {
    this.#config = config;
    // One view for each assembly: a server that requests a port in use becomes the successor of the server there.
    this.#listeners = dependencies.sockets.forService();
    this.#firstParts = dependencies.firstParts?.(config, this.#listeners, previous?.firstParts ?? []) ?? [];
    this.#dependencies = dependencies;
    this.#meter = new StagedMeter(dependencies.meter);
    const { traces } = config.service.telemetry;
    this.#traces = traces.enabled ? new OwnTraces(traces, dependencies.logger) : null;
    this.#reused = planReload(previous?.running ?? new Map(), desiredBy(config));
  }

  build(status: ServiceStatus): Assembly {
    const { offer } = this.#dependencies;
    this.#capabilities.offer(SERVICE_STATUS, status);
    offer?.(this.#capabilities);
    for (const { running } of this.#reused.values()) running.capabilities.lendTo(this.#capabilities);
    const extensions = this.#config.service.extensions.map((id) => this.#extension(id));
    const exporters = new Map<string, Named<Exporter>>();
    const pipelines = this.#config.service.pipelines.map((pipeline) => this.#pipeline(pipeline, exporters));
    const receivers = this.#receivers(pipelines);
    const watched = [
      ...extensions.map(({ id, component }) => ({ name: `extension ${id}`, component })),
      ...[...exporters.values()].map(({ id, component }) => ({ name: `exporter ${id}`, component })),
    ];
    const isNew = ({ name }: WatchedComponent): boolean => !this.#reused.has(name);
    const check = (): readonly WatchedComponent[] =>
      watched.map(({ name, component }) => ({ name, healthy: component.healthy?.() ?? true }));
    return {
      config: this.#config,
      firstParts: this.#firstParts,
      parts: [
        ...this.#firstParts,
        ...extensions.map((extension) => partOf('extension', extension)),
        ...[...exporters.values()].map((exporter) => partOf('exporter', exporter)),
        ...pipelines.flatMap(({ processors }) => processors.map((processor) => partOf('processor', processor))),
        ...pipelines.map(({ config, pipeline }) => ({ name: `pipeline ${config.id}`, component: pipeline })),
        ...receivers.map((receiver) => partOf('receiver', receiver)),
        ...(this.#dependencies.lastParts ?? []),
      ],
      watched: check,
      unready: () => check().flatMap((each) => (isNew(each) && !each.healthy ? each.name : [])),
      takeOver: () => {
        this.#meter.release();
        for (const change of this.#changes) change();
      },
      idle: async () => void (await Promise.all(pipelines.map(({ pipeline }) => pipeline.idle?.()))),
      running: this.#running,
    };
  }

  #extension(id: string): Named<Extension> {
    const desired = required(this.#config.extensions, id);
    return { id, component: this.#reuseOrCreate(`extension ${id}`, desired) };
  }

  #pipeline(config: PipelineConfig, exporters: Map<string, Named<Exporter>>) {
    const of = { pipeline: config.id, signal: config.signal };
    const processors = config.processors.map((id): Named<Processor> => {
      const desired = required(this.#config.processors, id);
      return { id, component: this.#reuseOrCreate(`processor ${id} in ${config.id}`, desired, of) };
    });
    for (const id of config.exporters) {
      if (exporters.has(id)) continue;
      const desired = required(this.#config.exporters, id);
      exporters.set(id, { id, component: this.#reuseOrCreate(`exporter ${id}`, desired) });
    }
    const { loggerFor, now, makePipeline } = this.#dependencies;
    const pipeline = makePipeline({
      id: config.id,
      signal: config.signal,
      processors,
      exporters: config.exporters.flatMap((id) => exporters.get(id) ?? []),
      ledger: this.#config.service.ledger,
      capabilities: this.#capabilities,
      logger: loggerFor({ pipeline: config.id, signal: config.signal }),
      meter: this.#meter,
      traces: this.#traces,
      now,
    });
    return { config, processors, pipeline };
  }

  /** One receiver for each id, with the pipeline of every signal it is used for. */
  #receivers(
    pipelines: readonly { readonly config: PipelineConfig; readonly pipeline: Pipeline }[],
  ): readonly Named<Receiver>[] {
    const routes = new Map<string, Map<Signal, Pipeline>>();
    for (const { config, pipeline } of pipelines) {
      for (const id of config.receivers) {
        const route = routes.get(id) ?? new Map<Signal, Pipeline>();
        routes.set(id, route.set(config.signal, pipeline));
      }
    }
    return [...routes].map(([id, route]) => {
      const key = `receiver ${id}`;
      const desired = required(this.#config.receivers, id);
      const { definition, options } = desired;
      const running = this.#reuse(key, options);
      if (running !== null) {
        this.#changes.push(() => reroute(running.routes, route));
        return { id, component: running.component };
      }
      const host = this.#host(key, { kind: 'receiver', id });
      const component = definition.create(options, host, route);
      this.#running.set(key, { ...desired, component, capabilities: host.capabilities, routes: route });
      return { id, component };
    });
  }

  #reuseOrCreate<C extends Component>(key: string, { id, definition, options }: Creatable<C>, of: LogScope = {}): C {
    const running = this.#reuse(key, options);
    // Key and definition are the same, so the type is the same.
    if (running !== null) return running.component as C;
    const host = this.#host(key, { kind: definition.kind, id, ...of });
    const component = definition.create(options, host);
    this.#running.set(key, { definition, options, component, capabilities: host.capabilities, routes: null });
    return component;
  }

  #reuse(key: string, options: unknown): RunningComponent | null {
    const reused = this.#reused.get(key);
    if (reused === undefined) return null;
    this.#changes.push(reused.apply, () => reused.running.capabilities.follow(this.#capabilities));
    const running = { ...reused.running, options };
    this.#running.set(key, running);
    return running;
  }

  #host(key: string, scope: LogScope & { readonly id: string }): Host {
    const { loggerFor, now, process, resolvePath, fatal, workers = 1 } = this.#dependencies;
    return {
      id: scope.id,
      ...(scope.pipeline === undefined ? {} : { pipeline: scope.pipeline }),
      logger: loggerFor(scope),
      meter: this.#meter,
      capabilities: this.#capabilities.scope(key),
      listeners: this.#listeners,
      now,
      process,
      workers,
      resolvePath,
      fatal,
    };
  }
}

interface Creatable<C> {
  readonly id: string;
  readonly definition: DesiredComponent['definition'] & { create(options: unknown, host: Host): C };
  readonly options: unknown;
}

/** Every component of the configuration, by its key. */
function desiredBy({
  receivers,
  processors,
  exporters,
  extensions,
  service,
}: Config): ReadonlyMap<string, DesiredComponent> {
  return new Map<string, DesiredComponent>([
    ...service.extensions.map((id) => [`extension ${id}`, required(extensions, id)] as const),
    ...service.pipelines.flatMap((pipeline) => [
      ...pipeline.exporters.map((id) => [`exporter ${id}`, required(exporters, id)] as const),
      ...pipeline.processors.map((id) => [`processor ${id} in ${pipeline.id}`, required(processors, id)] as const),
      ...pipeline.receivers.map((id) => [`receiver ${id}`, required(receivers, id)] as const),
    ]),
  ]);
}

function reroute(routes: Map<Signal, Pipeline> | null, next: ReadonlyMap<Signal, Pipeline>): void {
  routes?.clear();
  for (const [signal, pipeline] of next) routes?.set(signal, pipeline);
}

const partOf = (kind: Kind, { id, component }: Named<Component>): Part => ({ name: `${kind} ${id}`, component });

function required<Of extends Definition>(
  components: ReadonlyMap<string, ComponentConfig<Of>>,
  id: string,
): ComponentConfig<Of> {
  const found = components.get(id);
  if (found === undefined) throw new Error(`the validated configuration has no "${id}"`);
  return found;
}
