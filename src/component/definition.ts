/** Any component's definition with its options' type erased: what the list of components holds and the service assembles. */
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
