/** An extension offers a capability to other components: a database connection, the ledger, a readiness endpoint. */
import type { Component, Declaration, Host } from './component.ts';
import type { Capability } from './capabilities/capability.ts';

export interface Extension extends Component {
  healthy?(): boolean;
}

export interface ExtensionDefinition<Options> extends Declaration<Options> {
  readonly kind: 'extension';
  /** Types of extensions that must be in `service.extensions` too. */
  readonly requires?: readonly string[];
  /** Offers its capabilities through `host.capabilities` before it returns. */
  create(options: Options, host: Host): Extension;
}

export function defineExtension<Options>(
  definition: Omit<ExtensionDefinition<Options>, 'kind'>,
): ExtensionDefinition<Options> {
  return { kind: 'extension', ...definition };
}

/** The service's own state, for extensions that publish it. */
export interface ServiceStatus {
  /** True after everything has started and until the stop begins, while every exporter is healthy. */
  ready(): boolean;
  /** The reasons, one line each; empty when ready. */
  problems(): readonly string[];
}

export const SERVICE_STATUS: Capability<ServiceStatus> = { name: 'service-status' };
