/** What the primary process and its workers say to each other. All of it is plain data; connections travel beside a message. */
import type { Endpoint } from '../../component/endpoint.ts';
import type { ListenRequest } from '../../component/listening.ts';
import type { Family } from '../../service/telemetry/families.ts';
import type { Status } from '../../service/telemetry/status.ts';
import type { FileTexts } from '../config-files.ts';

/** What a worker runs with. It never reads the files itself: they may have changed since the others read them. */
export interface Assignment {
  readonly texts: FileTexts;
  /** Where the embedded server of the primary is; null where the configuration names a database, or none. */
  readonly databaseUrl: string | null;
}

/** Why something failed; `isMistake` where the person at the keyboard can mend it. */
export interface Fault {
  readonly message: string;
  readonly hint: string | null;
  readonly isMistake: boolean;
}

/** Counted since the stop began; `left` is what was not answered in the end. */
export interface StopReport {
  readonly answered: number;
  readonly refused: number;
  readonly left: number;
}

export type Order =
  | { readonly kind: 'begin'; readonly number: number; readonly workers: number; readonly assignment: Assignment }
  | { readonly kind: 'prepare'; readonly assignment: Assignment }
  | { readonly kind: 'commit' }
  | { readonly kind: 'abandon' }
  | { readonly kind: 'stop'; readonly timeoutMs: number }
  | { readonly kind: 'ask' }
  | { readonly kind: 'opened'; readonly key: string; readonly address: string }
  | { readonly kind: 'not_opened'; readonly key: string; readonly fault: Fault }
  /** With the connection. */
  | { readonly kind: 'connection'; readonly key: string };

/** How a worker is doing, once a second and when it has become ready. */
export interface Beat {
  readonly kind: 'beat';
  readonly problems: readonly string[];
  readonly inFlight: number;
}

export interface Answer {
  readonly kind: 'answer';
  readonly families: readonly Family[];
  readonly status: Status;
}

/** About the ports that the primary has open. */
export type PortReport =
  | { readonly kind: 'listen'; readonly key: string; readonly endpoint: Endpoint; readonly request: ListenRequest }
  | { readonly kind: 'limit'; readonly key: string; readonly request: ListenRequest }
  | { readonly kind: 'leave'; readonly key: string }
  /** One of the connections that it was given is over. */
  | { readonly kind: 'closed'; readonly key: string };

export type Report =
  /** It listens to orders. */
  | { readonly kind: 'born' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly fault: Fault }
  /** One of these two answers `prepare`. */
  | { readonly kind: 'prepared' }
  | { readonly kind: 'refused'; readonly fault: Fault }
  /** It goes the new way, and nothing is left of the old one. */
  | { readonly kind: 'changed' }
  /** It goes on as it was. */
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'stopped'; readonly report: StopReport }
  | Beat
  | Answer
  | PortReport;
