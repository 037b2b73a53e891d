/**
 * fast-check arbitraries for the requests of the three signals, in neutral form: every kind of value, absent and
 * explicit defaults, extreme numbers, exotic text, empty groups. All of them are valid and must be accepted.
 */
import fc from 'fast-check';
import { SIGNAL_LOGS, SIGNAL_TRACES } from '../../src/pdata/layout.ts';
import { codePoint } from './code-points.ts';
import type { Message, Signal, Value } from './protos.ts';

const MAX_INT64 = 2n ** 63n - 1n;
const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_UINT32 = 2 ** 32 - 1;

type Arbitraries = { readonly [field: string]: fc.Arbitrary<Value> };

/** A message with a random subset of its fields, and all required ones. */
function message(fields: Arbitraries, required: Arbitraries = {}): fc.Arbitrary<Message> {
  return fc.record<Record<string, Value>, string>({ ...fields, ...required }, { requiredKeys: Object.keys(required) });
}

const TEXTS = [
  '',
  ' ',
  '"',
  '\\',
  '\n\t\u0001\u001f',
  '\u007f',
  'é',
  '日本語',
  '😀',
  'a\u0000b',
  '\u0000',
  '\uffff\ufffd',
  '</script>',
];
const text = fc.oneof(
  fc.string({ maxLength: 24 }),
  fc.string({ unit: codePoint, maxLength: 24 }),
  fc.constantFrom(...TEXTS),
  fc.string({ unit: 'grapheme', minLength: 30, maxLength: 120 }),
  fc.json({ maxDepth: 2 }),
);
const KEYS = [
  'service.name',
  'deployment.environment.name',
  'gen_ai.request.model',
  'gen_ai.usage.input_tokens',
  'k',
  '',
  '__proto__',
  'constructor',
  'trace_id',
  'a"b\\c',
  'ключ',
];
const key = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...KEYS) },
  { weight: 1, arbitrary: text },
  { weight: 1, arbitrary: fc.string({ minLength: 250, maxLength: 300 }) },
);

const int64 = fc.oneof(
  fc.bigInt({ min: -MAX_INT64 - 1n, max: MAX_INT64 }),
  fc.constantFrom(0n, 1n, -1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, MAX_INT64, -MAX_INT64 - 1n),
);
const uint64 = fc.oneof(fc.bigInt({ min: 0n, max: MAX_UINT64 }), fc.constantFrom(0n, 1n, MAX_INT64, MAX_UINT64));
const time = fc.oneof(
  fc.bigInt({ min: 0n, max: MAX_INT64 }),
  fc.constantFrom(0n, 1n, 1_767_225_600_000_000_001n, MAX_INT64),
);
const start = time.map((value) => (value === 0n ? 1n : value));
const uint32 = fc.oneof(fc.integer({ min: 0, max: MAX_UINT32 }), fc.constantFrom(0, 1, 255, MAX_UINT32));
const int32 = fc.oneof(
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  fc.constantFrom(0, -1, -(2 ** 31), 2 ** 31 - 1),
);
const double = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -0, 0.1, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, Number.NaN, Infinity, -Infinity),
  fc.integer(),
);
const bytes: fc.Arbitrary<Value> = fc.uint8Array({ maxLength: 20 }).map((array) => Buffer.from(array));

function id(length: number): fc.Arbitrary<Value> {
  return fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((array) => Buffer.from(array.every((byte) => byte === 0) ? array.fill(7) : array));
}
const traceId = id(16);
const spanId = id(8);
const absent: fc.Arbitrary<Value> = fc.constant(Buffer.alloc(0));
const optionalTraceId = fc.oneof(traceId, absent);
const optionalSpanId = fc.oneof(spanId, absent);

const { keyValues, anyValue } = fc.letrec<{ anyValue: Message; keyValue: Message; keyValues: Value; values: Value }>(
  (tie) => ({
    anyValue: fc.oneof(
      { depthSize: 'small', maxDepth: 5 },
      text.map((stringValue) => ({ stringValue })),
      fc.boolean().map((boolValue) => ({ boolValue })),
      int64.map((intValue) => ({ intValue })),
      double.map((doubleValue) => ({ doubleValue })),
      bytes.map((bytesValue) => ({ bytesValue })),
      fc.constant({}),
      tie('values').map((values) => ({ arrayValue: { values } })),
      tie('keyValues').map((values) => ({ kvlistValue: { values } })),
    ),
    values: fc.array(tie('anyValue'), { maxLength: 4 }),
    keyValue: message({ key, value: tie('anyValue') }),
    keyValues: fc.array(tie('keyValue'), { maxLength: 6 }),
  }),
);

const event = message({ timeUnixNano: time, name: text, attributes: keyValues, droppedAttributesCount: uint32 });
const link = message({
  traceId: optionalTraceId,
  spanId: optionalSpanId,
  traceState: text,
  attributes: keyValues,
  droppedAttributesCount: uint32,
  flags: uint32,
});
const status = message({ message: text, code: fc.integer({ min: -1, max: 4 }) });

