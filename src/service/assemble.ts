/**
 * From a validated configuration to a service that can start: creates each component once, gives it its host, and connects
 * receivers to the pipelines of their signals. Nothing here does I/O.
 */
import { Capabilities } from '../component/capability.ts';
import type { Component, Host, HostProcess } from '../component/component.ts';
import type { Exporter } from '../component/exporter.ts';
import { type Extension, SERVICE_STATUS } from '../component/extension.ts';
import { type Listeners, ListeningSockets } from '../component/listener.ts';
import type { Logger } from '../component/logger.ts';
import type { Meter } from '../component/meter.ts';
import type { Processor } from '../component/processor.ts';
import type { Pipeline, Receiver } from '../component/receiver.ts';
import type { ComponentConfig, Config, LedgerKind, PipelineConfig } from '../config/config.ts';
import type { Definition, Kind } from '../component/definition.ts';
import type { Signal } from '../model/context.ts';
import { Lifecycle, type Part } from './lifecycle.ts';
import { Service } from './service.ts';

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
  readonly now: () => number;
}

/** A pipeline may have a life of its own: it starts after its processors and stops after its receivers. */
export type MakePipeline = (parts: PipelineParts) => Pipeline & Component;

export interface Surroundings {
  readonly logger: Logger;
  /** A logger bound to one component. */
  readonly loggerFor: (kind: Kind | 'pipeline', id: string) => Logger;
  readonly meter: Meter;
  readonly makePipeline: MakePipeline;
  readonly now: () => number;
  readonly process: HostProcess;
  readonly resolvePath: (path: string) => string;
  readonly fatal: (error: Error) => void;
  /** Left out: sockets of its own. A process that assembles one service after another gives all of them the same. */
  readonly sockets?: ListeningSockets;
  /** Parts of the service itself, such as its own metrics server; they start first and stop last. */
  readonly foundation?: readonly Part[];
  /** What the service itself offers, as the memory ledger; called before any component is created. */
  readonly offer?: (capabilities: Capabilities) => void;
}

export function assemble(config: Config, surroundings: Surroundings): Service {
  const builder = new Builder(config, surroundings);
  const service = new Service(() => builder.watched());
  builder.capabilities.offer(SERVICE_STATUS, service);
  surroundings.offer?.(builder.capabilities);
  service.adopt(new Lifecycle(builder.build(), surroundings.logger));
  return service;
}

class Builder {
  readonly capabilities = new Capabilities();
  readonly #listeners: Listeners;
  readonly #config: Config;
  readonly #surroundings: Surroundings;
  readonly #extensions: Named<Extension>[] = [];
  readonly #exporters = new Map<string, Named<Exporter>>();

  constructor(config: Config, surroundings: Surroundings) {
    this.#config = config;
    this.#surroundings = surroundings;
    this.#listeners = (surroundings.sockets ?? new ListeningSockets()).forService();
  }

  /** The parts in the order of their start. */
  build(): readonly Part[] {
    for (const id of this.#config.service.extensions) {
      const { definition, options } = required(this.#config.extensions, id);
      this.#extensions.push({ id, component: definition.create(options, this.#host('extension', id)) });
    }
    const pipelines = this.#config.service.pipelines.map((pipeline) => this.#pipeline(pipeline));
    const receivers = this.#receivers(pipelines);
    return [
      ...(this.#surroundings.foundation ?? []),
      ...this.#extensions.map((extension) => partOf('extension', extension)),
      ...[...this.#exporters.values()].map((exporter) => partOf('exporter', exporter)),
      ...pipelines.flatMap(({ processors }) => processors.map((processor) => partOf('processor', processor))),
      ...pipelines.map(({ config, pipeline }) => ({ name: `pipeline ${config.id}`, component: pipeline })),
      ...receivers.map((receiver) => partOf('receiver', receiver)),
    ];
  }

  /** The parts whose health decides readiness. */
  watched(): readonly { readonly name: string; readonly healthy: boolean }[] {
    const parts = [
      ...this.#extensions.map(({ id, component }) => ({ name: `extension ${id}`, component })),
      ...[...this.#exporters.values()].map(({ id, component }) => ({ name: `exporter ${id}`, component })),
    ];
    return parts.map(({ name, component }) => ({ name, healthy: component.healthy?.() ?? true }));
  }

  #pipeline(config: PipelineConfig) {
    const processors = config.processors.map((id): Named<Processor> => {
      const { definition, options } = required(this.#config.processors, id);
      return { id, component: definition.create(options, this.#host('processor', id)) };
    });
    const exporters = config.exporters.map((id) => this.#exporter(id));
    const { loggerFor, meter, now, makePipeline } = this.#surroundings;
    const pipeline = makePipeline({
      id: config.id,
      signal: config.signal,
      processors,
      exporters,
      ledger: this.#config.service.ledger,
      capabilities: this.capabilities,
      logger: loggerFor('pipeline', config.id),
      meter,
      now,
    });
    return { config, processors, pipeline };
  }

  #exporter(id: string): Named<Exporter> {
    const known = this.#exporters.get(id);
    if (known !== undefined) return known;
    const { definition, options } = required(this.#config.exporters, id);
    const exporter = { id, component: definition.create(options, this.#host('exporter', id)) };
    this.#exporters.set(id, exporter);
    return exporter;
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
      const { definition, options } = required(this.#config.receivers, id);
      return { id, component: definition.create(options, this.#host('receiver', id), route) };
    });
  }

  #host(kind: Kind, id: string): Host {
    const { loggerFor, meter, now, process, resolvePath, fatal } = this.#surroundings;
    return {
      id,
      logger: loggerFor(kind, id),
      meter,
      capabilities: this.capabilities,
      listeners: this.#listeners,
      now,
      process,
      resolvePath,
      fatal,
    };
  }
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
