/**
 * The requests that are still to be forwarded. Entries join the commit of their request, so an acknowledged request is
 * always forwarded, and a refused one never is. The `postgres` extension offers it.
 */
import type { Signal } from '../../pdata/context.ts';
import type { Capability } from './capability.ts';
import type { TransactionHandle } from './ledger.ts';

/** The records of one request, for one destination. */
export interface OutboxEntry {
  /** Id of the exporter that sends it. */
  readonly destination: string;
  readonly signal: Signal;
  readonly project: string;
  readonly records: number;
  readonly bytes: number;
  /** An OTLP request in protobuf, in pieces. They must not change until the request is settled. */
  readonly chunks: readonly Buffer[];
}

/** A waiting entry without its body. */
export interface WaitingEntry {
  /** Ascending in the order of creation. */
  readonly sequence: bigint;
  readonly signal: Signal;
  readonly project: string;
  readonly records: number;
  readonly bytes: number;
  readonly attempts: number;
  /** Unix milliseconds; null before the first attempt. */
  readonly firstAttemptMs: number | null;
  /** Not to be sent before this time; null: at once. */
  readonly nextAttemptMs: number | null;
}

export interface FailedAttempt {
  readonly nowMs: number;
  readonly nextAttemptMs: number;
  readonly error: string;
}

/** The size of a destination's queue. Measured periodically, and estimated in between. */
export interface OutboxSize {
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly dead: number;
  readonly deadBytes: number;
}

/** Records that were dropped because the outbox was full. */
export interface Dropped {
  readonly entries: number;
  readonly records: Readonly<Record<Signal, number>>;
}

/**
 * The queue of one destination, in the order of creation. One process at a time holds it, among all processes on the
 * same database. When its connection breaks, the queue is released and every method except `acquire` rejects.
 */
export interface DestinationQueue {
  /** True when this process holds the queue; false while another process does. */
  acquire(): Promise<boolean>;
  /** The oldest waiting entries, at most `limit`. */
  waiting(limit: number): Promise<readonly WaitingEntry[]>;
  /** The bodies of entries, in this order. Entries that no longer exist are left out. */
  bodies(entries: readonly WaitingEntry[]): Promise<readonly Buffer[]>;
  /** Deletes entries that the remote accepted. */
  delivered(entries: readonly WaitingEntry[]): Promise<void>;
  /** Schedules another attempt. Later entries wait behind these. */
  failed(entries: readonly WaitingEntry[], attempt: FailedAttempt): Promise<void>;
  /** Makes entries dead letters, with the reason. Later entries are sent. */
  deadLetter(entries: readonly WaitingEntry[], attempt: Omit<FailedAttempt, 'nextAttemptMs'>): Promise<void>;
  /** Another process may then acquire the queue. */
  release(): Promise<void>;
}

export interface Outbox {
  /** The clock of the entries' times, in Unix milliseconds. Throws while it is unknown. */
  now(): number;
  /** Joins entries to a commit. They exist when it succeeds. */
  add(entries: readonly OutboxEntry[], handle: TransactionHandle): Promise<void>;
  /** Call it at the start, before entries are added. */
  open(destination: string): Promise<DestinationQueue>;
  size(destination: string): OutboxSize;
  /** Removes dead letters older than `maxDeadAgeMs`, and the oldest ones while the total exceeds `maxBytes`. */
  tidy(destination: string, limits: { readonly maxBytes: number; readonly maxDeadAgeMs: number }): Promise<void>;
  /** Removes the oldest waiting entries while they exceed `maxBytes`. */
  dropOldest(destination: string, maxBytes: number): Promise<Dropped>;
}

export const OUTBOX: Capability<Outbox> = { name: 'outbox' };
