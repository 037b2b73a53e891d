/**
 * An exporter encodes a processed batch into its own bytes, and later makes a group of them durable. The group commit
 * decides which requests are written together.
 */
import type { Batch } from '../pdata/batch.ts';
import type { Fact, Signal } from '../pdata/context.ts';
import type { SharedContents } from '../pdata/shared-contents.ts';
import type { Steps } from '../pdata/steps.ts';
import type { Component, Declaration, Host } from './component.ts';
import type { TransactionHandle } from './capabilities/ledger.ts';

/** The rows of one request, encoded for one exporter. */
export interface Rows {
  readonly signal: Signal;
  readonly count: number;
  readonly bytes: number;
  readonly chunks: readonly Buffer[];
  /** By chunk, how many rows it completes; 0 unless it ends with a row. Left out: the last chunk completes all. */
  readonly chunkRows?: readonly number[];
  /** Whether they are spans with only PLAIN_SPAN_COLUMNS. */
  readonly isPlain?: boolean;
  /** What the rows refer to by id, in a form with references. */
  readonly contents?: SharedContents;
  /** Returns pooled memory. Called exactly once, after the request was answered or the rows were staged. */
  release(): void;
}

export interface Exporter extends Component {
  /**
   * True when `write` only joins the ledger's transaction. These exporters write first, because their writes can be
   * rolled back.
   */
  readonly transactional?: boolean;
  /**
   * True when `write` divides large rows, and other writes may run at the same time. Otherwise one write runs after the
   * other.
   */
  readonly dividesWrites?: boolean;
  /** True when the tables of the database have the records after `write`. */
  readonly fillsTables?: boolean;
  /** True when it forwards records after `write`. It then counts sent and failed records itself. */
  readonly countsDeliveries?: boolean;
  /**
   * Called before the body of a request is read. Throws a `Rejection` when it could not be stored, or only after a long
   * wait. Left out: never.
   */
  admit?(project: string): void;
  /** Called in the pass. Runs at once, or in steps of about a millisecond. */
  encode(batch: Batch): Rows | Steps<Rows>;
  /**
   * Makes the rows of a request durable outside of the ledger, before the ledger decides about the request. Resolves
   * with rows that only name their place; `write` gets these instead. What is staged has no meaning without the commit
   * of its place, because the request may still be refused. No lock of the ledger is held meanwhile, so it may take
   * longer than a `write`. Called for many requests at once. Rejects with the `Rejection` of the answer; any other
   * error is answered 503. `inTables`: another exporter of the request fills the tables.
   */
  stage?(rows: Rows, inTables: boolean): Promise<Rows>;
  /**
   * Resolves when the rows are durable, or have joined a commit that makes them durable; rejects otherwise. It may be
   * called again with fewer rows.
   */
  write(group: readonly Rows[], handle: TransactionHandle): Promise<void>;
  /** Whether the exporter can store data now; readiness reports it. */
  healthy?(): boolean;
  /**
   * Whether a `write` makes no progress, as on a disk that does not answer. Requests are refused meanwhile, and those
   * of the write are answered 503 before its end: when they are stored after all, a repetition is a replay.
   */
  isStalled?(): boolean;
  /** Calls back each time `isStalled` becomes true. Returns the function that unsubscribes. */
  onStalled?(callback: () => void): () => void;
}

export interface ExporterDefinition<Options> extends Declaration<Options> {
  readonly kind: 'exporter';
  readonly requires: readonly Fact[];
  readonly signals: readonly Signal[];
  /** The ledger whose transactions it joins; left out when any ledger works. */
  readonly ledger?: 'postgres';
  /**
   * How many of this type may be used. `pipeline`: one in a pipeline, because a second one would store its records
   * again. `service`: one, because a second one would share its state in the database. Left out: any number.
   */
  readonly once?: 'pipeline' | 'service';
  create(options: Options, host: Host): Exporter;
}

export function defineExporter<Options>(
  definition: Omit<ExporterDefinition<Options>, 'kind'>,
): ExporterDefinition<Options> {
  return { kind: 'exporter', ...definition };
}
