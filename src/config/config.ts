/** A validated configuration, as the service is assembled from it. */
import type { Definition, Kind } from '../component/definition.ts';
import type { ExporterDefinition } from '../component/exporter.ts';
import type { ExtensionDefinition } from '../component/extension.ts';
import type { ProcessorDefinition } from '../component/processor.ts';
import type { Pipeline, ReceiverDefinition } from '../component/receiver.ts';
import type { Path } from './node.ts';

export type Signal = Pipeline['signal'];
export const PIPELINE_SIGNALS: readonly Signal[] = ['traces', 'logs', 'metrics'];

/** The four sections that define components, and the kind of each. */
export const SECTIONS = {
  receivers: 'receiver',
  processors: 'processor',
  exporters: 'exporter',
  extensions: 'extension',
} as const satisfies Record<string, Kind>;
export type SectionName = keyof typeof SECTIONS;
export const SECTION_NAMES = Object.keys(SECTIONS) as readonly SectionName[];

export interface ComponentConfig<Of extends Definition> {
  /** `type` or `type/name`. */
  readonly id: string;
  readonly definition: Of;
  /** Validated, defaults filled in, durations in milliseconds, sizes in bytes. */
  readonly options: unknown;
}

export interface PipelineConfig {
  readonly id: string;
  readonly signal: Signal;
  readonly receivers: readonly string[];
  readonly processors: readonly string[];
  readonly exporters: readonly string[];
}

export type LedgerKind = 'postgres' | 'memory';

export interface LogSampling {
  readonly enabled: boolean;
  /** Milliseconds. */
  readonly tick: number;
  readonly initial: number;
}

export interface TelemetryConfig {
  readonly logs: {
    readonly level: LogLevel;
    readonly format: 'auto' | 'json' | 'pretty';
    readonly sampling: LogSampling;
  };
  readonly metrics: { readonly enabled: boolean; readonly endpoint: string };
  readonly traces: { readonly enabled: boolean; readonly exclude_projects: readonly string[] };
  /** A path; empty when there is no socket. */
  readonly status: { readonly socket: string };
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface ServiceConfig {
  readonly ledger: LedgerKind;
  readonly shutdownTimeoutMs: number;
  readonly extensions: readonly string[];
  readonly pipelines: readonly PipelineConfig[];
  readonly telemetry: TelemetryConfig;
}

export interface Config {
  readonly receivers: ReadonlyMap<string, ComponentConfig<ReceiverDefinition<unknown>>>;
  readonly processors: ReadonlyMap<string, ComponentConfig<ProcessorDefinition<unknown>>>;
  readonly exporters: ReadonlyMap<string, ComponentConfig<ExporterDefinition<unknown>>>;
  readonly extensions: ReadonlyMap<string, ComponentConfig<ExtensionDefinition<unknown>>>;
  readonly service: ServiceConfig;
  /** The shipped components and those of the modules the configuration names. */
  readonly definitions: readonly Definition[];
  /** The complete configuration in written form, with defaults and with secrets replaced. */
  readonly redacted: Readonly<Record<string, unknown>>;
  /** The hidden values of `redacted` that are references: their paths, and the references as `${NAME}`. */
  readonly references: readonly { readonly path: Path; readonly reference: string }[];
  /** Rendered. The first line of each is the complete message; the other lines show the place. */
  readonly warnings: readonly string[];
}

/** The exporters of a type that pipelines use, in the order of the configuration. */
export function usedExporters(
  { exporters, service }: Config,
  type: string,
): readonly ComponentConfig<ExporterDefinition<unknown>>[] {
  const used = new Set(service.pipelines.flatMap((pipeline) => pipeline.exporters));
  return [...exporters.values()].filter(({ id, definition }) => definition.type === type && used.has(id));
}
