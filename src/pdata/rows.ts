/** The types of stored rows for readers: what the `file` exporter writes, with the names of the views. */
import type { Column, ColumnType, LOG_COLUMNS, METRIC_COLUMNS, SPAN_COLUMNS } from './columns.ts';

/** The JSON value of a column; `ColumnType` describes it. */
interface Values extends Readonly<Record<ColumnType, unknown>> {
  readonly text: string;
  readonly json: unknown;
  readonly trace_id: string;
  readonly span_id: string;
  readonly content_id: never;
  readonly nanos: string;
  readonly count64: string;
  readonly count: number;
  readonly int4: number;
  readonly double: number | string;
  readonly money: string;
  readonly boolean: boolean;
  readonly timestamp: string;
}

type ValueOf<C extends Column> = C extends { readonly words: readonly (infer Word)[] }
  ? Word | null
  : Values[C['type']] | null;

/** One row with these columns; any value may be null. */
type RowOf<Columns extends readonly Column[]> = {
  readonly [C in Columns[number] as C['name']]: ValueOf<C>;
};

export interface SpanRow extends RowOf<typeof SPAN_COLUMNS> {
  readonly signal: 'span';
}

export interface LogRow extends RowOf<typeof LOG_COLUMNS> {
  readonly signal: 'log';
}

/** An integer value may have more digits than a number keeps. */
export interface MetricPointRow extends Omit<RowOf<typeof METRIC_COLUMNS>, 'value_int' | 'value_double'> {
  readonly signal: 'metric';
  readonly value: number | string | null;
}

export type StoredRow = SpanRow | LogRow | MetricPointRow;
