/** Makes the bytes of a body from its description, in either encoding, up to a size. */
import type { AttributeSpec, Genome, NestedSpec, ValueSpec } from './genome.ts';
import { loadProtos, SIGNAL_NAMES } from '../../support/protos.ts';

export type SignalName = (typeof SIGNAL_NAMES)[number];
export type EncodingName = 'protobuf' | 'json';

type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json } | RawNumber;

/** A number with the digits to write. */
class RawNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const START_NS = 1_790_000_000_000_000_000n;
const MAX_ATTRIBUTES = 200_000;
/** The limit of one list of attributes. A record may be larger than a body may be, but it must fit a string. */
const MAX_RECORD_BYTES = 24 * 1024 * 1024;
/** The limit of one record. Each value takes some hundred bytes of memory until it is encoded, as protobuf twice. */
const MAX_RECORD_VALUES = { json: 4_000_000, protobuf: 2_000_000 } as const;
const protos = loadProtos();

/**
 * Every body has new ids, so that none is a replay. `size` is the limit in bytes, unless one record is larger. Throws a
 * `RangeError` for a record that is too large to be made.
 */
export function bodyOf(
  genome: Genome,
  { signal, encoding, size, salt }: { signal: SignalName; encoding: EncodingName; size: number; salt: number },
): Buffer {
  const values = valuesOf(genome);
  if (values > MAX_RECORD_VALUES[encoding]) throw new RangeError(`the record has ${values} values`);
  const one = recordOf(genome, signal, 0, salt);
  const recordBytes = Math.max(1, encodedSize(requestOf(genome, signal, [one], 0), signal, encoding));
  const count = Math.max(1, Math.floor(size / recordBytes));
  const groups: Json[] = [];
  for (let first = 0; first < count; first += genome.recordsPerResource) {
    const length = Math.min(genome.recordsPerResource, count - first);
    const records = Array.from({ length }, (_, index) => recordOf(genome, signal, first + index, salt));
    groups.push(groupOf(genome, signal, records, groups.length));
  }
  return encode({ [GROUPS[signal]]: groups }, signal, encoding);
}

const GROUPS = { traces: 'resourceSpans', logs: 'resourceLogs', metrics: 'resourceMetrics' } as const;
const SCOPES = { traces: 'scopeSpans', logs: 'scopeLogs', metrics: 'scopeMetrics' } as const;
const RECORDS = { traces: 'spans', logs: 'logRecords', metrics: 'metrics' } as const;

const requestOf = (genome: Genome, signal: SignalName, records: readonly Json[], group: number): Json => ({
  [GROUPS[signal]]: [groupOf(genome, signal, records, group)],
});

function groupOf(genome: Genome, signal: SignalName, records: readonly Json[], group: number): Json {
  return {
    resource: { attributes: attributesOf(genome.resource, group) },
    [SCOPES[signal]]: [{ scope: { name: filled(genome.scope, group, 0) }, [RECORDS[signal]]: records }],
  };
}

function encodedSize(request: Json, signal: SignalName, encoding: EncodingName): number {
  return encode(request, signal, encoding).length;
}

function encode(request: Json, signal: SignalName, encoding: EncodingName): Buffer {
  if (encoding === 'json') return Buffer.from(written(request));
  const type = protos.requests[SIGNAL_NAMES.indexOf(signal)] as (typeof protos.requests)[0];
  return Buffer.from(type.encode(type.fromObject(asProtobuf(request) as Record<string, unknown>)).finish());
}

function written(value: Json): string {
  if (value instanceof RawNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(written).join()}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${written(inner)}`)
    .join()}}`;
}

const ID_FIELDS = new Set(['traceId', 'spanId', 'parentSpanId']);

function asProtobuf(value: Json, field = ''): unknown {
  if (value instanceof RawNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map((item) => asProtobuf(item));
  if (typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asProtobuf(inner, key)]));
  }
  return ID_FIELDS.has(field) ? Buffer.from(String(value), 'hex') : value;
}

const hex = (value: number, length: number): string => value.toString(16).padStart(length, '0').slice(-length);
const time = (record: number): string => String(START_NS + BigInt(record) * 1000n);

function recordOf(genome: Genome, signal: SignalName, record: number, salt: number): Json {
  const trace = genome.traces === 'one' ? 1 : record + 1;
  const ids = { traceId: `${hex(salt, 16)}${hex(trace, 16)}`, spanId: hex(record + 1, 16) };
  const attributes = attributesOf(genome.attributes, record);
  if (signal === 'traces') {
    const events = Array.from({ length: genome.events }, (_, index) => ({
      timeUnixNano: time(record),
      name: filled(genome.eventName, record, index),
      attributes: attributesOf(genome.eventAttributes, record),
    }));
    const links = Array.from({ length: genome.links }, (_, index) => ({ ...ids, spanId: hex(index + 1, 16) }));
    const times = { startTimeUnixNano: time(record), endTimeUnixNano: time(record + 5) };
    return { ...ids, name: textOf(genome.name, record, 0), kind: 3, ...times, attributes, events, links };
  }
  if (signal === 'logs') {
    const body = anyValueOf(genome.body, record, 0);
    return {
      timeUnixNano: time(record),
      ...ids,
      severityNumber: 9,
      eventName: filled(genome.eventName, record, 0),
      body,
      attributes,
    };
  }
  return metricOf(genome, record, attributes);
}

