/**
 * An exporter turns a finished batch into its own bytes, and later makes a group of them durable. Rows of several
 * requests are written together; the group commit decides which.
 */
import type { Batch } from '../pdata/batch.ts';
import type { Fact, Signal } from '../pdata/context.ts';
import type { Steps } from '../pdata/steps.ts';
import type { Component, Declaration, Host } from './component.ts';
import type { Commit } from './capabilities/ledger.ts';

/** One request's rows in the form of one sink. */
export interface Rows {
  readonly signal: Signal;
  readonly count: number;
  readonly bytes: number;
  readonly chunks: readonly Buffer[];
  /** Gives pooled memory back. Called exactly once, after the request was answered. */
  release(): void;
}

export interface Exporter extends Component {
  /** True when `write` only joins the ledger's transaction. Such exporters write first: what they do can still be rolled back. */
  readonly joinsCommit?: boolean;
  /**
   * True when the rows of a large request may be written in several calls, each with whole chunks, and rows of other requests in
   * between. `count` is that of all rows then.
   */
  readonly takesParts?: boolean;
  /** True when it passes records on after `write`: it counts itself then what was sent and what failed. */
  readonly countsDeliveries?: boolean;
  /** Within the pass, at once or in steps of about a millisecond. */
  encode(batch: Batch): Rows | Steps<Rows>;
  /** Resolves when the rows are durable, or joined to a commit that will make them so. Rejects when they are not; may be called again with fewer rows. */
  write(group: readonly Rows[], commit: Commit): Promise<void>;
  /** Whether the sink can take data now; readiness reflects it. */
  healthy?(): boolean;
}

export interface ExporterDefinition<Options> extends Declaration<Options> {
  readonly kind: 'exporter';
  readonly requires: readonly Fact[];
  readonly signals: readonly Signal[];
  /** The ledger whose transactions it joins; absent when any will do. */
  readonly ledger?: 'postgres';
  create(options: Options, host: Host): Exporter;
}

export function defineExporter<Options>(
  definition: Omit<ExporterDefinition<Options>, 'kind'>,
): ExporterDefinition<Options> {
  return { kind: 'exporter', ...definition };
}
