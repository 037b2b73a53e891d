/**
 * Filters as SQL conditions. The expressions come from the table of fields; values and keys are parameters. Conditions
 * refer to the trace `t` and to the row: a span `s`, a log record `l`, or counted usage `u`.
 */
import { type Field, hasLogOfTrace, hasSpanOfTrace, inViews, type Target } from './fields.ts';
import { type Filter, FilterError, type FilterValue, type Operator, type Term } from './filter.ts';
import type { Parameters } from './parameters.ts';
import { containsText } from './text-pattern.ts';
import { amountOf, isPlainNumber, nanosecondsOf } from './values.ts';
import { idsFrom, TRACE_ID_DIGITS } from '../../../pdata/record-ids.ts';
import { NS_PER_MS } from '../../../pdata/time-units.ts';

export interface CompileOptions {
  readonly target: Target;
  /** Whether conditions on content are allowed. */
  readonly seesContent: boolean;
  /** The schema of the readable views. */
  readonly views: string;
  readonly parameters: Parameters;
}

export interface Conditions {
  /** On columns of the trace; for log records and usage empty. */
  readonly trace: readonly string[];
  /** On one row. */
  readonly row: readonly string[];
  /** The conditions of `row` that read no other row. */
  readonly own: readonly string[];
  /** On figures that are computed from all spans of a trace. */
  readonly sums: readonly string[];
  /**
   * Conditions on the whole trace that follow from `row`. They are checked before it: `row` looks for a span above each
   * span, which takes longer.
   */
  readonly implied: readonly string[];
  /** For each term with whole ids of conversations these ids: records of the trace name one of them. */
  readonly conversations: readonly (readonly string[])[];
  /** Whether a condition reads content or computes sums, so that fewer traces can be looked at in the same time. */
  readonly isHeavy: boolean;
}

/** Throws a `FilterError` for a field that the target does not have, or that needs the right to content. */
export function compileFilter({ terms }: Filter, options: CompileOptions): Conditions {
  // A single term is met by the span that names the value.
  const ofRow = terms.filter(({ field }) => placeOf(field, options.target) === 'row');
  const inherits = options.target === 'span' && ofRow.length > 1;
  const conditions = terms.map((term) => ({
    term,
    place: placeOf(term.field, options.target),
    sql: compileTerm(term, options, inherits),
  }));
  const of = (place: Place): readonly string[] =>
    conditions.filter((each) => each.place === place).map(({ sql }) => sql);
  const isHeavy = terms.some(
    ({ field }) =>
      field.kind === 'search' ||
      field.kind === 'json' ||
      field.onTrace === 'sum' ||
      (inherits && field.inherited !== undefined),
  );
  const implied = inherits ? conditions.flatMap(({ term, sql }) => impliedBy(term, sql, options.views)) : [];
  const conversations = options.target === 'span' ? terms.flatMap(namedConversations) : [];
  const own = conditions.filter(({ term, place }) => place === 'row' && !(inherits && readsAbove(term)));
  return {
    ...{ trace: of('trace'), row: of('row'), own: own.map(({ sql }) => sql), sums: of('sums') },
    ...{ implied, conversations, isHeavy },
  };
}

function namedConversations({ field, negated, operator, values }: Term): readonly (readonly string[])[] {
  const isWhole = operator === '=' && values.every(({ isPrefix }) => !isPrefix);
  return field.name === 'conversation' && !negated && isWhole ? [values.map(({ text }) => text)] : [];
}

const readsAbove = ({ field, negated }: Term): boolean => field.inherited !== undefined && !negated;

/**
 * `sql`: the condition of the term. The implied one refers to the same parameters: PostgreSQL refuses a parameter that
 * no condition refers to.
 */
function impliedBy({ field, negated }: Term, sql: string, views: string): readonly string[] {
  const { owner, inherited } = field;
  if (owner === undefined || inherited === undefined || negated) return [];
  const of = (column: string): string => sql.replaceAll(inViews(inherited, views), column);
  const ofSpans = hasSpanOfTrace(of(`x.${owner.column}`));
  return [owner.ofLogs ? `(${ofSpans} OR ${hasLogOfTrace(of(`o.${owner.column}`))})` : ofSpans];
}

type Place = 'trace' | 'row' | 'sums';

