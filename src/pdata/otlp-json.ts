/**
 * Stored rows as OTLP/JSON: one export request, grouped by resource and scope. The command line, the console and the
 * API of Tempo write OTLP with it; `otlp-protobuf.ts` encodes the result.
 */
import { SPAN_KINDS, SPAN_STATUSES } from './columns.ts';
import type { Signal } from './context.ts';
import { isList, isObject, type Json, type JsonObject, longNumber, parseJson } from './exact-json.ts';
import { restoredAttributes } from './restored-attributes.ts';
import type { StoredText } from './stored-text.ts';

const TEMPORALITIES: Readonly<Record<string, number>> = { delta: 1, cumulative: 2 };
const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

const NAMES: Readonly<Record<Signal, readonly [resources: string, scopes: string, records: string]>> = {
  traces: ['resourceSpans', 'scopeSpans', 'spans'],
  logs: ['resourceLogs', 'scopeLogs', 'logRecords'],
  metrics: ['resourceMetrics', 'scopeMetrics', 'metrics'],
};

/** An `Export…ServiceRequest` as JSON text, on one line. */
export function otlpJson(signal: Signal, rows: readonly StoredText[]): string {
  const [resources, scopes, records] = NAMES[signal];
  const groups = grouped(rows, (row) => row['resource'] ?? '{}').map(([resource, ofResource]) => {
    const inner = grouped(ofResource, scopeKey).map(([, ofScope]) => {
      const [first = {}] = ofScope;
      return `{"scope":${scopeOf(first)},"${records}":[${recordsOf(signal, ofScope).join(',')}]}`;
    });
    return `{"resource":{"attributes":${attributesOf(resource)}},"${scopes}":[${inner.join(',')}]}`;
  });
  return `{"${resources}":[${groups.join(',')}]}`;
}

function grouped(
  rows: readonly StoredText[],
  keyOf: (row: StoredText) => string,
): readonly (readonly [string, readonly StoredText[]])[] {
  const groups = new Map<string, StoredText[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups];
}

const scopeKey = (row: StoredText): string =>
  JSON.stringify([row['scope_name'], row['scope_version'], row['scope_attributes']]);

function scopeOf(row: StoredText): string {
  return fields([
    ['name', textOf(row['scope_name'])],
    ['version', textOf(row['scope_version'])],
    ['attributes', attributesOf(row['scope_attributes'])],
  ]);
}

function recordsOf(signal: Signal, rows: readonly StoredText[]): readonly string[] {
  if (signal === 'traces') return rows.map(spanOf);
  if (signal === 'logs') return rows.map(logOf);
  return grouped(rows, metricKey).map(([, points]) => metricOf(points));
}

function spanOf(row: StoredText): string {
  return fields([
    ['traceId', textOf(row['trace_id'])],
    ['spanId', textOf(row['span_id'])],
    ['parentSpanId', textOf(row['parent_span_id'])],
    ['traceState', textOf(row['trace_state'])],
    ['flags', row['flags']],
    ['name', textOf(row['name'])],
    ['kind', indexIn(SPAN_KINDS, row['kind'])],
    ['startTimeUnixNano', textOf(row['start_time_unix_nano'])],
    ['endTimeUnixNano', textOf(row['end_time_unix_nano'])],
    ['attributes', `[${[...restoredAttributes(row)].map(keyValue).join(',')}]`],
    ['droppedAttributesCount', row['dropped_attributes_count']],
    ['events', listOf(row['events'], eventOf)],
    ['droppedEventsCount', row['dropped_events_count']],
    ['links', listOf(row['links'], linkOf)],
    ['droppedLinksCount', row['dropped_links_count']],
    [
      'status',
      fields([
        ['message', textOf(row['status_message'])],
        ['code', indexIn(SPAN_STATUSES, row['status'])],
      ]),
    ],
  ]);
}

