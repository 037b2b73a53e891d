/**
 * The baseline: the same NDJSON lines with libraries: protobufjs 7 or JSON.parse, a row object for each record,
 * JSON.stringify. It is optimized, but not strict: no checks of ids, times, duplicates, UTF-8. It omits the derived
 * columns, which are all null here.
 */
import protobuf from 'protobufjs';
import { METRIC_TYPES, SPAN_KINDS, SPAN_STATUSES, TEMPORALITIES } from '../src/pdata/columns.ts';
import { SIGNAL_LOGS, SIGNAL_TRACES } from '../src/pdata/layout.ts';
import type { Protos, Signal } from '../test/support/protos.ts';

/** 64-bit integers are Long objects in protobufjs, text or numbers in JSON. All of them print as decimals. */
type Wide = { toString(): string } | undefined;
type Id = Uint8Array | string | undefined;

interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: Wide;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values?: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] };
  readonly bytesValue?: Uint8Array | string;
}
interface KeyValue {
  readonly key: string;
  readonly value?: AnyValue | null;
}
type Attributes = readonly KeyValue[] | undefined;
interface Owner {
  readonly name?: string;
  readonly version?: string;
  readonly attributes?: Attributes;
}
interface Item {
  readonly traceId?: Id;
  readonly spanId?: Id;
  readonly parentSpanId?: Id;
  readonly traceState?: string;
  readonly name?: string;
  readonly kind?: number;
  readonly status?: { readonly code?: number; readonly message?: string } | null;
  readonly startTimeUnixNano?: Wide;
  readonly endTimeUnixNano?: Wide;
  readonly timeUnixNano?: Wide;
  readonly observedTimeUnixNano?: Wide;
  readonly severityNumber?: number;
  readonly severityText?: string;
  readonly eventName?: string;
  readonly body?: AnyValue | null;
  readonly flags?: number;
  readonly droppedAttributesCount?: number;
  readonly droppedEventsCount?: number;
  readonly droppedLinksCount?: number;
  readonly events?: readonly Item[];
  readonly links?: readonly Item[];
  readonly attributes?: Attributes;
  readonly description?: string;
  readonly unit?: string;
  readonly gauge?: Data;
  readonly sum?: Data;
  readonly histogram?: Data;
}
interface Data {
  readonly dataPoints?: readonly Point[];
  readonly aggregationTemporality?: number;
  readonly isMonotonic?: boolean;
}
interface Point {
  readonly startTimeUnixNano?: Wide;
  readonly timeUnixNano?: Wide;
  readonly asInt?: Wide | null;
  readonly asDouble?: number | null;
  readonly count?: Wide;
  readonly sum?: number;
  readonly min?: number;
  readonly max?: number;
  readonly bucketCounts?: readonly Wide[];
  readonly explicitBounds?: readonly number[];
  readonly flags?: number;
  readonly attributes?: Attributes;
}
type Object = Record<string, unknown>;

function id(value: Id): string | null {
  if (value === undefined || value.length === 0) return null;
  return typeof value === 'string' ? value : Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex');
}

function decimal(value: Wide): string {
  return value === undefined || value === null ? '0' : value.toString();
}

function known(value: Wide): string | null {
  const text = decimal(value);
  return text === '0' ? null : text;
}

function value(given: AnyValue | null | undefined): unknown {
  if (given === null || given === undefined) return null;
  if (Object.hasOwn(given, 'stringValue')) return given.stringValue;
  if (Object.hasOwn(given, 'intValue')) return Number(given.intValue);
  if (Object.hasOwn(given, 'boolValue')) return given.boolValue;
  if (Object.hasOwn(given, 'doubleValue')) return given.doubleValue;
  if (Object.hasOwn(given, 'arrayValue')) return (given.arrayValue?.values ?? []).map(value);
  if (Object.hasOwn(given, 'kvlistValue')) return attributes(given.kvlistValue?.values);
  const bytes = given.bytesValue;
  return bytes === undefined || typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('base64');
}

function attributes(list: Attributes): Object {
  const result: Object = {};
  if (list !== undefined) for (const pair of list) result[pair.key] = value(pair.value);
  return result;
}

function source(signal: string, resource: Object, scope: Owner | null | undefined): Object {
  const scopeAttributes = scope?.attributes ?? [];
  return {
    signal,
    project: 'test',
    environment: null,
    service_name: resource['service.name'] ?? null,
    resource,
    scope_name: scope?.name || null,
    scope_version: scope?.version || null,
    scope_attributes: scopeAttributes.length > 0 ? attributes(scopeAttributes) : null,
    received_at: '2026-01-01T00:00:00.123456Z',
  };
}

