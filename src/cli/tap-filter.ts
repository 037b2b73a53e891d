/** The console's filter language over records as the `file` exporter writes them, for `sluice tap`. */
import { ERROR_SEVERITY } from '../extensions/console/filter/failed-logs.ts';
import type { Field } from '../extensions/console/filter/fields.ts';
import { FilterError, type FilterValue, type Operator, type Term } from '../extensions/console/filter/filter.ts';
import { parseFilter } from '../extensions/console/filter/parse.ts';
import { textMatcher } from '../extensions/console/filter/text-pattern.ts';
import { amountOf, isPlainNumber, nanosecondsOf } from '../extensions/console/filter/values.ts';
import { CONTENT_COLUMNS } from '../pdata/content-columns.ts';
import { filterFault } from './filter-option.ts';
import { NS_PER_MS } from '../pdata/time-units.ts';

/** One line of the file, parsed. */
export type TappedRecord = Readonly<Record<string, unknown>>;

/** Whether a record matches. Throws a `UsageError` for a text that is no filter, or needs whole traces. */
export function recordFilter(text: string): (record: TappedRecord) => boolean {
  try {
    const { terms } = parseFilter(text);
    const sum = terms.find(({ field }) => field.onTrace === 'sum');
    if (sum !== undefined) throw new FilterError(`"${sum.field.name}" cannot be used here`, sum.at);
    const tests = terms.map(testOf);
    return (record) => record['signal'] !== 'metric' && tests.every((meets) => meets(record));
  } catch (error) {
    throw filterFault(error);
  }
}

type Test = (record: TappedRecord) => boolean;

function testOf(term: Term): Test {
  const { field, negated } = term;
  const tests = term.values.map((value) => testOfValue(term, value));
  if (tests.length === 0) return (record) => flagOf(field, record) !== negated;
  return (record) => tests.some((meets) => meets(record)) !== negated;
}

function flagOf({ name }: Field, record: TappedRecord): boolean {
  if (name === 'unpriced') return record['usage_scope'] === 'own' && (record['total_cost'] ?? null) === null;
  if (name === 'root') return record['signal'] === 'span' && (record['parent_span_id'] ?? null) === null;
  return (
    record['status'] === 'error' ||
    record['is_error'] === true ||
    Number(record['severity_number'] ?? 0) >= ERROR_SEVERITY
  );
}

/** What does not depend on the record is worked out once. */
function testOfValue({ field, key, operator }: Term, value: FilterValue): Test {
  switch (field.kind) {
    case 'trace_id': {
      const id = value.text.toLowerCase();
      return (record) => String(record['trace_id'] ?? '').startsWith(id);
    }
    case 'span_id': {
      const id = value.text.toLowerCase();
      return (record) => record['span_id'] === id;
    }
    case 'number': {
      const amount = Number(amountOf(value.text));
      return (record) => record['usage_scope'] === 'own' && compared(numberAt(field, record), operator, amount);
    }
    case 'duration_ns':
      return durationTest(field, operator, Number(nanosecondsOf(value.text)));
    case 'duration_ms':
      return durationTest(field, operator, Number(nanosecondsOf(value.text)) / NS_PER_MS);
    case 'json': {
      const column = field.name === 'attr.' ? 'attributes' : 'resource';
      return (record) => jsonMeets(memberOf(record[column], key), operator, value);
    }
    case 'search':
      return containsTest(['name', 'event_name', 'status_message', 'body', ...CONTENT_COLUMNS], value);
    case 'error':
      return containsTest(['error_type', 'status_message'], value);
    case 'text':
    case 'flag':
      return (record) => textMeets(textAt(field, record), operator, value);
  }
}

function durationTest(field: Field, operator: Operator, wanted: number): Test {
  return (record) => compared(numberAt(field, record), operator, wanted);
}

function containsTest(columns: readonly string[], { text }: FilterValue): Test {
  const contains = textMatcher(text);
  return (record) =>
    columns.some((column) => {
      const value = record[column] ?? null;
      if (value === null) return false;
      return contains(typeof value === 'string' ? value : JSON.stringify(value));
    });
}

/** The columns of the fields whose expression is not one column. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  env: ['environment'],
  model: ['response_model', 'request_model'],
  scope: ['scope_name'],
  severity: ['severity_text'],
  tokens: ['total_tokens'],
  input: ['input_tokens'],
  output: ['output_tokens'],
  cost: ['total_cost'],
};

/** The first value that the record has; null: none. */
function valueAt(field: Field, record: TappedRecord): unknown {
  const sql = field.sql[record['signal'] === 'log' ? 'log' : 'span'];
  const column = typeof sql === 'string' ? /^[sl]\.(\w+)$/u.exec(sql)?.[1] : undefined;
  const columns = COLUMNS[field.name] ?? (column === undefined ? [] : [column]);
  return columns.map((name) => record[name] ?? null).find((value) => value !== null) ?? null;
}

function textAt(field: Field, record: TappedRecord): string | null {
  const value = valueAt(field, record);
  if (value === null) return null;
  return field.name === 'severity' ? String(value).toUpperCase() : String(value);
}

function numberAt(field: Field, record: TappedRecord): number | null {
  const value = valueAt(field, record);
  return value === null ? null : Number(value);
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null;
  return (value as Readonly<Record<string, unknown>>)[key] ?? null;
}

function jsonMeets(member: unknown, operator: Operator, value: FilterValue): boolean {
  if (typeof member === 'number' && operator !== '~' && !value.isPrefix && isPlainNumber(value.text))
    return compared(member, operator, Number(value.text));
  if (member === null || (operator !== '=' && operator !== '~')) return false;
  return textMeets(typeof member === 'object' ? JSON.stringify(member) : String(member), operator, value);
}

function textMeets(text: string | null, operator: Operator, value: FilterValue): boolean {
  if (text === null) return false;
  if (operator === '~') return text.includes(value.text);
  return value.isPrefix ? text.startsWith(value.text) : text === value.text;
}

function compared(one: number | null, operator: Operator, other: number): boolean {
  if (one === null) return false;
  switch (operator) {
    case '>':
      return one > other;
    case '>=':
      return one >= other;
    case '<':
      return one < other;
    case '<=':
      return one <= other;
    default:
      return one === other;
  }
}