function logOf(row: StoredText): string {
  const body = row['body'] === null ? undefined : parseJson(row['body'] ?? '');
  return fields([
    ['timeUnixNano', textOf(row['time_unix_nano'])],
    ['observedTimeUnixNano', textOf(row['observed_time_unix_nano'])],
    ['severityNumber', row['severity_number']],
    ['severityText', textOf(row['severity_text'])],
    ['eventName', textOf(row['event_name'])],
    ['body', body === undefined ? null : anyValue(body)],
    ['attributes', `[${[...restoredAttributes(row)].map(keyValue).join(',')}]`],
    ['droppedAttributesCount', row['dropped_attributes_count']],
    ['flags', row['flags']],
    ['traceId', textOf(row['trace_id'])],
    ['spanId', textOf(row['span_id'])],
  ]);
}

const metricKey = (row: StoredText): string =>
  JSON.stringify(
    ['name', 'description', 'unit', 'type', 'temporality', 'is_monotonic', 'metadata'].map((name) => row[name]),
  );

function metricOf(points: readonly StoredText[]): string {
  const [first = {}] = points;
  const temporality = first['temporality'] ?? null;
  const data = fields([
    ['aggregationTemporality', temporality === null ? null : String(TEMPORALITIES[temporality] ?? 0)],
    ['isMonotonic', first['is_monotonic']],
    ['dataPoints', `[${points.map(pointOf).join(',')}]`],
  ]);
  const type = (first['type'] ?? 'gauge').replaceAll(/_(.)/gu, (_, letter: string) => letter.toUpperCase());
  return fields([
    ['name', textOf(first['name'])],
    ['description', textOf(first['description'])],
    ['unit', textOf(first['unit'])],
    ['metadata', attributesOf(first['metadata'])],
    [type, data],
  ]);
}

function pointOf(row: StoredText): string {
  const { value_int: whole = null, value_double: double = null } = row;
  return fields([
    ['attributes', attributesOf(row['attributes'])],
    ['startTimeUnixNano', textOf(row['start_time_unix_nano'])],
    ['timeUnixNano', textOf(row['time_unix_nano'])],
    ['asInt', textOf(whole)],
    ['asDouble', whole === null ? doubleText(double) : null],
    ['count', textOf(row['count'])],
    ['sum', doubleText(row['sum'])],
    ['min', doubleText(row['min'])],
    ['max', doubleText(row['max'])],
    ...bucketsOf(row['buckets']),
    ['quantileValues', listOf(row['quantiles'], quantileOf)],
    ['exemplars', listOf(row['exemplars'], exemplarOf)],
    ['flags', row['flags']],
  ]);
}

type Field = readonly [name: string, json: string | null | undefined];

function bucketsOf(text: string | null | undefined): readonly Field[] {
  const buckets = parseJson(text ?? 'null');
  if (!isObject(buckets)) return [];
  if (buckets['scale'] === undefined)
    return [
      ['bucketCounts', counts(buckets['bucket_counts'])],
      ['explicitBounds', doubles(buckets['explicit_bounds'])],
    ];
  return [
    ['scale', JSON.stringify(buckets['scale'])],
    ['zeroCount', JSON.stringify(buckets['zero_count'] ?? '0')],
    ['zeroThreshold', doubleOf(buckets['zero_threshold'] ?? 0)],
    ['positive', sideOf(buckets['positive'])],
    ['negative', sideOf(buckets['negative'])],
  ];
}

function sideOf(side: Json | undefined): string | null {
  if (!isObject(side)) return null;
  return fields([
    ['offset', JSON.stringify(side['offset'] ?? 0)],
    ['bucketCounts', counts(side['bucket_counts'])],
  ]);
}

const counts = (list: Json | undefined): string | null =>
  isList(list) ? `[${list.map((count) => JSON.stringify(String(longNumber(count) ?? count))).join(',')}]` : null;
const doubles = (list: Json | undefined): string | null => (isList(list) ? `[${list.map(doubleOf).join(',')}]` : null);

const quantileOf = (value: JsonObject): string =>
  fields([
    ['quantile', doubleOf(value['quantile'] ?? 0)],
    ['value', doubleOf(value['value'] ?? 0)],
  ]);

