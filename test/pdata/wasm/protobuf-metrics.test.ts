import t from 'tap';
import {
  EVENT_ATTRIBUTES_COUNT,
  EVENT_ATTRIBUTES_FIRST,
  EVENT_SPAN_ID,
  EVENT_STRIDE,
  EVENT_TIME,
  EVENT_TRACE_ID,
  EVENT_VALUE,
  EVENT_VALUE_KIND,
  EVENTS_BASE,
  FAIL_ID,
  FAIL_PAYLOAD,
  FAIL_PROTOBUF,
  HEADER_ATTRIBUTES,
  HEADER_EVENTS,
  HEADER_METRICS,
  HEADER_NUMBERS,
  HEADER_POINTS,
  HEADER_RECORDS,
  METRIC_ATTRIBUTES_COUNT,
  METRIC_ATTRIBUTES_FIRST,
  METRIC_DESCRIPTION_LENGTH,
  METRIC_DESCRIPTION_OFFSET,
  METRIC_GAUGE,
  METRIC_HISTOGRAM,
  METRIC_MONOTONIC,
  METRIC_NAME_LENGTH,
  METRIC_NAME_OFFSET,
  METRIC_NONE,
  METRIC_SUM,
  METRIC_TEMPORALITY,
  METRIC_TYPE,
  METRIC_UNIT_LENGTH,
  METRIC_UNIT_OFFSET,
  METRICS_BASE,
  NUMBERS_BASE,
  POINT_BOUNDS_COUNT,
  POINT_BOUNDS_FIRST,
  POINT_BUCKETS_COUNT,
  POINT_BUCKETS_FIRST,
  POINT_COUNT,
  POINT_HAS,
  POINT_HAS_MAX,
  POINT_HAS_MIN,
  POINT_HAS_NEGATIVE,
  POINT_HAS_POSITIVE,
  POINT_HAS_SUM,
  POINT_MAX,
  POINT_MIN,
  POINT_NEGATIVE_COUNT,
  POINT_POSITIVE_COUNT,
  POINT_POSITIVE_FIRST,
  POINT_POSITIVE_OFFSET,
  POINT_QUANTILES_COUNT,
  POINT_QUANTILES_FIRST,
  POINT_SCALE,
  POINT_SUM,
  POINT_VALUE_DOUBLE,
  POINT_VALUE_INT,
  POINT_VALUE_NONE,
  POINT_ZERO_COUNT,
  POINT_ZERO_THRESHOLD,
  POINTS_BASE,
  RECORD_ATTRIBUTES_COUNT,
  RECORD_ATTRIBUTES_FIRST,
  RECORD_END,
  RECORD_EVENTS_COUNT,
  RECORD_EVENTS_FIRST,
  RECORD_FLAGS,
  RECORD_KIND,
  RECORD_METRIC,
  RECORD_POINT,
  RECORD_START,
  RECORD_STRIDE,
  RECORD_VALUE,
  RECORDS_BASE,
  SIGNAL_METRICS,
} from '../../../src/pdata/layout.ts';
import { IndexedBody } from './indexed-body.ts';
import * as pb from './protobuf-writer.ts';

const GAUGE = 5;
const SUM = 7;
const HISTOGRAM = 9;
const EXPONENTIAL = 10;
const SUMMARY = 11;

const body = new IndexedBody();
const index = (...metrics: Buffer[]): number | undefined => body.index(SIGNAL_METRICS, pb.request(...metrics));
const point = (type: number, ...fields: Buffer[]): Buffer => pb.message(type, pb.message(1, ...fields));
const record = (row: number): number => RECORDS_BASE + row * RECORD_STRIDE;
const doubles = (first: number, count: number): number[] =>
  Array.from({ length: body.u32(count) }, (_, i) => body.f64(NUMBERS_BASE + (body.u32(first) + i) * 8));
const counts = (first: number, count: number): bigint[] =>
  Array.from({ length: body.u32(count) }, (_, i) => body.u64(NUMBERS_BASE + (body.u32(first) + i) * 8));
const packed = (field: number, ...values: Buffer[]): Buffer =>
  pb.message(field, ...values.map((value) => value.subarray(1)));