function spanRow(span: Item, common: Object): Object {
  const [start, end] = [decimal(span.startTimeUnixNano), known(span.endTimeUnixNano)];
  const duration = end === null ? null : BigInt(end) - BigInt(start);
  return {
    ...common,
    trace_id: id(span.traceId),
    span_id: id(span.spanId),
    parent_span_id: id(span.parentSpanId),
    trace_state: span.traceState || null,
    name: span.name ?? '',
    kind: SPAN_KINDS[span.kind ?? 0] ?? SPAN_KINDS[0],
    status: SPAN_STATUSES[span.status?.code ?? 0] ?? SPAN_STATUSES[0],
    status_message: span.status?.message || null,
    start_time_unix_nano: start,
    end_time_unix_nano: end,
    duration_ns: duration === null ? null : String(duration < 0n ? 0n : duration),
    flags: span.flags ?? 0,
    dropped_attributes_count: span.droppedAttributesCount ?? 0,
    dropped_events_count: span.droppedEventsCount ?? 0,
    dropped_links_count: span.droppedLinksCount ?? 0,
    events: (span.events ?? []).map((event) => ({
      name: event.name ?? '',
      time_unix_nano: decimal(event.timeUnixNano),
      attributes: attributes(event.attributes),
    })),
    links: (span.links ?? []).map((link) => ({
      trace_id: id(link.traceId),
      span_id: id(link.spanId),
      attributes: attributes(link.attributes),
    })),
    attributes: attributes(span.attributes),
  };
}

function logRow(log: Item, common: Object): Object {
  return {
    ...common,
    time_unix_nano: known(log.timeUnixNano),
    observed_time_unix_nano: known(log.observedTimeUnixNano),
    severity_number: log.severityNumber || null,
    severity_text: log.severityText || null,
    event_name: log.eventName || null,
    body: value(log.body),
    trace_id: id(log.traceId),
    span_id: id(log.spanId),
    flags: log.flags ?? 0,
    dropped_attributes_count: log.droppedAttributesCount ?? 0,
    attributes: attributes(log.attributes),
  };
}

function pointRow(metric: Item, type: number, data: Data, point: Point, common: Object): Object {
  const histogram = type === 3;
  return {
    ...common,
    name: metric.name ?? '',
    description: metric.description || null,
    unit: metric.unit || null,
    type: METRIC_TYPES[type],
    temporality: TEMPORALITIES[data.aggregationTemporality ?? 0] ?? null,
    is_monotonic: type === 2 ? (data.isMonotonic ?? false) : null,
    start_time_unix_nano: known(point.startTimeUnixNano),
    time_unix_nano: decimal(point.timeUnixNano),
    value: histogram
      ? null
      : point.asInt === undefined || point.asInt === null
        ? (point.asDouble ?? null)
        : Number(point.asInt),
    count: histogram ? decimal(point.count) : null,
    sum: histogram ? (point.sum ?? null) : null,
    min: histogram ? (point.min ?? null) : null,
    max: histogram ? (point.max ?? null) : null,
    buckets: histogram
      ? { explicit_bounds: point.explicitBounds ?? [], bucket_counts: (point.bucketCounts ?? []).map(decimal) }
      : null,
    quantiles: null,
    exemplars: null,
    flags: point.flags ?? 0,
    metadata: null,
    attributes: attributes(point.attributes),
  };
}

function metricLines(metric: Item, common: Object, lines: string[]): void {
  const type = metric.gauge ? 1 : metric.sum ? 2 : 3;
  const data = metric.gauge ?? metric.sum ?? metric.histogram ?? {};
  for (const point of data.dataPoints ?? []) lines.push(JSON.stringify(pointRow(metric, type, data, point, common)));
}

interface Scope {
  readonly scope?: Owner | null;
  readonly spans?: readonly Item[];
  readonly logRecords?: readonly Item[];
  readonly metrics?: readonly Item[];
}
interface Group {
  readonly resource?: Owner | null;
  readonly scopeSpans?: readonly Scope[];
  readonly scopeLogs?: readonly Scope[];
  readonly scopeMetrics?: readonly Scope[];
}
interface Request {
  readonly resourceSpans?: readonly Group[];
  readonly resourceLogs?: readonly Group[];
  readonly resourceMetrics?: readonly Group[];
}

const WORDS = ['span', 'log', 'metric'] as const;

/** NDJSON of a decoded request. */
function lines(signal: Signal, request: Request): string {
  const result: string[] = [];
  for (const group of request.resourceSpans ?? request.resourceLogs ?? request.resourceMetrics ?? []) {
    const resource = attributes(group.resource?.attributes);
    for (const scope of group.scopeSpans ?? group.scopeLogs ?? group.scopeMetrics ?? []) {
      const common = source(WORDS[signal], resource, scope.scope);
      for (const item of scope.spans ?? scope.logRecords ?? scope.metrics ?? []) {
        if (signal === SIGNAL_TRACES) result.push(JSON.stringify(spanRow(item, common)));
        else if (signal === SIGNAL_LOGS) result.push(JSON.stringify(logRow(item, common)));
        else metricLines(item, common, result);
      }
    }
  }
  return `${result.join('\n')}\n`;
}

/** The lines of the libraries as bytes, as a sink needs them. */
export class Baseline {
  readonly #types: readonly protobuf.Type[];

  constructor(protos: Protos) {
    this.#types = protos.requests;
  }

  protobuf(signal: Signal, body: Buffer): Buffer {
    const type = this.#types[signal];
    if (type === undefined) throw new Error('no such signal');
    return Buffer.from(lines(signal, type.decode(body) as unknown as Request));
  }

  json(signal: Signal, body: Buffer): Buffer {
    return Buffer.from(lines(signal, JSON.parse(body.toString('utf8')) as Request));
  }
}
