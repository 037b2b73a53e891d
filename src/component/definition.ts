/** A component's definition without the type of its options, for the list of components and the service. */
import type { ExporterDefinition } from './exporter.ts';
import type { ExtensionDefinition } from './extension.ts';
import type { ProcessorDefinition } from './processor.ts';
import type { ReceiverDefinition } from './receiver.ts';

export type Definition =
  | ReceiverDefinition<unknown>
  | ProcessorDefinition<unknown>
  | ExporterDefinition<unknown>
  | ExtensionDefinition<unknown>;

export type Kind = Definition['kind'];