function metricOf(genome: Genome, record: number, attributes: Json): Json {
  const number = genome.body.kind === 'number' ? genome.body.text : '0.1';
  const exemplars = Array.from({ length: genome.events }, () => ({
    timeUnixNano: time(record),
    asDouble: new RawNumber(number),
    filteredAttributes: attributesOf(genome.eventAttributes, record),
  }));
  const common = { timeUnixNano: time(record), startTimeUnixNano: time(0), attributes, exemplars };
  const name = textOf(genome.name, record, 0);
  if (genome.bounds === 0) return { name, gauge: { dataPoints: [{ ...common, asDouble: new RawNumber(number) }] } };
  const explicitBounds = Array.from({ length: genome.bounds }, () => new RawNumber(number));
  const bucketCounts = Array.from({ length: genome.bounds + 1 }, () => '1');
  const point = {
    ...common,
    count: String(genome.bounds + 1),
    sum: new RawNumber(number),
    explicitBounds,
    bucketCounts,
  };
  return { name, histogram: { dataPoints: [point], aggregationTemporality: 2 } };
}

/** About how many values a record has. */
function valuesOf({ attributes, resource, events, eventAttributes, body, bounds, links }: Genome): number {
  const inList = (specs: readonly AttributeSpec[]): number =>
    specs.reduce((sum, spec) => sum + countOf(spec) * valuesIn(spec.value), 0);
  return (
    inList(attributes) + inList(resource) + events * (1 + inList(eventAttributes)) + valuesIn(body) + bounds + links
  );
}

function valuesIn(value: ValueSpec): number {
  if (value.kind === 'document') return valuesIn(value.value);
  return value.kind === 'list' || value.kind === 'map' ? itemsOf(value) * valuesIn(value.item) : 1;
}

const countOf = ({ key, count, value }: AttributeSpec): number =>
  Math.max(1, Math.min(count, Math.floor(MAX_RECORD_BYTES / (key.length + bytesOf(value)))));

function attributesOf(specs: readonly AttributeSpec[], record: number): Json {
  const list: Json[] = [];
  for (const spec of specs) {
    const { key, value } = spec;
    const most = countOf(spec);
    for (let index = 0; index < most && list.length < MAX_ATTRIBUTES; index++)
      list.push({ key: filled(key, record, index), value: anyValueOf(value, record, index) });
  }
  return list;
}

/** About how many bytes a value has at least when it is written. */
function bytesOf(value: ValueSpec): number {
  if (value.kind === 'text') return Math.max(1, value.bytes);
  if (value.kind === 'number' || value.kind === 'integer') return value.text.length;
  if (value.kind === 'document') return bytesOf(value.value);
  return itemsOf(value) * bytesOf(value.item);
}

const filled = (text: string, record: number, index: number): string =>
  text.includes('{') ? text.replaceAll('{r}', String(record)).replaceAll('{i}', String(index)) : text;

function textOf({ unit, bytes }: { unit: string; bytes: number }, record: number, index: number): string {
  const text = filled(unit, record, index);
  return text.repeat(Math.max(1, Math.floor(bytes / Math.max(1, text.length))));
}

function anyValueOf(spec: ValueSpec, record: number, index: number): Json {
  switch (spec.kind) {
    case 'text':
      return { stringValue: textOf(spec, record, index) };
    case 'number':
      return { doubleValue: new RawNumber(spec.text) };
    case 'integer':
      return { intValue: filled(spec.text, record, index) };
    case 'document':
      return { stringValue: written(plainOf(spec.value, record, index)) };
    default:
      return nestedOf(spec, record, index);
  }
}

/** The limits of all items together, because their number grows as width to the power of depth. */
const MAX_ITEMS = 5000;
const MAX_NESTED_BYTES = 2 * 1024 * 1024;

/** How often each level holds the one inside it. */
function copiesOf({ depth, width, item }: NestedSpec): readonly number[] {
  const most = Math.min(MAX_ITEMS, MAX_NESTED_BYTES / bytesOf(item));
  let items = 1;
  return Array.from({ length: depth }, () => {
    const copies = items * width > most ? 1 : width;
    items *= copies;
    return copies;
  });
}

const itemsOf = (nested: NestedSpec): number => copiesOf(nested).reduce((items, copies) => items * copies, 1);

function nestedOf(nested: NestedSpec, record: number, index: number): Json {
  const { kind, item } = nested;
  let value: Json = anyValueOf(item, record, index);
  for (const copies of copiesOf(nested)) {
    const inside: Json = value;
    const values: Json[] = Array.from({ length: copies }, () => inside);
    value =
      kind === 'list'
        ? { arrayValue: { values } }
        : { kvlistValue: { values: values.map((inner: Json, at: number) => ({ key: `k${at}`, value: inner })) } };
  }
  return value;
}

function plainOf(nested: NestedSpec, record: number, index: number): Json {
  const { kind, item } = nested;
  let value: Json =
    item.kind === 'text'
      ? textOf(item, record, index)
      : item.kind === 'number'
        ? new RawNumber(item.text)
        : item.kind === 'integer'
          ? filled(item.text, record, index)
          : 'x';
  for (const copies of copiesOf(nested)) {
    const inside: Json = value;
    const values: Json[] = Array.from({ length: copies }, () => inside);
    value =
      kind === 'list'
        ? values
        : Object.fromEntries(values.map((inner, at) => [at === 0 ? 'content' : `k${at}`, inner]));
  }
  return value;
}