t.test('a metric describes its points', (t) => {
  const points = [
    pb.message(
      1,
      pb.fixed64(2, 3),
      pb.fixed64(3, 4),
      pb.fixed64(6, -5),
      pb.attribute(7, 'k', pb.varint(3, 1)),
      pb.varint(8, 1),
    ),
    pb.message(1, pb.double(4, 0.5)),
    pb.message(1),
    pb.message(1, pb.fixed64(6, 1), pb.double(4, 2)),
  ];
  const described = [pb.text(1, 'tokens'), pb.text(2, 'how many'), pb.text(3, '{token}')];
  const sum = pb.message(SUM, points[0] as Buffer, pb.varint(2, 2), ...points.slice(1), pb.varint(3, 1));
  t.equal(
    index(Buffer.alloc(0), Buffer.concat([...described, sum, pb.attribute(12, 'm', pb.varint(3, 2))])),
    undefined,
  );
  t.equal(body.header(HEADER_METRICS), 2, 'a metric without data counts');
  t.equal(body.header(HEADER_RECORDS), 4, 'but has no rows');
  t.equal(body.u8(METRICS_BASE + METRIC_TYPE), METRIC_NONE);
  const metric = METRICS_BASE + 64;
  t.equal(body.text(metric + METRIC_NAME_OFFSET, metric + METRIC_NAME_LENGTH), 'tokens');
  t.equal(body.text(metric + METRIC_DESCRIPTION_OFFSET, metric + METRIC_DESCRIPTION_LENGTH), 'how many');
  t.equal(body.text(metric + METRIC_UNIT_OFFSET, metric + METRIC_UNIT_LENGTH), '{token}');
  t.strictSame(
    [METRIC_TYPE, METRIC_TEMPORALITY, METRIC_MONOTONIC].map((field) => body.u8(metric + field)),
    [METRIC_SUM, 2, 1],
  );
  t.match(body.attributes(metric + METRIC_ATTRIBUTES_FIRST, metric + METRIC_ATTRIBUTES_COUNT), [
    { key: 'm', value: 2n },
  ]);
  const first = record(0);
  t.strictSame([body.u64(first + RECORD_START), body.u64(first + RECORD_END)], [3n, 4n]);
  t.equal(body.u32(first + RECORD_FLAGS), 1);
  t.match(body.attributes(first + RECORD_ATTRIBUTES_FIRST, first + RECORD_ATTRIBUTES_COUNT), [{ key: 'k', value: 1n }]);
  const kinds = [0, 1, 2, 3].map((row) => body.u8(record(row) + RECORD_KIND));
  t.strictSame(kinds, [POINT_VALUE_INT, POINT_VALUE_DOUBLE, POINT_VALUE_NONE, POINT_VALUE_DOUBLE]);
  t.equal(body.u64(first + RECORD_VALUE), 2n ** 64n - 5n);
  t.equal(body.f64(record(1) + RECORD_VALUE), 0.5);
  t.equal(body.f64(record(3) + RECORD_VALUE), 2, 'the last member is used');
  t.strictSame(
    [0, 1, 2, 3].map((row) => body.u32(record(row) + RECORD_METRIC)),
    [1, 1, 1, 1],
  );
  t.equal(body.u32(first + RECORD_POINT), 0);
  t.end();
});

t.test('a repeated data member adds its points', (t) => {
  const delta = point(SUM, pb.fixed64(6, 1));
  const more = pb.message(SUM, pb.message(1, pb.fixed64(6, 2)), pb.varint(3, 1));
  t.equal(index(Buffer.concat([delta, pb.text(1, 'm'), more])), undefined);
  t.equal(body.header(HEADER_RECORDS), 2);
  t.equal(body.u8(METRICS_BASE + METRIC_MONOTONIC), 1);
  t.end();
});

t.test('the last data member replaces the earlier ones of other types completely', (t) => {
  const gauge = point(GAUGE, pb.fixed64(6, 1), pb.attribute(7, 'old', pb.varint(3, 1)), pb.message(5));
  const histogram = point(HISTOGRAM, pb.fixed64(4, 9), packed(6, pb.fixed64(6, 9)), pb.message(8));
  t.equal(index(Buffer.concat([gauge, pb.attribute(12, 'm'), gauge, histogram, pb.attribute(12, 'm')])), undefined);
  t.equal(body.u8(METRICS_BASE + METRIC_TYPE), METRIC_HISTOGRAM);
  const headers = [HEADER_RECORDS, HEADER_POINTS, HEADER_NUMBERS, HEADER_EVENTS, HEADER_ATTRIBUTES];
  t.strictSame(
    headers.map((field) => body.header(field)),
    [1, 1, 1, 1, 2],
  );
  t.match(body.attribute(0), { key: 'm', disposition: 3 });
  t.equal(index(Buffer.concat([histogram, gauge])), undefined);
  t.equal(body.u8(METRICS_BASE + METRIC_TYPE), METRIC_GAUGE);
  t.strictSame(
    headers.map((field) => body.header(field)),
    [1, 0, 0, 1, 1],
  );
  t.equal(index(Buffer.concat([point(HISTOGRAM, pb.hex(6, '01')), gauge])), FAIL_PROTOBUF, 'but they are checked');
  t.end();
});

