/**
 * The answers of the console's reading API, as types only: the page imports them. Nanoseconds and costs are decimal
 * strings, null means unavailable. Tokens are JSON numbers with all digits: `parseExact` reads them. Fields marked
 * "content" are left out for a reader without the right to content.
 */
import type { ContentColumn } from '../../../pdata/content-columns.ts';
import type { Count } from '../../../pdata/exact-json.ts';
import type { SpanRow } from '../../../pdata/rows.ts';

/** The part of the range that an answer does not have. */
export interface PartOfRange {
  readonly complete_from?: CompleteFrom;
  /** Why what is earlier, or a part of it, was not read. */
  readonly unread?: string;
}

/** Earlier records of the range are archived, or in objects, and not in the answer. Left out: it is complete. */
export type CompleteFrom = Nanoseconds;

/** An integer of 64 bits as a decimal string. */
export type Nanoseconds = string;
/** US dollars as a decimal string with 8 digits after the point. */
export type Cost = string;

/** A page of a bounded search. */
export interface Page<Item> extends PartOfRange {
  readonly items: readonly Item[];
  /** The cursor that continues the search; null at the end of the range. */
  readonly next: string | null;
  /** The number of traces or records that were read for this answer. */
  readonly examined: number;
  /** The time down to which the search has read; null when there was nothing to read. */
  readonly reached: Nanoseconds | null;
  /** Whether the search can be continued. With fewer items than the limit, the time for one answer was used up. */
  readonly more: boolean;
}

/** Sums over model calls, each counted once. */
export interface UsageSums {
  readonly call_count: number;
  readonly input_tokens: Count | null;
  readonly output_tokens: Count | null;
  readonly cache_read_tokens: Count | null;
  readonly cache_write_tokens: Count | null;
  readonly reasoning_tokens: Count | null;
  readonly total_cost: Cost | null;
  /** Calls without a known cost. */
  readonly unpriced_count: number;
}

/** `GET /projects/{p}/traces` gives `Page<TraceRow>`. */
export interface TraceRow {
  readonly trace_id: string;
  /** The name of the root span, else of the earliest span. */
  readonly name: string;
  /** Whether the root span has arrived. */
  readonly complete: boolean;
  readonly service: string | null;
  readonly environment: string;
  readonly start_time_unix_nano: Nanoseconds;
  readonly duration_ns: Nanoseconds;
  readonly span_count: number;
  readonly error_count: number;
  readonly model_call_count: number;
  /** At most 4, by name; `model_count` says how many there are. */
  readonly models: readonly string[];
  readonly model_count: number;
  readonly agent: string | null;
  readonly user_id: string | null;
  readonly conversation_id: string | null;
  readonly input_tokens: Count | null;
  readonly cache_read_tokens: Count | null;
  readonly output_tokens: Count | null;
  readonly total_cost: Cost | null;
  readonly unpriced_count: number;
}

export interface ModelUsage extends UsageSums {
  readonly provider: string | null;
  readonly model: string | null;
}

/** `GET /projects/{p}/traces/histogram` */
export interface Histogram extends PartOfRange {
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
  /** The width of a bucket. */
  readonly bucket_ns: Nanoseconds;
  /** Whether only the newest traces were counted. They reach back to `reached`. */
  readonly sampled: boolean;
  readonly examined: number;
  readonly reached: Nanoseconds | null;
  /** Buckets with traces, oldest first. */
  readonly buckets: readonly HistogramBucket[];
}

export interface HistogramBucket {
  readonly start_time_unix_nano: Nanoseconds;
  readonly trace_count: number;
  /** Only with `by=error`. */
  readonly error_count?: number;
  /** The sum of the known costs. Only with `by=cost`. */
  readonly total_cost?: Cost;
  /** The duration below which 95 % of the traces stayed. Only with `by=duration`. */
  readonly p95_duration_ns?: Nanoseconds;
}

export type TopMeasure = 'cost' | 'duration' | 'tokens' | 'errors';

/** `GET /projects/{p}/traces/top`, highest first. */
export interface TopTraces extends PartOfRange {
  readonly by: TopMeasure;
  readonly items: readonly TraceRow[];
}

/** `GET /traces/{id}`: where a trace is, without a known project. */
export interface TracePlace {
  readonly trace_id: string;
  readonly project: string;
}

/** `GET /projects/{p}/traces/{id}` */
export interface TraceHeader
  extends Omit<TraceRow, 'name' | 'models' | 'model_count' | 'start_time_unix_nano' | 'duration_ns'> {
  readonly project: string;
  /** Null, like the times: the trace has log records only. */
  readonly name: string | null;
  readonly start_time_unix_nano: Nanoseconds | null;
  readonly duration_ns: Nanoseconds | null;
  readonly tool_step_count: number;
  readonly retrieval_count: number;
  readonly log_count: number;
  readonly services: readonly string[];
  readonly output_cost: Cost | null;
  readonly input_cost: Cost | null;
  /** Highest cost first. */
  readonly models: readonly ModelUsage[];
  /** RFC 3339; when the first record arrived. */
  readonly created_at: string;
  /** Why a part of the trace, which may be there, was not read. */
  readonly unread?: string;
}

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

