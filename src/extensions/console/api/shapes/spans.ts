/** The spans of a trace as slim rows, and one span in full. The names of the columns are the only value here. */
import type { ContentColumn } from '../../../../pdata/content-columns.ts';
import type { Count } from '../../../../pdata/exact-json.ts';
import type { SpanRow } from '../../../../pdata/rows.ts';
import type { Cost, Nanoseconds } from './answers.ts';
import type { ContentField, Text } from './content.ts';

/**
 * `GET …/traces/{id}/spans`, NDJSON: one `SpansHead`, then `SpanTuple`s in order of start with a `SpanWords` before the
 * first use of a word, then one `SpansEnd`. Without the end line the answer was cut off.
 */
export interface SpansHead {
  readonly columns: readonly string[];
}

/** The members of a `SpanTuple`, in order. The page compares them with those of its own version. */
export const SPAN_COLUMNS: SpansHead['columns'] = [
  'span_id',
  'parent',
  'name',
  'service',
  'category',
  'start',
  'duration',
  'error',
  'model',
  'tool',
  'in',
  'out',
  'cached',
  'ttft_ms',
  'cost',
  'counts',
  'events',
  'note',
];

/** Words to append to the dictionaries of this answer, which begin empty. */
export interface SpanWords {
  readonly 'names+'?: readonly string[];
  readonly 'services+'?: readonly string[];
  readonly 'models+'?: readonly string[];
  readonly 'tools+'?: readonly string[];
}

/** In the order of `SpansHead.columns`. */
export type SpanTuple = readonly [
  span_id: string,
  /** The number of an earlier row of this answer (from 0), else the id of the parent; null: a root. */
  parent: number | string | null,
  /** An index into the names. */
  name: number,
  service: number | null,
  category: string | null,
  /** Nanoseconds since the start of the trace. */
  start: Nanoseconds,
  duration: Nanoseconds | null,
  error: 0 | 1,
  model: number | null,
  tool: number | null,
  input_tokens: Count | null,
  output_tokens: Count | null,
  cache_read_tokens: Count | null,
  time_to_first_token_ms: number | null,
  cost: Cost | null,
  /** 1: the usage of this span counts; 0: it does not, or there is none. */
  counts: 0 | 1,
  /** The number of its events. */
  events: number,
  note: SpanNote | null,
];

/** Why usage does not count. `repeated`: another span reports the same call. `sum`: it sums up calls that count. */
export type SpanNote = 'repeated' | 'sum';

export interface SpansEnd {
  readonly end: true;
  /** Rows of this answer. */
  readonly spans: number;
  /** Spans of the trace. */
  readonly of: number;
  /** The value of `after` for the next part; null: this was the last. */
  readonly next: string | null;
}

type PresentColumn =
  | 'project'
  | 'environment'
  | 'trace_id'
  | 'span_id'
  | 'name'
  | 'start_time_unix_nano'
  | 'received_at';

/** Columns with a form of their own, or left out. */
type OtherColumn =
  | ContentColumn
  | 'signal'
  | 'status_message'
  | 'attributes'
  | 'resource'
  | 'scope_attributes'
  | 'events'
  | 'links'
  | 'latency_ms'
  | 'time_to_first_token_ms'
  | TokenColumn;

type TokenColumn = Extract<keyof SpanRow, `${string}_tokens`>;

type PresentColumns = { readonly [Name in PresentColumn]: NonNullable<SpanRow[Name]> };

type TokenColumns = { readonly [Name in TokenColumn]: Count | null };

/** `GET …/traces/{id}/spans/{span}?start`: the columns of the view `spans`, with these differences. */
export interface SpanDetail extends PresentColumns, TokenColumns, Omit<SpanRow, PresentColumn | OtherColumn> {
  readonly latency_ms: number | null;
  readonly time_to_first_token_ms: number | null;
  /** Whether the usage of this span counts in the totals of its trace. */
  readonly counts: boolean;
  readonly note: SpanNote | null;
  /** Content. The fields that are there, each cut at 256 KiB characters. */
  readonly content?: Readonly<Partial<Record<ContentField, Text>>>;
  /** Content. */
  readonly status_message?: Text | null;
  /** Content. Values longer than 32 Ki characters are left out; `long_attributes` has them. */
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly long_attributes?: Readonly<Record<string, Text>>;
  readonly resource?: Readonly<Record<string, unknown>>;
  /** Content. Null when longer than 256 Ki characters; `/content/events` has the text. */
  readonly events?: readonly unknown[] | null;
  readonly links?: readonly unknown[] | null;
}
