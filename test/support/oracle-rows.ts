/**
 * The expected rows of a request, in simple code: one function for each rule, one object for each row. The encoders are
 * compared with it.
 */
import {
  DERIVED_COLUMNS,
  LOG_COLUMNS,
  METRIC_COLUMNS,
  METRIC_TYPES,
  SPAN_COLUMNS,
  SPAN_KINDS,
  SPAN_STATUSES,
  TEMPORALITIES,
} from '../../src/pdata/columns.ts';
import { SIGNAL_LOGS, SIGNAL_TRACES } from '../../src/pdata/layout.ts';
import { isMessage, type Message, type Signal } from './protos.ts';

/** JSON without loss: an integer is a bigint, a double a number, an object a Map (so that no key is special). */
export type Expected = null | boolean | string | bigint | number | readonly Expected[] | ReadonlyMap<string, Expected>;
export type Row = ReadonlyMap<string, Expected>;

const MAX_INT64 = 2n ** 63n - 1n;

// ── Reading fields with their defaults ───────────────────────────────────────────────────────────────────────────────
function list(message: Message, name: string): readonly Message[] {
  return (message[name] as readonly Message[] | undefined) ?? [];
}

function submessage(message: Message, name: string): Message | null {
  const value = message[name];
  return isMessage(value) ? value : null;
}

function wide(message: Message, name: string): bigint {
  return (message[name] as bigint | undefined) ?? 0n;
}

function small(message: Message, name: string): number {
  return (message[name] as number | undefined) ?? 0;
}

function double(message: Message, name: string): Expected {
  return finite((message[name] as number | undefined) ?? 0);
}

function optionalDouble(message: Message, name: string): Expected {
  return message[name] === undefined ? null : double(message, name);
}

function text(message: Message, name: string): string {
  return storable((message[name] as string | undefined) ?? '');
}

function textOrNull(message: Message, name: string): string | null {
  return text(message, name) || null;
}

function hex(message: Message, name: string): string | null {
  const bytes = message[name] as Uint8Array | undefined;
  return bytes === undefined || bytes.length === 0 ? null : Buffer.from(bytes).toString('hex');
}

// ── Rules of single values ───────────────────────────────────────────────────────────────────────────────────────────
/** Replaces characters that Postgres cannot store. */
function storable(value: string): string {
  return value.replace(/\p{Surrogate}/gu, '\ufffd').replaceAll('\u0000', '\ufffd');
}