t.test('a histogram collects its lists, packed or not, whole or in pieces', (t) => {
  const fields = [
    pb.fixed64(6, 1),
    packed(7, pb.double(7, 0.5), pb.double(7, 1.5)),
    packed(6, pb.fixed64(6, 2), pb.fixed64(6, 2n ** 64n - 1n)),
    pb.double(7, 2.5),
    packed(6),
    pb.fixed64(4, 7),
    pb.double(5, 8.5),
    pb.double(11, -1),
    pb.double(12, 9),
  ];
  t.equal(index(point(HISTOGRAM, ...fields)), undefined);
  const at = POINTS_BASE;
  t.equal(body.u32(record(0) + RECORD_POINT), 1);
  t.strictSame(counts(at + POINT_BUCKETS_FIRST, at + POINT_BUCKETS_COUNT), [1n, 2n, 2n ** 64n - 1n]);
  t.strictSame(doubles(at + POINT_BOUNDS_FIRST, at + POINT_BOUNDS_COUNT), [0.5, 1.5, 2.5]);
  t.equal(body.u64(at + POINT_COUNT), 7n);
  t.strictSame(
    [POINT_SUM, POINT_MIN, POINT_MAX].map((field) => body.f64(at + field)),
    [8.5, -1, 9],
  );
  t.equal(body.u32(at + POINT_HAS), POINT_HAS_SUM | POINT_HAS_MIN | POINT_HAS_MAX);
  t.equal(index(point(HISTOGRAM, pb.fixed64(4, 1))), undefined);
  t.equal(body.u32(at + POINT_HAS), 0, 'an absent value is not 0');
  t.equal(body.u32(at + POINT_BUCKETS_COUNT), 0);
  t.equal(index(point(HISTOGRAM, pb.hex(7, '0102030405060708ff'))), FAIL_PROTOBUF, 'half a number');
  t.end();
});

t.test('an exponential histogram has a scale and two sets of buckets', (t) => {
  const buckets = (...parts: Buffer[]): Buffer => Buffer.concat(parts);
  const fields = [
    pb.attribute(1, 'k', pb.varint(3, 1)),
    pb.varint(6, 3),
    pb.fixed64(7, 11),
    pb.message(8, pb.varint(1, 4), pb.varint(2, 99)),
    pb.message(8, buckets(pb.varint(2, 1), pb.varint(1, 5), pb.message(2, Buffer.from([2, 0xac, 2])))),
    pb.double(13, 4),
    pb.double(14, 0.25),
  ];
  t.equal(index(point(EXPONENTIAL, ...fields)), undefined);
  const at = POINTS_BASE;
  t.equal(body.u32(at + POINT_SCALE) | 0, -2);
  t.equal(body.u64(at + POINT_ZERO_COUNT), 11n);
  t.equal(body.f64(at + POINT_ZERO_THRESHOLD), 0.25);
  t.equal(body.u32(at + POINT_POSITIVE_OFFSET) | 0, -3);
  t.strictSame(
    counts(at + POINT_POSITIVE_FIRST, at + POINT_POSITIVE_COUNT),
    [99n, 1n, 2n, 300n],
    'both sets are merged',
  );
  t.equal(body.u32(at + POINT_NEGATIVE_COUNT), 0);
  t.equal(body.u32(at + POINT_HAS), POINT_HAS_POSITIVE | POINT_HAS_MAX);
  t.equal(index(point(EXPONENTIAL, pb.message(9))), undefined);
  t.equal(body.u32(at + POINT_HAS), POINT_HAS_NEGATIVE);
  t.equal(index(point(EXPONENTIAL, pb.message(9, pb.message(2, Buffer.from([0x80]))))), FAIL_PROTOBUF);
  t.end();
});

t.test('a summary has quantiles, and a sum that is 0 when absent', (t) => {
  const quantile = (...fields: Buffer[]): Buffer => pb.message(6, ...fields);
  const fields = [
    quantile(pb.double(1, 0.5), pb.double(2, 10)),
    pb.fixed64(4, 3),
    quantile(),
    quantile(pb.double(2, 7), pb.double(1, 1)),
  ];
  t.equal(index(point(SUMMARY, ...fields)), undefined);
  const at = POINTS_BASE;
  t.equal(body.u32(at + POINT_QUANTILES_COUNT), 3);
  const first = body.u32(at + POINT_QUANTILES_FIRST);
  t.strictSame(
    Array.from({ length: 6 }, (_, i) => body.f64(NUMBERS_BASE + (first + i) * 8)),
    [0.5, 10, 0, 0, 1, 7],
  );
  t.strictSame([body.u32(at + POINT_HAS), body.f64(at + POINT_SUM)], [POINT_HAS_SUM, 0]);
  t.equal(index(point(SUMMARY, quantile(pb.varint(1, 1)))), FAIL_PROTOBUF);
  t.end();
});