/** A text that may be cut. Lengths are in Unicode characters. */
export interface Text {
  readonly text: string;
  readonly length: number;
  readonly cut: boolean;
}

export type ContentField = ContentColumn;

/** `GET …/spans/{span}/content/{field}?offset` also reads these whole columns as text. */
export type TextField = ContentField | 'status_message' | 'attributes' | 'events' | 'links' | 'resource';

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

/** `GET …/spans/{span}/content/{field}?offset=0`: at most 1 Mi characters. */
export interface ContentPiece {
  readonly field: TextField;
  readonly offset: number;
  readonly length: number;
  readonly text: string;
  /** The next offset; null: this was the last piece. */
  readonly next: number | null;
}

/** A model call, tool step or retrieval, for the view of messages. Contents are cut at 64 Ki characters. */
export interface StepRow {
  /** Null for a log record that names none. */
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly parent_span_id: string | null;
  readonly name: string;
  readonly category: string;
  readonly start_time_unix_nano: Nanoseconds;
  readonly duration_ns: Nanoseconds | null;
  readonly error: boolean;
  readonly error_type: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly agent_name: string | null;
  readonly tool_name: string | null;
  readonly tool_call_id: string | null;
  readonly dialect: string | null;
  readonly finish_reasons: unknown;
  readonly input_tokens: Count | null;
  readonly cache_read_tokens: Count | null;
  readonly output_tokens: Count | null;
  readonly total_cost: Cost | null;
  readonly counts: boolean;
  /** Content. */
  readonly content?: Readonly<Partial<Record<ContentField, Text>>>;
}

/** `GET …/traces/{id}/steps?after&limit=100`, in order of start. */
export interface Steps {
  readonly items: readonly StepRow[];
  readonly next: string | null;
}

/** `GET …/logs` gives `Page<LogRow>`, `GET …/traces/{id}/logs` gives `TraceLogs`. */
export interface LogRow {
  /** The time of the event, else of its observation, else of its arrival. */
  readonly time_unix_nano: Nanoseconds;
  readonly received_at: string;
  readonly environment: string;
  readonly service: string | null;
  readonly severity_number: number | null;
  readonly severity_text: string | null;
  readonly event_name: string | null;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly category: string | null;
  readonly model: string | null;
  /** Content, as JSON text. */
  readonly body?: Text | null;
  /** Content, as JSON text. */
  readonly attributes?: Text;
}

export interface TraceLogs {
  readonly items: readonly LogRow[];
  readonly next: string | null;
}

/** `GET …/conversations` gives `Page<ConversationRow>`, in order of the newest trace, or log record. */
export interface ConversationRow extends UsageSums {
  readonly conversation_id: string;
  readonly environment: string;
  readonly user_id: string | null;
  readonly trace_count: number;
  readonly error_count: number;
  readonly first_time_unix_nano: Nanoseconds;
  readonly last_time_unix_nano: Nanoseconds;
  /** Content: the beginning of the first input, as stored. */
  readonly first_input?: Text | null;
}

/**
 * `GET …/conversations/{id}/turns?cursor`: traces from the newest, 20 a page, each with its steps in order. A
 * conversation that only log records name has one turn a page.
 */
export interface Turns extends PartOfRange {
  readonly conversation: ConversationRow;
  readonly items: readonly Turn[];
  readonly next: string | null;
}

export interface Turn {
  /** Null: the steps are log records. */
  readonly trace: TraceRow | null;
  /** At most 100; `…/traces/{id}/steps` has the rest. */
  readonly steps: readonly StepRow[];
  readonly more_steps: boolean;
}

export type UsageGroup = 'none' | 'provider' | 'model' | 'user' | 'service' | 'agent' | 'conversation' | 'environment';

/** `GET …/usage?group=model&interval=1h&from&to&q` */
export interface Usage extends PartOfRange {
  /** RFC 3339, by the database's clock. */
  readonly as_of: string;
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
  readonly group: UsageGroup;
  /** A Go duration; points start at multiples of it since 1970. */
  readonly interval: string;
  readonly calls_examined: number;
  /** Highest cost first, at most 100; the rest is added up under a key with `"other": true`. */
  readonly series: readonly UsageSeries[];
  readonly total: UsageTotal;
  /** The sums of the time before `from` that is as long as the range. */
  readonly before: UsageTotal;
}

