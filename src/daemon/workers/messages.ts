/**
 * The messages between the primary process and its workers. They are plain data; a connection is sent beside its
 * message.
 */
import type { Endpoint } from '../../component/endpoint.ts';
import type { ListenRequest } from '../../component/listening.ts';
import { UserError, type UserErrorReason } from '../../errors.ts';
import type { Family } from '../../service/telemetry/families.ts';
import type { Activity } from '../../service/telemetry/status.ts';
import type { TapEvent, TapQuestion } from '../../service/telemetry/tap.ts';
import type { FileTexts } from '../config-files.ts';

/** The primary sets this variable for its workers. */
export const WORKER_VARIABLE = 'SLUICE_WORKER';
/** The interval at which a worker sends a heartbeat. */
export const HEARTBEAT_MS = 1_000;

/**
 * Whether the process has a channel to a primary, which may have ended. Child processes of a worker inherit only the
 * variable.
 */
export function isWorker({ env, send }: Pick<NodeJS.Process, 'env' | 'send'>): boolean {
  return env[WORKER_VARIABLE] !== undefined && send !== undefined;
}

/** The configuration of a worker. A worker never reads the files itself: they may have changed. */
export interface Assignment {
  readonly texts: FileTexts;
  /** The URL of the primary's embedded server; null when the configuration names a database, or has none. */
  readonly databaseUrl: string | null;
}

/** An error as plain data. */
export interface Fault {
  readonly message: string;
  readonly hint: string | null;
  readonly reason: UserErrorReason;
  /** Whether the error is a `UserError`, a mistake that the operator can fix. */
  readonly isMistake: boolean;
}

/** Counts since the begin of the stop; `left` is the number of requests that were not answered. */
export interface StopReport {
  readonly answered: number;
  readonly refused: number;
  readonly left: number;
}

export type PrimaryMessage =
  | { readonly kind: 'start'; readonly number: number; readonly workers: number; readonly assignment: Assignment }
  | { readonly kind: 'prepare'; readonly assignment: Assignment }
  | { readonly kind: 'commit' }
  | { readonly kind: 'abandon' }
  | { readonly kind: 'stop'; readonly timeoutMs: number }
  | { readonly kind: 'collect' }
  | { readonly kind: 'tap'; readonly id: number; readonly question: TapQuestion }
  | { readonly kind: 'untap'; readonly id: number }
  | PortReply;

/** About the ports that the primary has open for the worker. */
export type PortReply =
  | { readonly kind: 'opened'; readonly key: string; readonly address: string }
  | { readonly kind: 'not_opened'; readonly key: string; readonly fault: Fault }
  /** A connection is handed off beside this message. */
  | { readonly kind: 'connection'; readonly key: string };

/** The state of a worker, sent every second and after its start. */
export interface Heartbeat {
  readonly kind: 'heartbeat';
  readonly problems: readonly string[];
  readonly inFlight: number;
}

export interface Collected {
  readonly kind: 'collected';
  readonly families: readonly Family[];
  readonly status: Activity;
}

/** What a tap of the primary shows. */
export interface Tapped {
  readonly kind: 'tapped';
  readonly id: number;
  readonly event: TapEvent;
}

export type PortRequest =
  | { readonly kind: 'listen'; readonly key: string; readonly endpoint: Endpoint; readonly request: ListenRequest }
  | { readonly kind: 'limit'; readonly key: string; readonly request: ListenRequest }
  | { readonly kind: 'unlisten'; readonly key: string }
  /** A connection that was handed off is closed. */
  | { readonly kind: 'closed'; readonly key: string };

export type WorkerMessage =
  /** The worker receives messages. */
  | { readonly kind: 'hello' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly fault: Fault }
  /** `prepared` or `refused` is the reply to `prepare`. */
  | { readonly kind: 'prepared' }
  | { readonly kind: 'refused'; readonly fault: Fault }
  /** The worker runs the new configuration, and the old one has stopped. */
  | { readonly kind: 'switched' }
  /** The worker continues with its old configuration. */
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'stopped'; readonly report: StopReport }
  | Heartbeat
  | Collected
  | Tapped
  | PortRequest;

export function faultOf(error: unknown): Fault {
  if (error instanceof UserError)
    return { message: error.message, hint: error.hint, reason: error.reason, isMistake: true };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message, hint: null, reason: 'invalid', isMistake: false };
}

export function errorOf({ message, hint, reason, isMistake }: Fault): Error {
  return isMistake ? new UserError(message, hint, reason) : new Error(message);
}
