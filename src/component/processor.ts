/**
 * A processor handles each request twice: `admit` with the headers only, before the body is read (it may wait);
 * `process` with the indexed tables, at once or in steps. The tables belong to the request until `process` ends.
 * Between two steps the processor may process another request in other tables, so its state for tables is stored per
 * `batch.tables`.
 */
import type { Batch } from '../pdata/batch.ts';
import type { Steps } from '../pdata/steps.ts';
import type { Context, Fact, RequestInfo } from '../pdata/context.ts';
import type { Component, Declaration, Host } from './component.ts';
import type { Tables } from '../pdata/tables.ts';

export interface Processor extends Component {
  /**
   * Called for each set of tables before its first batch: intern keys and register constants here. There are only a few
   * sets.
   */
  prepare?(tables: Tables): void;
  /** Headers only. Throws a `Rejection` to refuse the request; the body is then not read. */
  admit?(request: RequestInfo, context: Context): Promise<void> | void;
  /**
   * Reads and marks the tables. Throws a `Rejection` to refuse the whole request. Work that may take more than a
   * millisecond runs in steps: the process serves other requests between them.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a processor that works at once returns nothing
  process?(batch: Batch): Steps | void;
}

export interface ProcessorDefinition<Options> extends Declaration<Options> {
  readonly kind: 'processor';
  /** Facts that earlier processors must provide. */
  readonly requires: readonly Fact[];
  readonly provides: readonly Fact[];
  /** Facts that only later processors may provide, such as `derived` for a processor that adds attributes. */
  readonly precedes?: readonly Fact[];
  create(options: Options, host: Host): Processor;
}

/** Checks the options' type inside the definition, and erases it for the list of components. */
export function defineProcessor<Options>(
  definition: Omit<ProcessorDefinition<Options>, 'kind'>,
): ProcessorDefinition<Options> {
  return { kind: 'processor', ...definition };
}
