/**
 * The ledger decides, at commit time, which requests of a group may be stored: replay marker, trace ownership and environment,
 * quota. It brackets the writes of the exporters: nothing it admitted is acknowledged unless its commit succeeded, and a
 * request it refused leaves nothing behind.
 */
import type { Project, Signal } from '../../pdata/context.ts';
import type { Rejection } from '../../errors.ts';
import type { Capability } from './capability.ts';
import type { Component } from '../component.ts';

/**
 * One trace that a request touches. Counts, totals, root and conversation are not here: the `traces` view reads them from the
 * stored spans, which makes them right for every order of arrival and every repetition.
 */
export interface TraceClaim {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  readonly environment: string;
  /** Unix nanoseconds, the outermost times of the request's spans of this trace; they bound later searches. Null for log records. */
  readonly firstNs: bigint | null;
  readonly lastNs: bigint | null;
}

/** Everything the ledger must know of one request; the rows themselves stay with the exporters. */
export interface Claim {
  readonly project: Project;
  readonly signal: Signal;
  /** 33 bytes: one for signal, media type and content encoding, then the SHA-256 of the raw body. Scoped to the project. */
  readonly replayKey: Uint8Array;
  /** Sorted by traceId, unique. */
  readonly traces: readonly TraceClaim[];
  /** Spans in the request: what the quota counts. 0 for logs and metrics. */
  readonly spanCount: number;
  readonly recordCount: number;
}

/** `stored` and `replayed` are both answered 200; a rejection is answered as it says. */
export type Verdict =
  | { readonly kind: 'stored' | 'replayed'; readonly quota: Quota | null }
  | { readonly kind: 'refused'; readonly rejection: Rejection };

/**
 * A verdict, or `deferred`: the request could not be decided beside the others of its group, and should be settled again. Its
 * kind is `apart` by then. Only a group of several projects is answered so.
 */
export type Decision = Verdict | { readonly kind: 'deferred' };

/**
 * How a request should meet others. `plain`: with other plain ones. `careful`: with others that lately had refusals or spans
 * which were stored already, as they need more steps. `apart`: with requests of its own project only; it may wait for long.
 */
export type Kind = 'plain' | 'careful' | 'apart';

/** The free plan's headers. */
export interface Quota {
  readonly limit: number;
  readonly resetSeconds: number;
}

/**
 * The transaction the exporters may join. `join` returns the capability-specific handle of an open transaction (the Postgres
 * ledger: a `PostgresTransaction`), or undefined when this ledger has none of that kind.
 */
export interface Commit {
  join<T>(capability: Capability<T>): T | undefined;
  /**
   * Resolves when the transaction holds everything that was joined to it and every guard was passed: the group commit waits for
   * it before an exporter writes what no rollback takes back. Rejects when the group can not be stored as it is.
   */
  taken(): Promise<void>;
}

export interface Ledger extends Component {
  /** How many groups it can settle at once; one when left out. */
  readonly lanes?: number;
  /** Whether it is known that no group can be stored now: requests are refused before they are read. Left out: never. */
  isAway?(): boolean;
  /**
   * How many requests larger than a group it can settle beside these, each by itself. None when left out: then they are groups
   * like others.
   */
  readonly heavyLanes?: number;
  /** With which others a request should be settled now; `plain` when left out. */
  kindOf?(claim: Claim): Kind;
  /**
   * The clock of the store, in Unix milliseconds: what is stored carries its time, and retention compares with it. Throws a
   * `Rejection` while it is not known. Left out: the clock of the process.
   */
  now?(): number;
  /**
   * Decides and stores one group. `write` is called at most once per attempt with the requests that no guard has refused so far,
   * in the group's order; when it rejects, or the commit fails, those requests are refused. It may be called again with fewer
   * requests (a guard refused some, bisecting). Resolves with one decision per claim, in order; never rejects.
   */
  settle(
    group: readonly Claim[],
    write: (admitted: readonly Claim[], commit: Commit) => Promise<void>,
  ): Promise<readonly Decision[]>;
}

/** The `postgres` extension offers its ledger under this key. */
export const LEDGER: Capability<Ledger> = { name: 'ledger' };
