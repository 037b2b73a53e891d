/**
 * From a validated configuration to the parts of a service: creates each component once, gives it its host, and connects
 * receivers to the pipelines of their signals. After a change of the configuration, components that can go on are taken over
 * from the parts that run. Nothing here does I/O.
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
import type { ComponentConfig, Config, LedgerKind, PipelineConfig } from '../config/config.ts';
import type { Signal } from '../pdata/context.ts';
import { type Kept, keep, type Live, type Wanted } from './reload-plan.ts';
import type { Part } from './lifecycle.ts';
import type { Speaker } from './telemetry/logger.ts';
import { OwnTraces } from './telemetry/own-traces.ts';
import { StagedMeter } from './telemetry/staged-meter.ts';

export interface Named<T> {
  readonly id: string;
  readonly component: T;
}

/** Everything a pipeline is built from. */
export interface PipelineParts {
  readonly id: string;
  readonly signal: Signal;
  /** In the order they run; instances of this pipeline alone. */
  readonly processors: readonly Named<Processor>[];
  /** Shared with the pipelines of other signals. */
  readonly exporters: readonly Named<Exporter>[];
  readonly ledger: LedgerKind;
  readonly capabilities: Capabilities;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Null while the daemon's own traces are off. */
  readonly traces: OwnTraces | null;
  readonly now: () => number;
}

/** A pipeline has a life of its own: it starts after its processors and stops after its receivers. */
export interface LivingPipeline extends Pipeline, Component {
  /** Resolves when every request that it admitted is over. */
  idle?(): Promise<void>;
}

export type MakePipeline = (parts: PipelineParts) => LivingPipeline;

export interface Surroundings {
  readonly logger: Logger;
  /** A logger bound to one component, or to a pipeline. */
  readonly loggerFor: (speaker: Speaker) => Logger;
  readonly meter: Meter;
  readonly makePipeline: MakePipeline;
  readonly now: () => number;
  readonly process: HostProcess;
  readonly resolvePath: (path: string) => string;
  readonly fatal: (error: Error) => void;
  /** Left out: this process is the whole daemon. */
  readonly workers?: number;
  /** Left out: sockets of its own. */
  readonly sockets?: ListeningSockets;
  /**
   * Parts of the service itself, such as its own metrics server; they start first and stop last. `running` are those of the
   * service that runs; one of them that is returned again goes on.
   */
  readonly foundation?: (config: Config, listeners: Listeners, running: readonly Part[]) => readonly Part[];
  /** Further parts of the service itself, which start last and stop first; the same ones for every configuration. */
  readonly crown?: readonly Part[];
  /** Why the service is not ready, beside what its components say; empty when nothing is wrong. */
  readonly problems?: () => readonly string[];
  /** What the service itself offers, as the memory ledger; called before any component is created. */
  readonly offer?: (capabilities: Capabilities) => void;
}

export interface Watched {
  readonly name: string;
  readonly healthy: boolean;
}

/** What one configuration became. */
export interface Assembly {
  readonly config: Config;
  readonly foundation: readonly Part[];
  /** In the order of their start, those that run already included. */
  readonly parts: readonly Part[];
  /** The parts whose health decides readiness. */
  watched(): readonly Watched[];
  /** After everything new has started: requests go to the new pipelines, and kept components learn what changed. At once. */
  takeOver(): void;
  /** Resolves when every request that its pipelines admitted is over. */
  idle(): Promise<void>;
  /** What was made for it and can not take data yet. */
  unready(): readonly string[];
  readonly live: ReadonlyMap<string, Live>;
}

/** `previous` is what runs now, if anything. Throws a `UserError` for a change that needs a restart. */
export function assemble(
  config: Config,
  surroundings: AssemblySurroundings,
  { status, previous }: { readonly status: ServiceStatus; readonly previous: Assembly | null },
): Assembly {
  return new Builder(config, surroundings, previous).build(status);
}

export type AssemblySurroundings = Surroundings & { readonly sockets: ListeningSockets };

class Builder {
  readonly #config: Config;
  readonly #surroundings: Surroundings;
  readonly #capabilities = new Capabilities();
  readonly #meter: StagedMeter;
  readonly #kept: ReadonlyMap<string, Kept>;
  readonly #live = new Map<string, Live>();
  /** What happens when the requests come over. */
  readonly #changes: (() => void)[] = [];

  readonly #foundation: readonly Part[];

  readonly #listeners: Listeners;
  readonly #traces: OwnTraces | null;

  constructor(config: Config, surroundings: AssemblySurroundings, previous: Assembly | null) {
    this.#config = config;
    // One view for each assembly: whoever asks for a port that runs already follows its server.
    this.#listeners = surroundings.sockets.forService();
    this.#foundation = surroundings.foundation?.(config, this.#listeners, previous?.foundation ?? []) ?? [];
    this.#surroundings = surroundings;
    this.#meter = new StagedMeter(surroundings.meter);
    const { traces } = config.service.telemetry;
    this.#traces = traces.enabled ? new OwnTraces(traces, surroundings.logger) : null;
    this.#kept = keep(previous?.live ?? new Map(), wantedBy(config));
  }

