/** Facts of the process, for extensions that show it. The daemon offers it; it may be absent in tests. */
import type { Capability } from './capability.ts';

export interface DaemonFacts {
  readonly version: string;
  /** The OTLP/HTTP URL for senders on this machine; null when there is none. */
  readonly endpoint: string | null;
  /** The number of worker processes; 0: this process runs the pipelines. */
  readonly workers: number;
  /** The data of `sluice status`, over all processes. */
  status(): Promise<Readonly<Record<string, unknown>>>;
}

export const DAEMON_FACTS: Capability<DaemonFacts> = { name: 'daemon-facts' };
