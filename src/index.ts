/**
 * The package's exports for authors of components: the interfaces, the four `define…` functions and the refusals. The
 * configuration names a module that exports a definition under `modules`.
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
export type { Claim, Commit, Ledger, Quota, TraceClaim, Verdict } from './component/capabilities/ledger.ts';
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
export type { Batch, Tables } from './pdata/batch.ts';
export type { Context, Credential, Encoding, Fact, Plan, Project, RequestInfo, Signal } from './pdata/context.ts';
export type { Steps } from './pdata/steps.ts';
