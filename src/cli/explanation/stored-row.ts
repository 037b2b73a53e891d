/**
 * A stored row as an OTLP body, so that it can be explained. Content that fills a column is no longer among the
 * attributes, and the name of its attribute is not stored; it gets a name that its dialect reads.
 */
import { CONTENT_COLUMNS } from '../../pdata/content-columns.ts';
import { DIALECTS } from '../../dialects/families.ts';
import type { ReadField, SourceRow } from '../../dialects/dialect.ts';
import type { Row } from '../reader.ts';
import type { Body } from './stages.ts';

const KINDS: readonly string[] = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const STATUSES: readonly string[] = ['unset', 'ok', 'error'];
const STANDARD = 'otel';

type Attributes = Readonly<Record<string, unknown>>;

/** `restored`: attributes that the row has no longer. */
export function bodyOfRow(row: Row, restored: Attributes = {}): Body {
  const isSpan = row['signal'] === 'span';
  const [resources, scopes, records] = isSpan
    ? ['resourceSpans', 'scopeSpans', 'spans']
    : ['resourceLogs', 'scopeLogs', 'logRecords'];
  const scope = { name: row['scope_name'], version: row['scope_version'], attributes: pairs(row['scope_attributes']) };
  const attributes = pairs({ ...(row['attributes'] as Attributes | null), ...restored });
  const record = withoutNulls(isSpan ? spanOf(row, attributes) : logOf(row, attributes));
  const body = {
    [resources]: [
      {
        resource: { attributes: pairs(row['resource']) },
        [scopes]: [{ scope: withoutNulls(scope), [records]: [record] }],
      },
    ],
  };
  return { signal: isSpan ? 'traces' : 'logs', encoding: 'json', bytes: Buffer.from(JSON.stringify(body)) };
}

function spanOf(row: Row, attributes: unknown): object {
  return {
    traceId: row['trace_id'],
    spanId: row['span_id'],
    parentSpanId: row['parent_span_id'],
    name: row['name'],
    kind: Math.max(KINDS.indexOf(String(row['kind'])), 0),
    startTimeUnixNano: row['start_time_unix_nano'],
    endTimeUnixNano: row['end_time_unix_nano'],
    attributes,
    events: list(row['events']).map((event) =>
      withoutNulls({
        name: event['name'],
        timeUnixNano: event['time_unix_nano'],
        attributes: pairs(event['attributes']),
      }),
    ),
    status: { code: Math.max(STATUSES.indexOf(String(row['status'])), 0) },
  };
}

function logOf(row: Row, attributes: unknown): object {
  return {
    timeUnixNano: row['time_unix_nano'],
    observedTimeUnixNano: row['observed_time_unix_nano'],
    severityNumber: row['severity_number'],
    severityText: row['severity_text'],
    eventName: row['event_name'],
    body: row['body'] === null ? null : anyValue(row['body']),
    traceId: row['trace_id'],
    spanId: row['span_id'],
    attributes,
  };
}

/** The content of `stored` that `derived` lacks, under names that the row's dialect reads. */
export function contentLostFrom(stored: Row, derived: Row): Attributes {
  const restored: Record<string, unknown> = {};
  for (const column of CONTENT_COLUMNS) {
    const value = stored[column];
    if (typeof value !== 'string' || derived[column] === value) continue;
    const members = flattened(value);
    if (members !== null) Object.assign(restored, members);
    else {
      const name = nameFor(column, stored);
      if (name !== null && !Object.hasOwn(restored, name)) restored[name] = value;
    }
  }
  return restored;
}

/** The attributes of a flattened list stand in their column as one object by name. */
function flattened(value: string): Attributes | null {
  if (!value.startsWith('{"')) return null;
  try {
    const members = JSON.parse(value) as Attributes;
    const keys = Object.keys(members);
    return keys.length > 0 && keys.every((key) => /\.\d+(?:\.|$)/u.test(key)) ? members : null;
  } catch {
    return null;
  }
}

function nameFor(column: ReadField, row: Row): string | null {
  for (const id of [String(row['dialect']), STANDARD]) {
    const sources = DIALECTS.find((dialect) => dialect.id === id)?.fields?.[column] ?? [];
    const rows: readonly SourceRow[] = sources.map((each) => (typeof each === 'string' ? { attribute: each } : each));
    const found = rows.find(
      ({ attribute, paths, when, excluded, on }) =>
        /^[^{*(]+$/u.test(attribute) &&
        paths === undefined &&
        excluded !== true &&
        (on === undefined || on === row['signal']) &&
        (when === undefined || when.some((operation) => operation === row['operation'])),
    );
    if (found !== undefined) return found.attribute;
  }
  return null;
}

const list = (value: unknown): readonly Row[] => (Array.isArray(value) ? (value as Row[]) : []);

function pairs(value: unknown): readonly object[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([key, each]) => ({ key, value: anyValue(each) }));
}

function anyValue(value: unknown): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  return value === null || value === undefined ? {} : { kvlistValue: { values: pairs(value) } };
}

const withoutNulls = (record: object): object =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null && value !== undefined));