const span = message(
  {
    traceState: text,
    parentSpanId: optionalSpanId,
    flags: uint32,
    name: text,
    kind: fc.integer({ min: -1, max: 7 }),
    endTimeUnixNano: time,
    attributes: keyValues,
    droppedAttributesCount: uint32,
    events: fc.array(event, { maxLength: 3 }),
    droppedEventsCount: uint32,
    links: fc.array(link, { maxLength: 3 }),
    droppedLinksCount: uint32,
    status,
  },
  { traceId, spanId, startTimeUnixNano: start },
);

const logRecord = message({
  timeUnixNano: time,
  observedTimeUnixNano: time,
  severityNumber: fc.integer({ min: -1, max: 26 }),
  severityText: text,
  body: anyValue,
  attributes: keyValues,
  droppedAttributesCount: uint32,
  flags: uint32,
  traceId: optionalTraceId,
  spanId: optionalSpanId,
  eventName: text,
});

/** A message with at most one of two members. */
function either(base: Arbitraries, left: Arbitraries, right: Arbitraries): fc.Arbitrary<Message> {
  return fc.oneof(message({ ...base, ...left }), message({ ...base, ...right }));
}

const exemplar = either(
  { filteredAttributes: keyValues, timeUnixNano: time, traceId: optionalTraceId, spanId: optionalSpanId },
  { asDouble: double },
  { asInt: int64 },
);
const exemplars = fc.array(exemplar, { maxLength: 2 });
const point = { attributes: keyValues, startTimeUnixNano: time, timeUnixNano: time, flags: uint32 };
const optionalSums = { sum: double, min: double, max: double };
const counts = fc.array(uint64, { maxLength: 5 });

const numberPoint = either({ ...point, exemplars }, { asDouble: double }, { asInt: int64 });
const histogramPoint = message({
  ...point,
  ...optionalSums,
  count: uint64,
  bucketCounts: counts,
  explicitBounds: fc.array(double, { maxLength: 5 }),
  exemplars,
});
const buckets = message({ offset: int32, bucketCounts: counts });
const exponentialPoint = message({
  ...point,
  ...optionalSums,
  count: uint64,
  scale: int32,
  zeroCount: uint64,
  positive: buckets,
  negative: buckets,
  exemplars,
  zeroThreshold: double,
});
const summaryPoint = message({
  ...point,
  count: uint64,
  sum: double,
  quantileValues: fc.array(message({ quantile: double, value: double }), { maxLength: 3 }),
});

const points = (one: fc.Arbitrary<Message>) => fc.array(one, { maxLength: 3 });
const temporality = { aggregationTemporality: fc.integer({ min: -1, max: 4 }) };
const METRIC_DATA: readonly (readonly [string, fc.Arbitrary<Message>])[] = [
  ['gauge', message({ dataPoints: points(numberPoint) })],
  ['sum', message({ dataPoints: points(numberPoint), ...temporality, isMonotonic: fc.boolean() })],
  ['histogram', message({ dataPoints: points(histogramPoint), ...temporality })],
  ['exponentialHistogram', message({ dataPoints: points(exponentialPoint), ...temporality })],
  ['summary', message({ dataPoints: points(summaryPoint) })],
];
const described = { name: text, description: text, unit: text, metadata: keyValues };
const metric = fc.oneof(
  { weight: 1, arbitrary: message(described) },
  ...METRIC_DATA.map(([name, data]) => ({ weight: 4, arbitrary: message(described, { [name]: data }) })),
);

const entityRefs = fc.array(message({ schemaUrl: text, type: text, idKeys: fc.array(text, { maxLength: 2 }) }), {
  maxLength: 2,
});
const resource = message({ attributes: keyValues, droppedAttributesCount: uint32, entityRefs });
const scope = message({ name: text, version: text, attributes: keyValues, droppedAttributesCount: uint32 });

function request(names: readonly [string, string, string], record: fc.Arbitrary<Message>): fc.Arbitrary<Message> {
  const [groups, inner, records] = names;
  const scoped = message({ scope, schemaUrl: text, [records]: fc.array(record, { maxLength: 3 }) });
  const grouped = message({ resource, schemaUrl: text, [inner]: fc.array(scoped, { maxLength: 3 }) });
  return message({ [groups]: fc.array(grouped, { maxLength: 3 }) });
}

/** Requests of a signal. */
export function requests(signal: Signal): fc.Arbitrary<Message> {
  if (signal === SIGNAL_TRACES) return request(['resourceSpans', 'scopeSpans', 'spans'], span);
  if (signal === SIGNAL_LOGS) return request(['resourceLogs', 'scopeLogs', 'logRecords'], logRecord);
  return request(['resourceMetrics', 'scopeMetrics', 'metrics'], metric);
}