function finite(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** A time of 0 is unknown. */
function time(message: Message, name: string): string | null {
  const value = wide(message, name);
  return value === 0n ? null : String(value);
}

/** A count beyond int8 is unknown. */
function count64(message: Message, name: string): string | null {
  const value = wide(message, name);
  return value > MAX_INT64 ? null : String(value);
}

function word(words: readonly (string | null)[], index: number): string | null {
  return words[index] ?? words[0] ?? null;
}

function anyValue(message: Message | null): Expected {
  if (message === null) return null;
  const [name] = Object.keys(message);
  const value = name === undefined ? undefined : message[name];
  switch (name) {
    case 'stringValue':
      return storable(value as string);
    case 'boolValue':
      return value as boolean;
    case 'intValue':
      return value as bigint;
    case 'doubleValue':
      return finite(value as number);
    case 'bytesValue':
      return Buffer.from(value as Uint8Array).toString('base64');
    case 'arrayValue':
      return list(value as Message, 'values').map(anyValue);
    case 'kvlistValue':
      return attributes(value as Message, 'values');
    default:
      return null;
  }
}

/** The last of equal keys is used. */
function attributes(message: Message | null, name = 'attributes'): Map<string, Expected> {
  const result = new Map<string, Expected>();
  for (const pair of message === null ? [] : list(message, name)) {
    result.set(text(pair, 'key'), anyValue(submessage(pair, 'value')));
  }
  return result;
}

function orNull<T extends ReadonlyMap<string, Expected> | readonly Expected[]>(value: T): T | null {
  const size = Array.isArray(value) ? value.length : (value as ReadonlyMap<string, Expected>).size;
  return size === 0 ? null : value;
}

/** An object of the members that are not undefined. */
function json(members: Readonly<Record<string, Expected | undefined>>): Map<string, Expected> {
  const result = new Map<string, Expected>();
  for (const [name, value] of Object.entries(members)) if (value !== undefined) result.set(name, value);
  return result;
}

// ── Rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
/** The resource and the scope of a record. */
interface Place {
  readonly resource: Message | null;
  readonly scope: Message | null;
}

function sourceFields({ resource, scope }: Place, signal: string): Record<string, Expected> {
  const resourceAttributes = attributes(resource);
  const service =
    resource === null ? undefined : list(resource, 'attributes').findLast((pair) => pair['key'] === 'service.name');
  const serviceValue = service === undefined ? null : submessage(service, 'value');
  return {
    signal,
    service_name: serviceValue?.['stringValue'] === undefined ? null : (resourceAttributes.get('service.name') ?? null),
    resource: resourceAttributes,
    scope_name: scope === null ? null : textOrNull(scope, 'name'),
    scope_version: scope === null ? null : textOrNull(scope, 'version'),
    scope_attributes: orNull(attributes(scope)),
  };
}

function spanEvent(event: Message): Expected {
  return json({
    name: text(event, 'name'),
    time_unix_nano: String(wide(event, 'timeUnixNano')),
    attributes: attributes(event),
    dropped_attributes_count: BigInt(small(event, 'droppedAttributesCount')) || undefined,
  });
}

function spanLink(link: Message): Expected {
  return json({
    trace_id: hex(link, 'traceId'),
    span_id: hex(link, 'spanId'),
    trace_state: textOrNull(link, 'traceState') ?? undefined,
    attributes: attributes(link),
    flags: BigInt(small(link, 'flags')) || undefined,
    dropped_attributes_count: BigInt(small(link, 'droppedAttributesCount')) || undefined,
  });
}

function spanRow(span: Message, place: Place): Record<string, Expected> {
  const start = wide(span, 'startTimeUnixNano');
  const end = wide(span, 'endTimeUnixNano');
  const status = submessage(span, 'status') ?? {};
  return {
    ...sourceFields(place, 'span'),
    trace_id: hex(span, 'traceId'),
    span_id: hex(span, 'spanId'),
    parent_span_id: hex(span, 'parentSpanId'),
    trace_state: textOrNull(span, 'traceState'),
    name: text(span, 'name'),
    kind: word(SPAN_KINDS, small(span, 'kind')),
    status: word(SPAN_STATUSES, small(status, 'code')),
    status_message: textOrNull(status, 'message'),
    start_time_unix_nano: String(start),
    end_time_unix_nano: time(span, 'endTimeUnixNano'),
    duration_ns: end === 0n ? null : String(end < start ? 0n : end - start),
    flags: BigInt(small(span, 'flags')),
    dropped_attributes_count: BigInt(small(span, 'droppedAttributesCount')),
    dropped_events_count: BigInt(small(span, 'droppedEventsCount')),
    dropped_links_count: BigInt(small(span, 'droppedLinksCount')),
    events: list(span, 'events').map(spanEvent),
    links: list(span, 'links').map(spanLink),
    attributes: attributes(span),
  };
}

function logRow(log: Message, place: Place): Record<string, Expected> {
  const severity = small(log, 'severityNumber');
  return {
    ...sourceFields(place, 'log'),
    time_unix_nano: time(log, 'timeUnixNano'),
    observed_time_unix_nano: time(log, 'observedTimeUnixNano'),
    severity_number: severity < 1 || severity > 24 ? null : BigInt(severity),
    severity_text: textOrNull(log, 'severityText'),
    event_name: textOrNull(log, 'eventName'),
    body: anyValue(submessage(log, 'body')),
    trace_id: hex(log, 'traceId'),
    span_id: hex(log, 'spanId'),
    flags: BigInt(small(log, 'flags')),
    dropped_attributes_count: BigInt(small(log, 'droppedAttributesCount')),
    attributes: attributes(log),
  };
}

function numberValue(message: Message): Expected {
  const integer = message['asInt'];
  return integer === undefined ? optionalDouble(message, 'asDouble') : (integer as bigint);
}

function exemplar(message: Message): Expected {
  return json({
    time_unix_nano: String(wide(message, 'timeUnixNano')),
    value: numberValue(message),
    trace_id: hex(message, 'traceId') ?? undefined,
    span_id: hex(message, 'spanId') ?? undefined,
    attributes: attributes(message, 'filteredAttributes'),
  });
}

function decimals(message: Message, name: string): readonly Expected[] {
  return ((message[name] as readonly bigint[] | undefined) ?? []).map(String);
}

function doubles(message: Message, name: string): readonly Expected[] {
  return ((message[name] as readonly number[] | undefined) ?? []).map(finite);
}

function side(point: Message, name: string): Expected {
  const buckets = submessage(point, name);
  if (buckets === null) return null;
  return json({ offset: BigInt(small(buckets, 'offset')), bucket_counts: decimals(buckets, 'bucketCounts') });
}

function pointData(type: string, point: Message): Record<string, Expected> {
  switch (type) {
    case 'histogram':
      return {
        count: count64(point, 'count'),
        sum: optionalDouble(point, 'sum'),
        min: optionalDouble(point, 'min'),
        max: optionalDouble(point, 'max'),
        buckets: json({
          explicit_bounds: doubles(point, 'explicitBounds'),
          bucket_counts: decimals(point, 'bucketCounts'),
        }),
      };
    case 'exponential_histogram':
      return {
        count: count64(point, 'count'),
        sum: optionalDouble(point, 'sum'),
        min: optionalDouble(point, 'min'),
        max: optionalDouble(point, 'max'),
        buckets: json({
          scale: BigInt(small(point, 'scale')),
          zero_count: String(wide(point, 'zeroCount')),
          zero_threshold: double(point, 'zeroThreshold'),
          positive: side(point, 'positive'),
          negative: side(point, 'negative'),
        }),
      };
    case 'summary':
      return {
        count: count64(point, 'count'),
        sum: double(point, 'sum'),
        quantiles: list(point, 'quantileValues').map((pair) =>
          json({ quantile: double(pair, 'quantile'), value: double(pair, 'value') }),
        ),
      };
    default:
      return { value: numberValue(point) };
  }
}

const METRIC_MEMBERS: Readonly<Record<string, (typeof METRIC_TYPES)[number]>> = {
  gauge: 'gauge',
  sum: 'sum',
  histogram: 'histogram',
  exponentialHistogram: 'exponential_histogram',
  summary: 'summary',
};

function metricRows(metric: Message, place: Place): Record<string, Expected>[] {
  const member = Object.keys(METRIC_MEMBERS).find((name) => metric[name] !== undefined);
  const type = member === undefined ? null : (METRIC_MEMBERS[member] ?? null);
  const data = member === undefined ? null : submessage(metric, member);
  if (type === null || data === null) return [];
  const monotonic = (data['isMonotonic'] as boolean | undefined) ?? false;
  return list(data, 'dataPoints').map((point) => ({
    ...sourceFields(place, 'metric'),
    name: text(metric, 'name'),
    description: textOrNull(metric, 'description'),
    unit: textOrNull(metric, 'unit'),
    type,
    temporality: word(TEMPORALITIES, small(data, 'aggregationTemporality')),
    is_monotonic: type === 'sum' ? monotonic : null,
    start_time_unix_nano: time(point, 'startTimeUnixNano'),
    time_unix_nano: String(wide(point, 'timeUnixNano')),
    ...pointData(type, point),
    exemplars: orNull(list(point, 'exemplars').map(exemplar)),
    flags: BigInt(small(point, 'flags')),
    metadata: orNull(attributes(metric, 'metadata')),
    attributes: attributes(point),
  }));
}

const COLUMNS = [SPAN_COLUMNS, LOG_COLUMNS, METRIC_COLUMNS] as const;

/** Field names of a line in their order: the columns, with the two columns of a point's value as one. */
function lineFields(signal: Signal): readonly string[] {
  const names = COLUMNS[signal].map((column) => column.name).filter((name) => name !== 'value_double');
  return ['signal', ...names.map((name) => (name === 'value_int' ? 'value' : name))];
}

/** Derived columns, and those the caller sets, are null or left to the caller. */
const UNSET: readonly string[] = [
  'project',
  'environment',
  'received_at',
  ...DERIVED_COLUMNS.map((column) => column.name),
];

function complete(fields: Record<string, Expected>, signal: Signal, common: Row): Row {
  const row = new Map<string, Expected>();
  for (const name of lineFields(signal)) row.set(name, fields[name] ?? common.get(name) ?? null);
  for (const name of Object.keys(fields)) {
    if (!row.has(name) || UNSET.includes(name)) throw new Error(`${name} is not a column the oracle may fill`);
  }
  return row;
}

const GROUPS = [
  ['resourceSpans', 'scopeSpans', 'spans'],
  ['resourceLogs', 'scopeLogs', 'logRecords'],
  ['resourceMetrics', 'scopeMetrics', 'metrics'],
] as const;

/** Every record of a request with its resource and scope, in order. */
function records(signal: Signal, request: Message): { readonly record: Message; readonly place: Place }[] {
  const [resources, scopes, items] = GROUPS[signal];
  return list(request, resources).flatMap((group) =>
    list(group, scopes).flatMap((inner) => {
      const place = { resource: submessage(group, 'resource'), scope: submessage(inner, 'scope') };
      return list(inner, items).map((record) => ({ record, place }));
    }),
  );
}

/** Spans, log records, or metrics: what the check for an empty request counts. */
export function countRecords(signal: Signal, request: Message): number {
  return records(signal, request).length;
}

/** The rows of an accepted request. `common` fills the columns that do not come from the message. */
export function expectedRows(signal: Signal, request: Message, common: Row): Row[] {
  return records(signal, request)
    .flatMap(({ record, place }) => {
      if (signal === SIGNAL_TRACES) return [spanRow(record, place)];
      if (signal === SIGNAL_LOGS) return [logRow(record, place)];
      return metricRows(record, place);
    })
    .map((fields) => complete(fields, signal, common));
}
