/** Usage of models by group and time, and of tools. */
import type { Nanoseconds, PartOfRange, UsageSums } from './answers.ts';

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
