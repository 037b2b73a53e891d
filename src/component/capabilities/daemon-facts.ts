/** Facts of the process, for extensions that show it. The daemon offers it; it may be absent in tests. */
import type { Capability } from './capability.ts';
import type { Prices } from './prices.ts';

/** How long records are kept, in milliseconds. */
export interface KeptFor {
  readonly spans: number;
  readonly logs: number;
  readonly metrics: number;
  /** Whether days are in an archive before they are dropped. */
  readonly isArchived: boolean;
}

export interface DaemonFacts {
  readonly version: string;
  /** The OTLP/HTTP URL for senders on this machine; null when there is none. */
  readonly endpoint: string | null;
  /** The number of worker processes; 0: this process runs the pipelines. */
  readonly workers: number;
  /** Null where nothing is stored in PostgreSQL. */
  readonly keptFor: KeptFor | null;
  /** Null where this process prices nothing. */
  readonly prices: Prices | null;
  /** The data of `sluice status`, over all processes. */
  status(): Promise<Readonly<Record<string, unknown>>>;
}

export const DAEMON_FACTS: Capability<DaemonFacts> = { name: 'daemon-facts' };
