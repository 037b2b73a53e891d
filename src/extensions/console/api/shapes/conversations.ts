/** Conversations and their turns. */
import type { Nanoseconds, PartOfRange, UsageSums } from './answers.ts';
import type { Text } from './content.ts';
import type { StepRow } from './steps.ts';
import type { TraceRow } from './traces.ts';

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
