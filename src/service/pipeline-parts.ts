/** What the assembly gives to a pipeline, and the pipeline as a component. */
import type { Capabilities } from '../component/capabilities/capability.ts';
import type { Component } from '../component/component.ts';
import type { Exporter } from '../component/exporter.ts';
import type { Logger } from '../component/logger.ts';
import type { Meter } from '../component/meter.ts';
import type { Processor } from '../component/processor.ts';
import type { Pipeline } from '../component/receiver.ts';
import type { LedgerKind } from '../config/config.ts';
import type { Signal } from '../pdata/context.ts';
import type { OwnTraces } from './telemetry/own-traces.ts';

export interface Named<T> {
  readonly id: string;
  readonly component: T;
}

/** Everything a pipeline is built from. */
export interface PipelineParts {
  readonly id: string;
  readonly signal: Signal;
  /** In the order they run. No other pipeline uses these instances. */
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

/** A pipeline is a component: it starts after its processors and stops after its receivers. */
export interface PipelineComponent extends Pipeline, Component {
  /** Resolves when every admitted request has ended. */
  idle?(): Promise<void>;
}

export type MakePipeline = (parts: PipelineParts) => PipelineComponent;
