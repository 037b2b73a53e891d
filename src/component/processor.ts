/**
 * A processor sees each request twice: `admit` with the headers only, before the body is read (it may wait); `process` with
 * the indexed tables, synchronously. Nothing of another request can be seen in between.
 */
import type { Batch } from '../model/batch.ts';
import type { Context, Fact, RequestInfo } from '../model/context.ts';
import type { Component, Declaration, Host } from './component.ts';
import type { Tables } from '../model/batch.ts';

export interface Processor extends Component {
  /** Called once per process before the first batch: the place to intern keys and register constants. */
  prepare?(tables: Tables): void;
  /** Headers only. Throws a `Rejection` to refuse; the body is then not read. */
  admit?(request: RequestInfo, context: Context): Promise<void> | void;
  /** Reads and marks the tables. Throws a `Rejection` to refuse the whole request. */
  process?(batch: Batch): void;
}

export interface ProcessorDefinition<Options> extends Declaration<Options> {
  readonly kind: 'processor';
  /** Facts that must have been provided by processors to the left. */
  readonly requires: readonly Fact[];
  readonly provides: readonly Fact[];
  create(options: Options, host: Host): Processor;
}

/** Keeps the options' type inside the definition, and erases it for the list of components. */
export function defineProcessor<Options>(
  definition: Omit<ProcessorDefinition<Options>, 'kind'>,
): ProcessorDefinition<Options> {
  return { kind: 'processor', ...definition };
}