  build(status: ServiceStatus): Assembly {
    const { offer } = this.#surroundings;
    this.#capabilities.offer(SERVICE_STATUS, status);
    offer?.(this.#capabilities);
    for (const { live } of this.#kept.values()) live.capabilities.lendTo(this.#capabilities);
    const extensions = this.#config.service.extensions.map((id) => this.#extension(id));
    const exporters = new Map<string, Named<Exporter>>();
    const pipelines = this.#config.service.pipelines.map((pipeline) => this.#pipeline(pipeline, exporters));
    const receivers = this.#receivers(pipelines);
    const watched = [
      ...extensions.map(({ id, component }) => ({ name: `extension ${id}`, component })),
      ...[...exporters.values()].map(({ id, component }) => ({ name: `exporter ${id}`, component })),
    ];
    const isNew = ({ name }: Watched): boolean => !this.#kept.has(name);
    const check = (): readonly Watched[] =>
      watched.map(({ name, component }) => ({ name, healthy: component.healthy?.() ?? true }));
    return {
      config: this.#config,
      foundation: this.#foundation,
      parts: [
        ...this.#foundation,
        ...extensions.map((extension) => partOf('extension', extension)),
        ...[...exporters.values()].map((exporter) => partOf('exporter', exporter)),
        ...pipelines.flatMap(({ processors }) => processors.map((processor) => partOf('processor', processor))),
        ...pipelines.map(({ config, pipeline }) => ({ name: `pipeline ${config.id}`, component: pipeline })),
        ...receivers.map((receiver) => partOf('receiver', receiver)),
        ...(this.#surroundings.crown ?? []),
      ],
      watched: check,
      unready: () => check().flatMap((each) => (isNew(each) && !each.healthy ? each.name : [])),
      takeOver: () => {
        this.#meter.release();
        for (const change of this.#changes) change();
      },
      idle: async () => void (await Promise.all(pipelines.map(({ pipeline }) => pipeline.idle?.()))),
      live: this.#live,
    };
  }

  #extension(id: string): Named<Extension> {
    const wanted = required(this.#config.extensions, id);
    return { id, component: this.#keepOrMake(`extension ${id}`, wanted) };
  }

  #pipeline(config: PipelineConfig, exporters: Map<string, Named<Exporter>>) {
    const of = { pipeline: config.id, signal: config.signal };
    const processors = config.processors.map((id): Named<Processor> => {
      const wanted = required(this.#config.processors, id);
      return { id, component: this.#keepOrMake(`processor ${id} in ${config.id}`, wanted, of) };
    });
    for (const id of config.exporters) {
      if (exporters.has(id)) continue;
      const wanted = required(this.#config.exporters, id);
      exporters.set(id, { id, component: this.#keepOrMake(`exporter ${id}`, wanted) });
    }
    const { loggerFor, now, makePipeline } = this.#surroundings;
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
      const wanted = required(this.#config.receivers, id);
      const { definition, options } = wanted;
      const live = this.#keep(key, options);
      if (live !== null) {
        this.#changes.push(() => reroute(live.routes, route));
        return { id, component: live.component };
      }
      const host = this.#host(key, { kind: 'receiver', id });
      const component = definition.create(options, host, route);
      this.#live.set(key, { ...wanted, component, capabilities: host.capabilities, routes: route });
      return { id, component };
    });
  }

  #keepOrMake<C extends Component>(key: string, { id, definition, options }: Creatable<C>, of: Speaker = {}): C {
    const live = this.#keep(key, options);
    // The key names the kind, and the definition is the same: so is the type.
    if (live !== null) return live.component as C;
    const host = this.#host(key, { kind: definition.kind, id, ...of });
    const component = definition.create(options, host);
    this.#live.set(key, { definition, options, component, capabilities: host.capabilities, routes: null });
    return component;
  }

  #keep(key: string, options: unknown): Live | null {
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    this.#changes.push(kept.apply, () => kept.live.capabilities.follow(this.#capabilities));
    const live = { ...kept.live, options };
    this.#live.set(key, live);
    return live;
  }

  #host(key: string, speaker: Speaker & { readonly id: string }): Host {
    const { loggerFor, now, process, resolvePath, fatal, workers = 1 } = this.#surroundings;
    return {
      id: speaker.id,
      logger: loggerFor(speaker),
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
  readonly definition: Wanted['definition'] & { create(options: unknown, host: Host): C };
  readonly options: unknown;
}

/** Every component that runs, under its key. */
function wantedBy({ receivers, processors, exporters, extensions, service }: Config): ReadonlyMap<string, Wanted> {
  return new Map<string, Wanted>([
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
  if (found === undefined) throw new Error(`the validated configuration lacks "${id}"`);
  return found;
}
