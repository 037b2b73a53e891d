/** Log records. */
import type { Nanoseconds } from './answers.ts';
import type { Text } from './content.ts';

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
