/**
 * What was accepted and has still to be sent on. Entries join the commit of the request they come from, so an acknowledged
 * request is never forgotten, and one that was refused never leaves. The `postgres` extension offers it.
 */
import type { Signal } from '../../pdata/context.ts';
import type { Capability } from './capability.ts';
import type { Commit } from './ledger.ts';

/** One request's records on their way to one destination. */
export interface OutboxEntry {
  /** Id of the exporter that will send it. */
  readonly destination: string;
  readonly signal: Signal;
  readonly project: string;
  readonly records: number;
  readonly bytes: number;
  /** An OTLP request in protobuf, in pieces. They must stay as they are until the request is settled. */
  readonly chunks: readonly Buffer[];
}

/** An entry that waits, without its body. */
export interface WaitingEntry {
  /** Grows in the order in which entries were made. */
  readonly sequence: bigint;
  readonly signal: Signal;
  readonly project: string;
  readonly records: number;
  readonly bytes: number;
  readonly attempts: number;
  /** Unix milliseconds; null before the first attempt. */
  readonly firstAttemptMs: number | null;
  /** Not to be tried before; null: at once. */
  readonly nextAttemptMs: number | null;
}

export interface FailedAttempt {
  readonly nowMs: number;
  readonly nextAttemptMs: number;
  readonly error: string;
}

/** What a destination holds. Measured now and then, and counted on in between. */
export interface OutboxSize {
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly dead: number;
  readonly deadBytes: number;
}

/** Records that were given up to make room. */
export interface Dropped {
  readonly entries: number;
  readonly records: Readonly<Record<Signal, number>>;
}

/**
 * One destination's entries in the order they were made. One process at a time holds it, whoever else serves the same database;
 * it is lost with its connection, and every method but `acquire` then rejects.
 */
export interface OutboxLane {
  /** True when this process holds the lane, now or already; false while another does. */
  acquire(): Promise<boolean>;
  /** The oldest entries that wait, at most `limit`. */
  waiting(limit: number): Promise<readonly WaitingEntry[]>;
  /** Their bodies, in this order; one that is gone meanwhile is left out. */
  bodies(entries: readonly WaitingEntry[]): Promise<readonly Buffer[]>;
  /** They have arrived, and are forgotten. */
  delivered(entries: readonly WaitingEntry[]): Promise<void>;
  /** They are tried again later, and nothing behind them before. */
  failed(entries: readonly WaitingEntry[], attempt: FailedAttempt): Promise<void>;
  /** They are put aside as dead letters, with the reason; what is behind them goes on. */
  bury(entries: readonly WaitingEntry[], attempt: Omit<FailedAttempt, 'nextAttemptMs'>): Promise<void>;
  /** Lets others have it. */
  release(): Promise<void>;
}

export interface Outbox {
  /** The clock that the times of entries go by, in Unix milliseconds. Throws while it is not known. */
  now(): number;
  /** Joins entries to a commit; they are there when it succeeds. */
  add(entries: readonly OutboxEntry[], commit: Commit): Promise<void>;
  /** To be called at start, before anything is added. */
  open(destination: string): Promise<OutboxLane>;
  size(destination: string): OutboxSize;
  /** Removes dead letters older than `maxDeadAgeMs`, and the oldest of them while there is more than `maxBytes` in all. */
  tidy(destination: string, limits: { readonly maxBytes: number; readonly maxDeadAgeMs: number }): Promise<void>;
  /** Removes the oldest waiting entries while more than `maxBytes` wait. */
  dropOldest(destination: string, maxBytes: number): Promise<Dropped>;
}

export const OUTBOX: Capability<Outbox> = { name: 'outbox' };
