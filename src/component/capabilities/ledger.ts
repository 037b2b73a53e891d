/**
 * The ledger decides, at commit time, which requests of a group may be stored: replay marker, trace ownership and
 * environment, quota. The exporters write inside its transaction. A request that it admitted is acknowledged only after
 * the commit, and nothing of a request that it refused is stored.
 */
import type { ClaimedTraces } from '../../pdata/claimed-traces.ts';
import type { Project, Signal } from '../../pdata/context.ts';
import type { Rejection } from '../../errors.ts';
import type { Capability } from './capability.ts';
import type { Component } from '../component.ts';

/** The facts about one request that the ledger needs. The exporters hold the rows. */
export interface Claim {
  readonly project: Project;
  readonly signal: Signal;
  /**
   * 33 bytes: one for signal, media type and content encoding, then the SHA-256 of the raw body. Scoped to the project.
   */
  readonly replayKey: Uint8Array;
  /**
   * Sorted by id. Counts, totals, root and conversation are not here: the view `traces` computes them from the stored
   * spans, so they are correct for every order of arrival and every repetition.
   */
  readonly traces: ClaimedTraces;
  /** Spans in the request: what the quota counts. 0 for logs and metrics. */
  readonly spanCount: number;
  readonly recordCount: number;
}

/** `stored` and `replayed` are answered 200; a rejection is answered with its own status. */
export type Outcome =
  | { readonly kind: 'stored' | 'replayed'; readonly quota: Quota | null }
  | { readonly kind: 'refused'; readonly rejection: Rejection };

/**
 * An outcome, or `deferred`: the request could not be decided together with its group, and must be settled again. Its
 * kind is then `apart`. Only for groups of several projects.
 */
export type Decision = Outcome | { readonly kind: 'deferred' };

/**
 * Which requests may share a group. `plain`: other plain ones. `pessimistic`: other requests of projects that recently
 * had refusals or spans that were stored already, because these need more steps. `apart`: only requests of the same
 * project; it may wait for long.
 */
export type Kind = 'plain' | 'pessimistic' | 'apart';

/** The free plan's headers. */
export interface Quota {
  readonly limit: number;
  readonly resetSeconds: number;
}

/**
 * The transaction that exporters may join. `join` returns the handle that belongs to the capability (for the Postgres
 * ledger, a `PostgresTransaction`), or undefined when this ledger has none of that kind.
 */
export interface TransactionHandle {
  join<T>(capability: Capability<T>): T | undefined;
  /**
   * Flushes. Resolves when the transaction holds everything that was joined to it and every guard has passed. The group
   * commit waits for it before it calls an exporter that cannot roll back. Rejects when the group cannot be stored
   * unchanged.
   */
  flush(): Promise<void>;
}

export interface Ledger extends Component {
  /**
   * The number of groups of one size that it can settle at once; one when left out. If it is more than one, small and
   * large requests form groups of their own, and there can be one group more.
   */
  readonly concurrentGroups?: number;
  /** Whether no group can be stored at present. Requests are then refused before they are read. Left out: never. */
  isUnavailable?(): boolean;
  /** Calls back each time `isUnavailable` becomes true. Returns the function that unsubscribes. */
  onUnavailable?(callback: () => void): () => void;
  /**
   * The number of requests larger than a group that it can settle beside the groups, each alone. When left out, a large
   * request is settled like a group.
   */
  readonly concurrentHeavyRequests?: number;
  /** The kind of a request at present; `plain` when left out. */
  kindOf?(claim: Claim): Kind;
  /**
   * The clock of the store, in Unix milliseconds. Rows carry its time, and retention compares with it. Throws a
   * `Rejection` while the clock is unknown. Left out: the clock of the process.
   */
  now?(): number;
  /**
   * Decides and stores one group. `write` is called at most once per attempt, with the requests that no guard has
   * refused so far, in the order of the group. When it rejects, or the commit fails, these requests are refused. It may
   * be called again with fewer requests, after a guard refused some or the group was bisected. Resolves with one
   * decision per claim, in order; never rejects.
   */
  settle(
    group: readonly Claim[],
    write: (admitted: readonly Claim[], handle: TransactionHandle) => Promise<void>,
  ): Promise<readonly Decision[]>;
}

/** The capability of the ledger, offered by the `postgres` extension. */
export const LEDGER: Capability<Ledger> = { name: 'ledger' };
