/**
 * The shape of a dialect: how its records are recognised, which attributes hold which field, what its words mean, how
 * it counts tokens. Dialects are data; processors build their lookup tables from them once, at start.
 */
import { DERIVED_COLUMNS, PRICING_NUMBERS } from '../pdata/columns.ts';
import { CONTENT_COLUMNS } from '../pdata/content-columns.ts';
import type { Operation } from './categories.ts';

/** What dialects list attributes for: columns of the catalogue, and numbers of pricing. */
type Listed = Extract<
  (typeof DERIVED_COLUMNS)[number] | (typeof PRICING_NUMBERS)[number],
  { readonly filled: 'attribute' | 'code' }
>;
const LISTED = [...DERIVED_COLUMNS, ...PRICING_NUMBERS].filter((each): each is Listed => 'filled' in each);
/** Fields that become columns of other names, or parts of a number. */
const INDIRECT = ['cache_write_5m_tokens', 'finish_reason', 'time_to_first_token', 'latency', 'failed'] as const;

/** A field, or the cost that the sender computed itself. */
export type ReadField = Listed['name'] | (typeof INDIRECT)[number];
/** The fields of a record that have a column or count in a price. */
export const FIELDS: readonly ReadField[] = [...LISTED.map(({ name }) => name), ...INDIRECT];
export type Field = ReadField | 'cost_total' | 'cost_input' | 'cost_output';

/**
 * `s`, `ms`, `ns`: durations. `timestamp`: an instant; the field is the time from the start of the record to it.
 * `micro_usd`: a millionth of a dollar.
 */
export type Unit = 's' | 'ms' | 'ns' | 'timestamp' | 'micro_usd';

/** Which attributes: those of a span, of a log record, or of a span event. */
export type Place = 'span' | 'log' | 'span_event';

/** One source of a field. A bare string is an attribute without further conditions. */
export interface SourceRow {
  /** An attribute name, or a pattern: see `KeyPattern`. `(body)` is the body of a log record. */
  readonly attribute: string;
  /**
   * The value is a JSON document in a string; the first of these paths with a value is used. `$` is the
   * document.
   */
  readonly paths?: readonly string[];
  /** Counts only: the sum of the values at all `paths`, which the sender reports apart. Absent ones are left out. */
  readonly sum?: boolean;
  /** The name is general: it is read only in records of these dialects. */
  readonly only?: readonly string[];
  /** The attribute means this field for these operations only. */
  readonly when?: readonly Operation[];
  readonly on?: Place;
  readonly unit?: Unit;
  /** Only the text before or after the first occurrence of this, for example before the unit of a cost. */
  readonly before?: string;
  readonly after?: string;
  /**
   * The sender has one attribute for the request model and the response model. A dated name is the response model, any
   * other the request model.
   */
  readonly either?: boolean;
  /**
   * Its presence proves that the main count includes this part (`inside`) or leaves it out (`outside`). On the output
   * itself it says so of the reasoning tokens.
   */
  readonly proves?: 'inside' | 'outside';
  /**
   * The attribute resembles the field but is something else. It is never read; the row prevents that it is added again.
   */
  readonly excluded?: boolean;
  /** A sum over other records, on any record. */
  readonly aggregate?: boolean;
  /** Costs only: on records of this dialect, 0 means that the sender has no price. */
  readonly zeroIsUnknown?: boolean;
  /**
   * Other telemetry uses the name too, so it does not prove a record about AI. `person`: it fills its column on every
   * record, because users and conversations are useful on all spans.
   */
  readonly general?: 'shared' | 'person';
  /** Used after every other row of its field, of any dialect. */
  readonly last?: boolean;
}
export type Source = string | SourceRow;
export type Fields = Readonly<Partial<Record<Field, readonly Source[]>>>;

/** The meaning of an event's attribute. On tool steps `input` are the arguments and `output` the result. */
export type EventPart = 'input' | 'output' | 'system' | 'finish_reason' | 'error_type';

/**
 * Attributes or events that hold what people or models wrote. A name is content in every place, because senders move
 * attributes between places. Messages of errors, stack traces and `url.full` are not listed: they are stored even where
 * content is not.
 */
