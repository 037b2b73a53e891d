/** The steps of a trace, with their messages. */
import type { Count } from '../../../../pdata/exact-json.ts';
import type { Cost, Nanoseconds } from './answers.ts';
import type { ContentField, Text } from './content.ts';

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