t.test('the exemplars of a point are adjacent, and so are the attributes of an exemplar', (t) => {
  const places = [
    [GAUGE, 5, 7],
    [HISTOGRAM, 8, 9],
    [EXPONENTIAL, 11, 1],
  ] as const;
  for (const [type, field, attributes] of places) {
    const exemplar = pb.message(
      field,
      pb.fixed64(2, 5),
      pb.double(3, 1),
      pb.fixed64(6, 2),
      pb.hex(4, pb.SPAN_ID),
      pb.hex(5, pb.TRACE_ID),
      pb.attribute(7, 'f', pb.varint(3, 1)),
    );
    const fields = [
      exemplar,
      pb.attribute(attributes, 'a'),
      pb.message(field, pb.double(3, 0.5)),
      pb.attribute(attributes, 'b'),
    ];
    t.equal(index(point(type, ...fields)), undefined);
    const at = record(0);
    const keys = body.attributes(at + RECORD_ATTRIBUTES_FIRST, at + RECORD_ATTRIBUTES_COUNT).map(({ key }) => key);
    t.strictSame(keys, ['a', 'b']);
    t.strictSame([body.u32(at + RECORD_EVENTS_FIRST), body.u32(at + RECORD_EVENTS_COUNT)], [0, 2]);
    const event = EVENTS_BASE;
    t.match(body.attributes(event + EVENT_ATTRIBUTES_FIRST, event + EVENT_ATTRIBUTES_COUNT), [{ key: 'f' }]);
    t.strictSame([body.u64(event + EVENT_TIME), body.u64(event + EVENT_VALUE)], [5n, 2n]);
    t.equal(body.hex(event + EVENT_TRACE_ID, 16), pb.TRACE_ID);
    t.equal(body.hex(event + EVENT_SPAN_ID, 8), pb.SPAN_ID);
    t.strictSame(
      [body.u8(event + EVENT_VALUE_KIND), body.u8(event + EVENT_STRIDE + EVENT_VALUE_KIND)],
      [POINT_VALUE_INT, POINT_VALUE_DOUBLE],
    );
    t.equal(index(point(type, pb.message(field, pb.hex(4, '00'.repeat(8))))), FAIL_ID);
    t.equal(index(point(type, pb.message(field, pb.hex(5, '01')))), FAIL_ID);
    t.equal(index(point(type, pb.message(field, pb.fixed64(2, 2n ** 63n)))), FAIL_PAYLOAD);
  }
  t.equal(index(point(SUMMARY, pb.message(5))), FAIL_PROTOBUF, 'field 5 of a summary is its sum');
  t.end();
});

t.test('a known field of a wrong wire type and a bad time are refused in every kind of point', (t) => {
  for (const type of [GAUGE, SUM, HISTOGRAM, EXPONENTIAL, SUMMARY]) {
    t.equal(index(pb.varint(type, 1)), FAIL_PROTOBUF);
    t.equal(index(pb.message(type, pb.varint(1, 1))), FAIL_PROTOBUF);
    for (const field of [2, 3]) {
      t.equal(index(point(type, pb.varint(field, 1))), FAIL_PROTOBUF);
      t.equal(index(point(type, pb.fixed64(field, 2n ** 63n))), FAIL_PAYLOAD);
    }
    for (const field of [2, 3, 4, 6, 7, 8])
      t.equal(index(point(type, pb.fixed32(field, 1))), FAIL_PROTOBUF, `${type} ${field}`);
  }
  t.equal(index(pb.message(GAUGE, pb.varint(2, 1), pb.text(3, 'x'))), undefined, 'a gauge has no temporality');
  t.equal(index(pb.message(HISTOGRAM, pb.varint(2, 9), pb.text(3, 'x'))), undefined, 'only a sum is monotonic');
  t.equal(body.u8(METRICS_BASE + METRIC_TEMPORALITY), 0);
  for (const field of [1, 2, 3]) t.equal(index(pb.hex(field, 'ff')), FAIL_PROTOBUF, 'not UTF-8');
  t.end();
});