function placeOf({ onTrace }: Field, target: Target): Place {
  if (target !== 'span' || onTrace === undefined) return 'row';
  return onTrace === 'sum' ? 'sums' : 'trace';
}

/** `inherits`: a span also has what a span above it names. A negated term excludes only what the span itself names. */
export function compileTerm(term: Term, options: CompileOptions, inherits = false): string {
  const { field, negated, at } = term;
  const sql = (inherits && !negated ? field.inherited : undefined) ?? field.sql[options.target];
  if (sql === undefined) throw new FilterError(`"${field.name}" cannot be used here`, at);
  if (field.kind === 'error' && term.values.length > 0 && sql.length === 1)
    throw new FilterError(`"${field.name}" has no value here`, at, field.name);
  if (field.isContent === true && !options.seesContent)
    throw new FilterError(`"${field.name}" searches content, which you may not see`, at);
  const expressions = typeof sql === 'string' ? [inViews(sql, options.views)] : sql;
  const condition = alternatives(term, expressions, options);
  return negated ? `(${condition} IS NOT TRUE)` : condition;
}

/** Any value may meet the condition; without a value it is a flag. */
function alternatives(term: Term, expressions: readonly string[], options: CompileOptions): string {
  const [expression = 'false'] = expressions;
  if (term.values.length === 0) return expression;
  const each = term.values.map((value) => oneOf(term, value, expressions, options));
  return `(${each.join(' OR ')})`;
}

function oneOf(
  { field, key, operator }: Term,
  value: FilterValue,
  expressions: readonly string[],
  { parameters, seesContent }: CompileOptions,
): string {
  const [expression = 'false'] = expressions;
  switch (field.kind) {
    case 'trace_id': {
      const digits = value.text.toLowerCase();
      const [lowest, highest] = idsFrom(digits, TRACE_ID_DIGITS).map((id) => parameters.add(Buffer.from(id, 'hex')));
      return `${expression} BETWEEN ${lowest}::bytea AND ${highest}::bytea`;
    }
    case 'span_id':
      return `${expression} = ${parameters.add(Buffer.from(value.text, 'hex'))}::bytea`;
    case 'number':
      return `${expression} ${operator} ${parameters.add(amountOf(value.text))}::numeric`;
    case 'duration_ns':
      return `${expression} ${operator} ${parameters.add(String(nanosecondsOf(value.text)))}::numeric`;
    case 'duration_ms':
      return `${expression} ${operator} ${parameters.add(Number(nanosecondsOf(value.text)) / NS_PER_MS)}::float8`;
    case 'json':
      return ofJson(expression, parameters.text(key), { operator, value, parameters });
    case 'search':
      return contained(expressions, value, parameters);
    case 'error':
      // The type of an error is no content; its message is.
      return contained(expressions.slice(1, seesContent ? undefined : 2), value, parameters);
    case 'text':
    case 'flag':
      return ofText(expression, operator, value, parameters);
  }
}

function ofText(
  expression: string,
  operator: Operator,
  { text, isPrefix }: FilterValue,
  parameters: Parameters,
): string {
  const value = parameters.text(text);
  if (operator === '~') return `strpos(${expression}, ${value}) > 0`;
  return isPrefix ? `starts_with(${expression}, ${value})` : `${expression} = ${value}`;
}

/** In any of the columns, whatever the case of letters. */
function contained(expressions: readonly string[], { text }: FilterValue, parameters: Parameters): string {
  const each = expressions.map(containsText(text, (value) => parameters.text(value)));
  return each.length === 0 ? 'false' : `(${each.join(' OR ')})`;
}

interface Comparison {
  readonly operator: Operator;
  readonly value: FilterValue;
  readonly parameters: Parameters;
}

/** A stored number is compared as a number, every other value as text. */
function ofJson(json: string, key: string, { operator, value, parameters }: Comparison): string {
  const member = `(${json} ->> ${key})`;
  const isOrder = operator !== '=' && operator !== '~';
  if (!isOrder && (operator === '~' || value.isPrefix || !isPlainNumber(value.text)))
    return ofText(member, operator, value, parameters);
  const number = `${member}::numeric ${operator} ${parameters.add(value.text)}::numeric`;
  const other = isOrder ? 'false' : ofText(member, '=', value, parameters);
  return `CASE jsonb_typeof(${json} -> ${key}) WHEN 'number' THEN ${number} ELSE ${other} END`;
}
