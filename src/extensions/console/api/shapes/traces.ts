/** Answers about traces: lists, counts over many, the header of one, live changes. */
import type { Count } from '../../../../pdata/exact-json.ts';
import type { Cost, Nanoseconds, PartOfRange, UsageSums } from './answers.ts';

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
