/**
 * The shape of a dialect: how its records are recognised, which attributes hold which field, what its words mean, how
 * it counts tokens. Dialects are data; processors build their lookup tables from them once, at start.
 */
import type { Operation } from './categories.ts';

/** The fields of a record that have a column or count in a price. Their order is free. */
export const FIELDS = [
  'operation',
  'provider',
  'request_model',
  'response_model',
  'response_id',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_5m_tokens',
  'cache_write_1h_tokens',
  'reasoning_tokens',
  'audio_input_tokens',
  'audio_output_tokens',
  'audio_cache_read_tokens',
  'image_input_tokens',
  'image_output_tokens',
  'service_tier',
  'conversation_id',
  'user_id',
  'agent_name',
  'tool_name',
  'tool_call_id',
  'tool_arguments',
  'tool_result',
  'input_content',
  'output_content',
  'system_instructions',
  'retrieval_query',
  'retrieval_documents',
  'finish_reason',
  'time_to_first_token',
  'latency',
  'error_type',
  'failed',
] as const;
/** A field, or the cost that the sender computed itself. */
export type ReadField = (typeof FIELDS)[number];
export type Field = ReadField | 'cost_total' | 'cost_input' | 'cost_output';

/**
 * `s`, `ms`, `ns`: durations. `timestamp`: an instant, to be taken from the start of the record. `micro_usd`: a
 * millionth of a dollar.
 */
export type Unit = 's' | 'ms' | 'ns' | 'timestamp' | 'micro_usd';

/** Where a record comes from: a span's own attributes, a log record's, or those of a span's event. */
export type Place = 'span' | 'log' | 'span_event';

/** One place where a field may stand. A bare string is an attribute without further conditions. */
export interface SourceRow {
  /** An attribute name, or a pattern: see `KeyPattern`. `(body)` is the body of a log record. */
  readonly attribute: string;
  /**
   * The value is a JSON document in a string; the first of these paths that leads to something counts. `$` is the
   * document.
   */
  readonly paths?: readonly string[];
  /** The name is too general to be trusted unless one of these dialects was recognised. */
  readonly only?: readonly string[];
  /** Operations for which alone the attribute means this field. */
  readonly when?: readonly Operation[];
  readonly on?: Place;
  readonly unit?: Unit;
  /** Only the text before, or after, the first of this. */
  readonly before?: string;
  readonly after?: string;
  /**
   * The sender has one name for the model asked for and the model that answered. A dated name is taken for the one that
   * answered, any other for the one that was asked for.
   */
  readonly either?: boolean;
  /** What its presence proves: the main count includes this part, or leaves it out. */
  readonly proves?: 'inside' | 'outside';
  /** Looks like the field, but is something else: never read. The row is here so that nobody adds it again. */
  readonly excluded?: boolean;
  /** A sum over other records, whatever the record that carries it. */
  readonly aggregate?: boolean;
  /**
   * Telemetry that has nothing to do with AI uses the name too, so that it alone makes no record ours. `person`: it
   * still fills its column there, because who and which conversation is worth knowing of any span.
   */
  readonly general?: 'shared' | 'person';
  /** Weaker than every other row of its field, of whatever dialect. */
  readonly last?: boolean;
}
export type Source = string | SourceRow;
export type Fields = Readonly<Partial<Record<Field, readonly Source[]>>>;

/**
 * Where content is: `span`, `log` and `span_event_attr` are attributes; `span_event` and `log_event` are events by
 * name, whose attributes and body are content as a whole.
 */
export type ContentPlace = 'span' | 'log' | 'span_event_attr' | 'span_event' | 'log_event';

/** What an attribute of an event says; on tool steps `input` is what the tool was given, and so on. */
export type EventPart = 'input' | 'output' | 'system' | 'finish_reason' | 'error_type';

/**
 * Attributes or events that hold what people or models wrote. Messages of errors, stack traces and `url.full` are not
 * listed: they are stored even where content is not.
 */
export interface ContentRows {
  /** Credentials, which are never stored. */
  readonly secret?: boolean;
  readonly on: readonly ContentPlace[];
  readonly only?: readonly string[];
  readonly attributes: readonly string[];
}

/** Whether `input tokens` already counts what was read from or written to a cache. Rules are tried in order. */
export interface CacheRule {
  /** Scope names, `*` at the end; none: any. */
  readonly scopes?: readonly string[];
  /** Canonical provider names; none: any. */
  readonly providers?: readonly string[];
  readonly cached: 'inside' | 'outside';
}

export interface Dialect {
  /** The `dialect` column. */
  readonly id: string;
  /** Scope names that only this dialect uses; `*` at the end stands for anything. */
  readonly scopes?: readonly string[];
  /** Attributes that prove the dialect: a name, a pattern, or `name=value`. Stronger than any scope. */
  readonly markers?: readonly string[];
  /** Attributes that suggest it: weaker than scopes. */
  readonly hints?: readonly string[];
  /** Values of the resource's `service.name` or `telemetry.sdk.name` that suggest it. */
  readonly services?: readonly string[];
  readonly fields?: Fields;
  /** What the values of an operation attribute mean; `*` at the beginning stands for anything. Case does not matter. */
  readonly operations?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  /** What span names mean where no attribute says it; `*` at the end stands for anything. */
  readonly spanNames?: Readonly<Record<string, Operation>>;
  /** What the names of log events mean. */
  readonly events?: Readonly<Record<string, Operation>>;
  /**
   * Events, of spans or as log records, that carry messages: what their attributes say. `(body)`: the body of the log
   * record.
   */
  readonly messageEvents?: Readonly<Record<string, Readonly<Record<string, EventPart>>>>;
  /** Span events that mark the arrival of the first token. */
  readonly firstTokenEvents?: readonly string[];
  /** Moves messages into log records that are named like the scope of the span they come from. */
  readonly relocatesMessages?: boolean;
  readonly cachedTokens?: readonly CacheRule[];
  /** The output count leaves the reasoning tokens out. */
  readonly reasoningOutside?: boolean;
  /** Scopes whose agent spans hold the only usage of their trace. */
  readonly ownUsageScopes?: readonly string[];
  /** A model call without any usage is only the frame around one. */
  readonly callsHaveUsage?: boolean;
  /** Steps that are named by their span alone: its name is the name of the tool or the agent. */
  readonly namedBySpan?: readonly Operation[];
  /** A record with usage but without an operation repeats the usage of others. */
  readonly repeatsWithoutOperation?: boolean;
  readonly content?: readonly ContentRows[];
  /** Public places the facts were read in. */
  readonly sources?: readonly string[];
}
