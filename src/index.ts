/**
 * The package's exports for authors of components: the interfaces, the four `define…` functions, the refusals, reading
 * and changing a batch, and encoding rows. docs/components.md describes them. The configuration names a module that
 * exports a definition under `modules`.
 */
export { type Capability, Capabilities } from './component/capabilities/capability.ts';
export type {
  CheckPlace,
  Component,
  Declaration,
  Host,
  HostProcess,
  OptionFault,
  OptionsSchema,
  Stability,
} from './component/component.ts';
export type { Definition, Kind } from './component/definition.ts';
export { type Exporter, type ExporterDefinition, type Rows, defineExporter } from './component/exporter.ts';
export {
  type Extension,
  type ExtensionDefinition,
  type ServiceStatus,
  defineExtension,
  SERVICE_STATUS,
} from './component/extension.ts';
export type { Claim, TransactionHandle, Ledger, Quota, Outcome } from './component/capabilities/ledger.ts';
export { LEDGER } from './component/capabilities/ledger.ts';
export { HttpConnections } from './net/http-connections.ts';
export type { ConnectionHandler, Listener, ListenRequest, Listeners } from './component/listening.ts';
export type { Logger } from './component/logger.ts';
export type { Counter, Histogram, Meter } from './component/meter.ts';
export { type Processor, type ProcessorDefinition, defineProcessor } from './component/processor.ts';
export {
  type Acceptance,
  type Admission,
  type Delivery,
  type Pipeline,
  type Receiver,
  type ReceiverDefinition,
  defineReceiver,
} from './component/receiver.ts';
export { Rejection, type RefusalCode, type RefusalDetails, UserError } from './errors.ts';
export type { AttributeCursor } from './pdata/attributes.ts';
export type { Tables } from './pdata/tables.ts';
export type { Batch } from './pdata/batch.ts';
export { ChunkPool } from './pdata/chunk-pool.ts';
export type { Context, Credential, Encoding, Fact, Plan, Project, RequestInfo, Signal } from './pdata/context.ts';
export { type AttributeOwner, type AttributeValue, setAttribute, setValue } from './pdata/edit-attributes.ts';
export { encodeInSteps, type EncodedRows, type RowFormat } from './pdata/encode-rows.ts';
export type { RecordCursor } from './pdata/records.ts';
export type { LogRow, MetricPointRow, SpanRow, StoredRow } from './pdata/rows.ts';
export type { Steps } from './pdata/steps.ts';
