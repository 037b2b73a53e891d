/** The filters of the commands that read stored telemetry, as options and as SQL. */
import { containsText } from '../extensions/console/filter/text-pattern.ts';
import { hasSpan } from '../extensions/console/filter/trace-spans.ts';
import { CONTENT_COLUMNS } from '../pdata/content-columns.ts';
import { canNameEnvironment, ENVIRONMENT_HINT, normalizeEnvironment } from '../pdata/environment.ts';
import { textOption, UsageError, type Values } from './options.ts';

export const FILTER_OPTIONS = {
  environment: textOption('NAME', 'Only this environment', { short: 'e' }),
  model: textOption('NAME', 'Only calls of this model, or of its dated versions', { short: 'm' }),
  service: textOption('NAME', 'Only this service', { short: 's' }),
  user: textOption('ID', 'Only this user', { short: 'u' }),
  conversation: textOption('ID', 'Only this conversation'),
  agent: textOption('NAME', 'Only this agent'),
};

/** Collects the values of a statement and gives each its place. */
export class Parameters {
  readonly values: unknown[] = [];

  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

export function environmentOf(values: Values): string | null {
  const text = values.text('environment');
  if (text === undefined) return null;
  if (canNameEnvironment(text)) return normalizeEnvironment(text);
  throw new UsageError(`--environment takes the name of an environment, not ${JSON.stringify(text)}`, ENVIRONMENT_HINT);
}

/** The condition of a filter on the columns of a record; `model` is an SQL expression of its model. */
type Condition = (value: string, alias: string, model: string) => string;

const CONDITIONS: Readonly<Record<string, Condition>> = {
  // Providers append a date to the name of a model.
  model: (value, _alias, model) => `(${model} = ${value} OR starts_with(${model}, ${value} || '-'))`,
  service: (value, alias) => `${alias}.service_name = ${value}`,
  user: (value, alias) => `${alias}.user_id = ${value}`,
  conversation: (value, alias) => `${alias}.conversation_id = ${value}`,
  agent: (value, alias) => `${alias}.agent_name = ${value}`,
};

/** Texts of a span and of a log record that `--search` looks through. */
const CONTENT = ['tool_name', ...CONTENT_COLUMNS];
const SPAN_TEXTS = ['name', 'status_message', ...CONTENT];
const LOG_TEXTS = ['event_name', 'body::text', ...CONTENT];
export const SEARCHED = { span: SPAN_TEXTS, log: LOG_TEXTS };

/** The condition of each given filter, on the columns of any alias. */
function givenConditions(values: Values, parameters: Parameters): ((alias: string, model?: string) => string)[] {
  return Object.entries(CONDITIONS).flatMap(([name, condition]) => {
    const given = values.text(name);
    if (given === undefined) return [];
    const value = `${parameters.add(given)}::text`;
    return (alias, model = `coalesce(${alias}.response_model, ${alias}.request_model)`) =>
      condition(value, alias, model);
  });
}

/** Conditions on a span or log record `s` itself. */
export function recordConditions(values: Values, parameters: Parameters, texts: readonly string[]): readonly string[] {
  const found = givenConditions(values, parameters).map((condition) => condition('s'));
  const text = values.text('search');
  if (text !== undefined) found.push(containing(text, parameters)(allOf('s', texts)));
  return found;
}

const containing = (text: string, parameters: Parameters): ((expression: string) => string) =>
  containsText(text, (value) => `${parameters.add(value)}::text`);

const allOf = (alias: string, texts: readonly string[]): string =>
  `concat_ws(E'\\n', ${texts.map((column) => `${alias}.${column}`).join(', ')})`;

/**
 * Conditions on a trace `t`. Each filter may be met by another record of the trace, a span or a log record. `views` is
 * the schema of the readable views, `within` that of `spansOf`, `arrived` that of `hasLog`.
 */
export function traceConditions(
  values: Values,
  parameters: Parameters,
  views: string,
  within = '',
  arrived = '',
): readonly string[] {
  const inTrace = (condition: (alias: string) => string): string =>
    `(${hasSpan(condition('s'), within)}
      OR ${hasLog(condition('l'), arrived)})`;
  const found = givenConditions(values, parameters).map((condition) => inTrace((alias) => condition(alias)));
  const text = values.text('search');
  if (text !== undefined) {
    const contains = containing(text, parameters);
    found.push(inTrace((alias) => contains(allOf(alias, alias === 's' ? SPAN_TEXTS : LOG_TEXTS))));
  }
  const cost = minCostOf(values);
  if (cost !== null) {
    const sum = `SELECT sum(c.total_cost) FROM ${views}.trace_usage_of(t.project, ARRAY[t.trace_id]) c`;
    found.push(`(${sum}) >= ${parameters.add(cost)}::numeric`);
  }
  return found;
}

/** Whether the trace `t` has a log record `l` that meets the condition. `arrived`: a condition of all by parameters. */
export const hasLog = (condition: string, arrived = ''): string =>
  `EXISTS (SELECT FROM sluice.logs l WHERE l.project = t.project AND l.trace_id = t.trace_id AND ${condition}${
    arrived === '' ? '' : ` AND l.received_at ${arrived}`
  })`;

/** Columns of `counted_usage u` that are computed. */
export const USAGE_EXPRESSIONS: Readonly<Record<string, string>> = {
  day: "to_char(to_timestamp(u.time_unix_nano / 1000000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
};

/** Conditions on a row of `counted_usage u`. */
export function usageConditions(values: Values, parameters: Parameters): readonly string[] {
  const found: string[] = [];
  const environment = environmentOf(values);
  if (environment !== null) found.push(`u.environment = ${parameters.add(environment)}::text`);
  return [...found, ...givenConditions(values, parameters).map((condition) => condition('u', 'u.model'))];
}

export function minCostOf(values: Values): string | null {
  const text = values.text('min-cost');
  if (text === undefined) return null;
  const amount = text.replace(/^\$/u, '');
  if (!/^\d{1,10}(?:\.\d{1,8})?$/u.test(amount))
    throw new UsageError(`--min-cost takes an amount, not "${text}"`, 'as 0.05');
  return amount;
}