export interface UsageSeries {
  readonly key: UsageKey;
  readonly total: UsageFigures;
  /** The same group in the time before `from`; null: it had no calls. */
  readonly before: UsageFigures | null;
  readonly points: readonly (readonly [start_time_unix_nano: Nanoseconds, figures: UsageFigures])[];
}

export interface UsageKey {
  readonly provider?: string | null;
  readonly model?: string | null;
  readonly user_id?: string | null;
  readonly service_name?: string | null;
  readonly agent_name?: string | null;
  readonly conversation_id?: string | null;
  readonly environment?: string | null;
  readonly other?: true;
}

export interface UsageFigures extends UsageSums {
  readonly error_count: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  /** The median time to the first token. */
  readonly ttft_ms: number | null;
}

export interface UsageTotal extends UsageFigures {
  /** Users that the calls name; with `group=user` also those that a span above a call names. */
  readonly user_count: number;
}

/** `GET …/tools?q&from&to`: tool steps by tool, highest p95 first, at most 100. */
export interface ToolUsage extends PartOfRange {
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
  /** The number of the newest tool steps of the range that were read. */
  readonly examined: number;
  /** Whether these were all. */
  readonly complete: boolean;
  readonly items: readonly ToolFigures[];
}

export interface ToolFigures {
  readonly tool: string | null;
  readonly call_count: number;
  readonly error_count: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly max_ms: number | null;
  readonly slowest: { readonly trace_id: string; readonly span_id: string };
}

/** `GET …/facets?fields=service,model&q&from&to` */
export interface Facets extends PartOfRange {
  /** How many of the newest spans were counted. */
  readonly examined: number;
  /** Whether these were all spans of the range. */
  readonly complete: boolean;
  readonly fields: Readonly<Record<string, readonly FacetValue[]>>;
}

export interface FacetValue {
  readonly value: string;
  readonly count: number;
}

/** `GET …/metrics` */
export interface MetricNames extends PartOfRange {
  readonly items: readonly MetricName[];
  /** Whether there are more names than are answered. */
  readonly more: boolean;
}

export interface MetricName {
  readonly name: string;
  readonly type: string;
  readonly unit: string | null;
  readonly description: string | null;
  readonly temporality: string | null;
  readonly last_time_unix_nano: Nanoseconds | null;
}

/** `level`: gauges, and sums that also fall. `count`: increases of monotonic sums. `distribution`: the others. */
export type MetricForm = 'level' | 'count' | 'distribution';

/** `GET …/metrics/series?name&from&to&interval&by` */
export interface MetricSeriesAnswer extends PartOfRange {
  readonly name: string;
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
  /** A Go duration; points start at multiples of it since 1970. */
  readonly interval: string;
  readonly by: string;
  /** Null, like the next ones: there is no such metric. */
  readonly type: string | null;
  readonly unit: string | null;
  readonly description: string | null;
  readonly temporality: string | null;
  readonly is_monotonic: boolean | null;
  /** The time of the newest point, also outside of the range. */
  readonly last_time_unix_nano: Nanoseconds | null;
  readonly form: MetricForm;
  /** How many of the newest stored points were read, and back to which time. */
  readonly points_examined: number;
  readonly reached: Nanoseconds | null;
  /** Whether there are more points than were read. */
  readonly cut: boolean;
  /** How often a cumulative value restarted. */
  readonly resets: number;
  readonly series_count: number;
  /** Content. Names of attributes by which the series can be grouped. */
  readonly attribute_names: readonly string[];
  /** At most 50. */
  readonly series: readonly MetricSeries[];
}

export interface MetricSeries {
  readonly key: MetricKey;
  /** Points without a value are left out. */
  readonly points: readonly MetricPoint[];
}

/** `value` is of the groups by environment and attribute. */
export interface MetricKey {
  readonly service?: string | null;
  readonly value?: string | null;
  /** Content. */
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/**
 * The value of a level is its mean (gauges) or total, that of a count its increase, that of a distribution its mean.
 * `count` is the number of observations of a distribution, else of stored points.
 */
export type MetricPoint = readonly [
  time: Nanoseconds,
  value: number | null,
  min: number | null,
  max: number | null,
  count: number | null,
  sum: number | null,
  p50: number | null,
  p95: number | null,
  p99: number | null,
];

/** The data of `event: traces` of `GET …/live`. */
export interface LiveTraces {
  /** New and changed traces, newest first; a row replaces an earlier one of the same trace. */
  readonly items: readonly TraceRow[];
  /**
   * Traces that matched and were left out, as those with spans in objects only, and all that were left out because the
   * reader was slow.
   */
  readonly dropped: number;
  /** The dropped traces that had no place in the event: id and start, by which a list tells whether it has them. */
  readonly left_out: readonly (readonly [id: string, startNs: string])[];
}

/** The data of `event: trace` of `GET …/live?trace=ID`. */
export interface LiveTrace {
  readonly trace_id: string;
  readonly span_count: number;
}