function exemplarOf(value: JsonObject): string {
  const number = value['value'] ?? null;
  const whole = number === null ? null : integerOf(number);
  return fields([
    ['filteredAttributes', keyValues(value['attributes'])],
    ['timeUnixNano', textOf(stringOf(value['time_unix_nano']))],
    ['asInt', textOf(whole)],
    ['asDouble', number !== null && whole === null ? doubleOf(number) : null],
    ['traceId', textOf(stringOf(value['trace_id']))],
    ['spanId', textOf(stringOf(value['span_id']))],
  ]);
}

const eventOf = (event: JsonObject): string =>
  fields([
    ['timeUnixNano', textOf(stringOf(event['time_unix_nano']))],
    ['name', textOf(stringOf(event['name']))],
    ['attributes', keyValues(event['attributes'])],
    ['droppedAttributesCount', numberOf(event['dropped_attributes_count'])],
  ]);

const linkOf = (link: JsonObject): string =>
  fields([
    ['traceId', textOf(stringOf(link['trace_id']))],
    ['spanId', textOf(stringOf(link['span_id']))],
    ['traceState', textOf(stringOf(link['trace_state']))],
    ['attributes', keyValues(link['attributes'])],
    ['droppedAttributesCount', numberOf(link['dropped_attributes_count'])],
    ['flags', numberOf(link['flags'])],
  ]);

function attributesOf(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : keyValues(parseJson(text));
}

const keyValues = (value: Json | undefined): string =>
  isObject(value) ? `[${Object.entries(value).map(keyValue).join(',')}]` : '[]';
const keyValue = ([key, value]: readonly [string, Json]): string =>
  `{"key":${JSON.stringify(key)},"value":${anyValue(value)}}`;

function anyValue(value: Json): string {
  if (value === null) return '{}';
  if (typeof value === 'boolean') return `{"boolValue":${value}}`;
  if (isList(value)) return `{"arrayValue":{"values":[${value.map(anyValue).join(',')}]}}`;
  if (isObject(value)) return `{"kvlistValue":{"values":${keyValues(value)}}}`;
  const whole = integerOf(value);
  if (whole !== null) return `{"intValue":"${whole}"}`;
  if (typeof value === 'number' || longNumber(value) !== null) return `{"doubleValue":${doubleOf(value)}}`;
  return `{"stringValue":${JSON.stringify(value)}}`;
}

/** The digits of an integer of 64 bits. JSON does not distinguish an integer from a double without a fraction. */
function integerOf(value: Json): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  const digits = longNumber(value);
  if (digits === null || !/^-?\d{1,19}$/u.test(digits)) return null;
  const whole = BigInt(digits);
  return whole >= MIN_INT64 && whole <= MAX_INT64 ? digits : null;
}

/** What is not finite is stored as a word, and OTLP writes the same words. */
function doubleOf(value: Json): string {
  const long = longNumber(value);
  if (typeof value === 'string' && long === null) return JSON.stringify(value);
  return String(Number(long ?? value));
}

const doubleText = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : /^-?[\d.]/u.test(text) ? text : JSON.stringify(text);

function listOf(text: string | null | undefined, write: (value: JsonObject) => string): string | null {
  const list = parseJson(text ?? 'null');
  return isList(list) ? `[${list.flatMap((each) => (isObject(each) ? [write(each)] : [])).join(',')}]` : null;
}

const textOf = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : JSON.stringify(text);
const stringOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);
const numberOf = (value: Json | undefined): string | null => (typeof value === 'number' ? String(value) : null);

function indexIn(words: readonly string[], word: string | null | undefined): string | null {
  const index = words.indexOf(word ?? '');
  return index > 0 ? String(index) : null;
}

const fields = (list: readonly Field[]): string =>
  `{${list.flatMap(([name, json]) => (json === null || json === undefined ? [] : [`"${name}":${json}`])).join(',')}}`;