export interface ContentRow {
  /** Credentials, which are never stored. */
  readonly secret?: boolean;
  /** The names are general: they are content only in records of these dialects. */
  readonly only?: readonly string[];
  readonly attributes?: readonly string[];
  /** Bare names that are content only inside a GenAI event. */
  readonly inEvents?: readonly string[];
  /** Events by name, whose attributes and body are content as a whole. `*`: all but that of an exception. */
  readonly events?: readonly string[];
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
  /** The dialect comes from the configuration: it precedes all others for the records that show its signs. */
  readonly own?: boolean;
  /** Scope names that only this dialect uses; `*` at the end matches any text. */
  readonly scopes?: readonly string[];
  /** Attributes that prove the dialect: a name, a pattern, or `name=value`. Stronger than any scope. */
  readonly markers?: readonly string[];
  /** Attributes that suggest it: weaker than scopes. */
  readonly hints?: readonly string[];
  /** Values of the resource's `service.name` or `telemetry.sdk.name` that suggest it. */
  readonly services?: readonly string[];
  readonly fields?: Fields;
  /** What the values of an operation attribute mean; `*` at the beginning matches any text. Case does not matter. */
  readonly operations?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  /** Operations of spans by an attribute that they have, whatever its value, if nothing else states the operation. */
  readonly suggests?: Readonly<Record<string, Operation>>;
  /** Operations by span name, if no attribute has one; `*` at the end matches any text. */
  readonly spanNames?: Readonly<Record<string, Operation>>;
  /** Operations by the event name of log records. */
  readonly events?: Readonly<Record<string, Operation>>;
  /**
   * Span events and log records with messages: the meaning of their attributes. `(body)`: the body of the log record.
   */
  readonly messageEvents?: Readonly<Record<string, Readonly<Record<string, EventPart>>>>;
  /** Span events whose attributes are read like those of the span. Sources of them have `on: 'span_event'`. */
  readonly readsEvents?: readonly string[];
  /** Span events that mark the arrival of the first token. */
  readonly firstTokenEvents?: readonly string[];
  /** Moves messages into log records that are named like the scope of the span they come from. */
  readonly relocatesMessages?: boolean;
  readonly cachedTokens?: readonly CacheRule[];
  /** The output count leaves the reasoning tokens out; a list: for these canonical providers only. */
  readonly reasoningOutside?: boolean | readonly string[];
  /** Scopes whose agent spans hold the only usage of their trace. */
  readonly ownUsageScopes?: readonly string[];
  /**
   * The attribute by which two spans of one trace are the same call, where the sender has no response id. The view
   * `counted_usage` reads it.
   */
  readonly callId?: string;
  /**
   * A client library's own spans: one directly below a model call of another dialect reports that call once more.
   * The view `usage_spans` knows it.
   */
  readonly repeatsCallAbove?: boolean;
  /** Every call that a log record reports is on a span too, where there are spans. `counted_usage` knows it. */
  readonly logsRepeatSpans?: boolean;
  /**
   * Log records report the usage of every call, and spans only a part of it. Both have no common id, so the usage of
   * spans does not count.
   */
  readonly usageOnLogs?: boolean;
  /** Operations whose spans only repeat the usage of another span that has no id in common: it does not count. */
  readonly repeatedUsage?: readonly Operation[];
  /** A span of a model call without usage is only a span in addition to that of the call. */
  readonly callsHaveUsage?: boolean;
  /**
   * A span of a model call that did not fail and has neither usage nor an answer only opened a stream: another span is
   * that of the call.
   */
  readonly callsHaveAnswers?: boolean;
  /** Spans with a name of the dialect do not say that they failed, but record the exception that ended them. */
  readonly exceptionsAreFailures?: boolean;
  /** Operations whose span name is the name of the tool or agent. */
  readonly namedBySpan?: readonly Operation[];
  /**
   * A record without an operation is no model call, even with a model and usage, and repeats the usage of others. Every
   * span without an operation and a model does the latter.
   */
  readonly repeatsWithoutOperation?: boolean;
  /** Content besides what fills the columns of content. A bare string is an attribute without further conditions. */
  readonly content?: readonly (string | ContentRow)[];
  /** Public sources of these facts. */
  readonly sources?: readonly string[];
}

/** How sources name the body of a log record, which is no attribute. */
export const BODY = '(body)';

/**
 * All content of a dialect: the attributes that fill a column of content, and what it lists besides. Bodies of log
 * records are content by other signs, except those of the dialects of the configuration.
 */
export function contentOf({ own = false, fields = {}, content = [] }: Dialect): readonly ContentRow[] {
  const rows = CONTENT_COLUMNS.flatMap((column) => fields[column] ?? []).map((source) =>
    typeof source === 'string' ? { attribute: source } : source,
  );
  const filling = rows.flatMap(({ attribute, only, excluded }): readonly ContentRow[] => {
    if (own) return [{ attributes: [attribute] }];
    if (excluded === true || attribute === BODY) return [];
    return [{ attributes: [attribute], ...(only === undefined ? {} : { only }) }];
  });
  return [...filling, ...content.map((row) => (typeof row === 'string' ? { attributes: [row] } : row))];
}
