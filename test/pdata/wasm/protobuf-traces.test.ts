import t from 'tap';
import {
  EVENT_ATTRIBUTES_COUNT,
  EVENT_ATTRIBUTES_FIRST,
  EVENT_NAME_LENGTH,
  EVENT_NAME_OFFSET,
  EVENT_STRIDE,
  EVENT_TIME,
  EVENTS_BASE,
  FAIL_ID,
  FAIL_PAYLOAD,
  FAIL_PROTOBUF,
  HEADER_EVENTS,
  HEADER_LINKS,
  HEADER_RECORDS,
  HEADER_RESOURCES,
  HEADER_SCOPES,
  KIND_ARRAY,
  KIND_BOOL,
  KIND_BYTES,
  KIND_DOUBLE,
  KIND_INT,
  KIND_MAP,
  KIND_NONE,
  KIND_TEXT,
  LINK_ATTRIBUTES_COUNT,
  LINK_ATTRIBUTES_FIRST,
  LINK_FLAGS,
  LINK_SPAN_ID,
  LINK_STATE_LENGTH,
  LINK_STATE_OFFSET,
  LINK_TRACE_ID,
  LINKS_BASE,
  RECORD_ATTRIBUTES_COUNT,
  RECORD_ATTRIBUTES_FIRST,
  RECORD_DROPPED_ATTRIBUTES,
  RECORD_DROPPED_EVENTS,
  RECORD_DROPPED_LINKS,
  RECORD_END,
  RECORD_EVENTS_COUNT,
  RECORD_EVENTS_FIRST,
  RECORD_FLAGS,
  RECORD_KIND,
  RECORD_LINKS_COUNT,
  RECORD_LINKS_FIRST,
  RECORD_MESSAGE_LENGTH,
  RECORD_MESSAGE_OFFSET,
  RECORD_NAME_FLAGS,
  RECORD_NAME_LENGTH,
  RECORD_NAME_OFFSET,
  RECORD_PARENT_SPAN_ID,
  RECORD_RESOURCE,
  RECORD_SCOPE,
  RECORD_SPAN_ID,
  RECORD_START,
  RECORD_STATE_LENGTH,
  RECORD_STATE_OFFSET,
  RECORD_STATUS,
  RECORD_STRIDE,
  RECORD_TRACE_ID,
  RECORDS_BASE,
  RESOURCE_ATTRIBUTES_COUNT,
  RESOURCE_ATTRIBUTES_FIRST,
  RESOURCE_STRIDE,
  RESOURCES_BASE,
  SCOPE_ATTRIBUTES_COUNT,
  SCOPE_ATTRIBUTES_FIRST,
  SCOPE_NAME_LENGTH,
  SCOPE_NAME_OFFSET,
  SCOPE_STRIDE,
  SCOPE_VERSION_LENGTH,
  SCOPE_VERSION_OFFSET,
  SCOPES_BASE,
  SIGNAL_TRACES,
  TEXT_HAS_NUL,
  TEXT_NEEDS_ESCAPE,
  DISPOSITION_KEEP,
  DISPOSITION_SUPERSEDED,
} from '../../../src/pdata/layout.ts';
import { IndexedBody } from './indexed-body.ts';
import * as pb from './protobuf-writer.ts';

const body = new IndexedBody();
const index = (...parts: Buffer[]): number | undefined => body.index(SIGNAL_TRACES, Buffer.concat(parts));
const record = (row: number): number => RECORDS_BASE + row * RECORD_STRIDE;
const attributesOf = (at: number) => body.attributes(at + RECORD_ATTRIBUTES_FIRST, at + RECORD_ATTRIBUTES_COUNT);
const pairs = (list: ReturnType<typeof attributesOf>) => list.map(({ key, value }) => [key, value]);

t.test('an empty body is a request without records', (t) => {
  t.equal(index(), undefined);
  t.equal(body.header(HEADER_RECORDS), 0);
  t.end();
});

t.test('every field of a span has its column', (t) => {
  const span = pb.span(
    pb.text(3, 'a=b'),
    pb.hex(4, '2122232425262728'),
    pb.text(5, 'say "hi"\0'),
    pb.varint(6, 3),
    pb.fixed64(8, 2n ** 63n - 1n),
    pb.varint(10, 5),
    pb.varint(12, 2 ** 32 - 1),
    pb.varint(14, 7),
    pb.message(15, pb.text(2, 'it broke'), pb.varint(3, 2)),
    pb.fixed32(16, 0x80000101),
  );
  t.equal(index(pb.request(span)), undefined);
  const at = record(0);
  t.equal(body.hex(at + RECORD_TRACE_ID, 16), pb.TRACE_ID);
  t.equal(body.hex(at + RECORD_SPAN_ID, 8), pb.SPAN_ID);
  t.equal(body.hex(at + RECORD_PARENT_SPAN_ID, 8), '2122232425262728');
  t.equal(body.text(at + RECORD_STATE_OFFSET, at + RECORD_STATE_LENGTH), 'a=b');
  t.equal(body.text(at + RECORD_NAME_OFFSET, at + RECORD_NAME_LENGTH), 'say "hi"\0');
  t.equal(body.u8(at + RECORD_NAME_FLAGS), TEXT_NEEDS_ESCAPE | TEXT_HAS_NUL);
  t.equal(body.u8(at + RECORD_KIND), 3);
  t.equal(body.u64(at + RECORD_START), 1n);
  t.equal(body.u64(at + RECORD_END), 2n ** 63n - 1n);
  t.equal(body.u32(at + RECORD_DROPPED_ATTRIBUTES), 5);
  t.equal(body.u32(at + RECORD_DROPPED_EVENTS), 2 ** 32 - 1);
  t.equal(body.u32(at + RECORD_DROPPED_LINKS), 7);
  t.equal(body.text(at + RECORD_MESSAGE_OFFSET, at + RECORD_MESSAGE_LENGTH), 'it broke');
  t.equal(body.u8(at + RECORD_STATUS), 2);
  t.equal(body.u32(at + RECORD_FLAGS), 0x80000101);
  t.end();
});

t.test('a span overwrites all data of an earlier request in its row', (t) => {
  t.equal(index(pb.request(pb.span())), undefined);
  const at = record(0);
  t.equal(body.hex(at + RECORD_PARENT_SPAN_ID, 8), '0000000000000000');
  t.equal(body.u32(at + RECORD_NAME_LENGTH), 0);
  t.equal(body.u8(at + RECORD_STATUS), 0);
  t.equal(body.u32(at + RECORD_DROPPED_LINKS), 0);
  t.end();
});

t.test('attribute values keep their kind, exactly', (t) => {
  const array = pb.message(1, pb.varint(3, 1));
  const map = pb.attribute(1, 'k', pb.text(1, 'v'));
  const span = pb.span(
    pb.attribute(9, 'text', pb.text(1, 'grüße')),
    pb.attribute(9, 'true', pb.varint(2, 1)),
    pb.attribute(9, 'int', pb.varint(3, 2n ** 53n + 1n)),
    pb.attribute(9, 'least', pb.varint(3, -(2n ** 63n))),
    pb.attribute(9, 'double', pb.double(4, 0.1)),
    pb.attribute(9, 'array', pb.message(5, array)),
    pb.attribute(9, 'map', pb.message(6, map)),
    pb.attribute(9, 'bytes', pb.hex(7, 'ff00')),
    pb.attribute(9, 'none'),
    pb.message(9, pb.text(1, 'no value')),
    pb.message(9),
    pb.attribute(9, 'last wins', pb.text(1, 'x'), pb.varint(3, 2)),
    pb.attribute(9, 'unknown', pb.varint(90, 2)),
  );
  t.equal(index(pb.request(span)), undefined);
  t.strictSame(
    attributesOf(record(0)).map(({ key, kind, value }) => [key, kind, value]),
    [
      ['text', KIND_TEXT, Buffer.from('grüße').toString('latin1')],
      ['true', KIND_BOOL, 1n],
      ['int', KIND_INT, 2n ** 53n + 1n],
      ['least', KIND_INT, -(2n ** 63n)],
      ['double', KIND_DOUBLE, 0.1],
      ['array', KIND_ARRAY, array.toString('latin1')],
      ['map', KIND_MAP, map.toString('latin1')],
      ['bytes', KIND_BYTES, '\u00ff\0'],
      ['none', KIND_NONE, null],
      ['no value', KIND_NONE, null],
      ['', KIND_NONE, null],
      ['last wins', KIND_INT, 2n],
      ['unknown', KIND_NONE, null],
    ],
  );
  t.end();
});

t.test('of attributes with the same key in one list the last is kept', (t) => {
  const twice = [
    pb.attribute(9, 'k', pb.varint(3, 1)),
    pb.attribute(9, 'o', pb.varint(3, 2)),
    pb.attribute(9, 'k', pb.varint(3, 3)),
  ];
  const event = pb.message(11, pb.attribute(3, 'k', pb.varint(3, 4)));
  t.equal(index(pb.request(pb.span(...twice, event), pb.span(...twice))), undefined);
  for (const row of [0, 1]) {
    t.strictSame(
      attributesOf(record(row)).map(({ key, disposition, value }) => [key, disposition, value]),
      [
        ['k', DISPOSITION_SUPERSEDED, 1n],
        ['o', DISPOSITION_KEEP, 2n],
        ['k', DISPOSITION_KEEP, 3n],
      ],
    );
  }
  t.end();
});

t.test('the attributes of one owner are adjacent, at any place of its events and links', (t) => {
  const span = pb.span(
    pb.attribute(9, 'a', pb.varint(3, 1)),
    pb.message(11, pb.fixed64(1, 5), pb.text(2, 'first'), pb.attribute(3, 'e', pb.varint(3, 2))),
    pb.attribute(9, 'b', pb.varint(3, 3)),
    pb.message(
      13,
      pb.hex(1, pb.TRACE_ID),
      pb.hex(2, pb.SPAN_ID),
      pb.text(3, 's'),
      pb.attribute(4, 'l', pb.varint(3, 4)),
      pb.fixed32(6, 9),
    ),
    pb.message(11, pb.text(2, 'second')),
    pb.message(13),
    pb.attribute(9, 'c', pb.varint(3, 5)),
  );
  t.equal(index(pb.request(span)), undefined);
  const at = record(0);
  t.strictSame(pairs(attributesOf(at)), [
    ['a', 1n],
    ['b', 3n],
    ['c', 5n],
  ]);
  t.strictSame([body.u32(at + RECORD_EVENTS_FIRST), body.u32(at + RECORD_EVENTS_COUNT)], [0, 2]);
  t.strictSame([body.u32(at + RECORD_LINKS_FIRST), body.u32(at + RECORD_LINKS_COUNT)], [0, 2]);
  t.equal(body.u64(EVENTS_BASE + EVENT_TIME), 5n);
  const names = [0, 1].map((row) => EVENTS_BASE + row * EVENT_STRIDE);
  t.strictSame(
    names.map((event) => body.text(event + EVENT_NAME_OFFSET, event + EVENT_NAME_LENGTH)),
    ['first', 'second'],
  );
  t.strictSame(pairs(body.attributes(EVENTS_BASE + EVENT_ATTRIBUTES_FIRST, EVENTS_BASE + EVENT_ATTRIBUTES_COUNT)), [
    ['e', 2n],
  ]);
  t.strictSame(pairs(body.attributes(LINKS_BASE + LINK_ATTRIBUTES_FIRST, LINKS_BASE + LINK_ATTRIBUTES_COUNT)), [
    ['l', 4n],
  ]);
  t.equal(body.hex(LINKS_BASE + LINK_TRACE_ID, 16), pb.TRACE_ID);
  t.equal(body.hex(LINKS_BASE + LINK_SPAN_ID, 8), pb.SPAN_ID);
  t.equal(body.text(LINKS_BASE + LINK_STATE_OFFSET, LINKS_BASE + LINK_STATE_LENGTH), 's');
  t.equal(body.u32(LINKS_BASE + LINK_FLAGS), 9);
  t.end();
});

t.test('records refer to their resource and scope, in any order of fields', (t) => {
  const resource = pb.message(1, pb.attribute(1, 'service.name', pb.text(1, 'svc')), pb.varint(2, 3));
  const scope = pb.message(
    1,
    pb.text(1, 'lib'),
    pb.text(2, '1.2'),
    pb.attribute(3, 's', pb.varint(3, 1)),
    pb.varint(4, 1),
  );
  const spans = pb.message(2, pb.message(2, pb.span()), scope, pb.text(3, 'schema'));
  t.equal(index(pb.request(pb.span()), pb.message(1, spans, resource, pb.text(3, 'schema'))), undefined);
  t.equal(body.header(HEADER_RESOURCES), 2);
  t.equal(body.header(HEADER_SCOPES), 2);
  t.strictSame(
    [0, 1].map((row) => body.u32(record(row) + RECORD_RESOURCE)),
    [0, 1],
  );
  t.strictSame(
    [0, 1].map((row) => body.u32(record(row) + RECORD_SCOPE)),
    [0, 1],
  );
  const at = RESOURCES_BASE + RESOURCE_STRIDE;
  t.strictSame(pairs(body.attributes(at + RESOURCE_ATTRIBUTES_FIRST, at + RESOURCE_ATTRIBUTES_COUNT)), [
    ['service.name', 'svc'],
  ]);
  const second = SCOPES_BASE + SCOPE_STRIDE;
  t.equal(body.text(second + SCOPE_NAME_OFFSET, second + SCOPE_NAME_LENGTH), 'lib');
  t.equal(body.text(second + SCOPE_VERSION_OFFSET, second + SCOPE_VERSION_LENGTH), '1.2');
  t.strictSame(pairs(body.attributes(second + SCOPE_ATTRIBUTES_FIRST, second + SCOPE_ATTRIBUTES_COUNT)), [['s', 1n]]);
  t.end();
});

t.test('a repeated singular message is merged', (t) => {
  const resources = [
    pb.message(1, pb.attribute(1, 'old', pb.varint(3, 1)), pb.attribute(1, 'both', pb.varint(3, 1))),
    pb.message(1, pb.attribute(1, 'both', pb.varint(3, 2)), pb.attribute(1, 'new', pb.varint(3, 2))),
  ];
  const scopes = [
    pb.message(1, pb.text(1, 'name'), pb.text(2, '1'), pb.attribute(3, 'm', pb.varint(3, 1))),
    pb.message(1, pb.attribute(3, 'n', pb.varint(3, 1)), pb.text(2, '12')),
  ];
  const span = pb.span(pb.message(15, pb.text(2, 'kept'), pb.varint(3, 2)), pb.message(15, pb.varint(3, 1)));
  const spans = pb.message(2, ...scopes, pb.message(2, span));
  // Rows of the span are between those of the two resources.
  t.equal(index(pb.message(1, resources[0] ?? span, spans, resources[1] ?? span)), undefined);
  t.strictSame(
    pairs(body.attributes(RESOURCES_BASE + RESOURCE_ATTRIBUTES_FIRST, RESOURCES_BASE + RESOURCE_ATTRIBUTES_COUNT)),
    [
      ['old', 1n],
      ['both', 1n], // superseded
      ['both', 2n],
      ['new', 2n],
    ],
  );
  t.match(body.attribute(0), { key: 'old', disposition: DISPOSITION_SUPERSEDED });
  t.equal(body.u32(SCOPES_BASE + SCOPE_NAME_LENGTH), 4);
  t.equal(body.u32(SCOPES_BASE + SCOPE_VERSION_LENGTH), 2);
  t.strictSame(pairs(body.attributes(SCOPES_BASE + SCOPE_ATTRIBUTES_FIRST, SCOPES_BASE + SCOPE_ATTRIBUTES_COUNT)), [
    ['m', 1n],
    ['n', 1n],
  ]);
  t.equal(body.u8(record(0) + RECORD_STATUS), 1);
  t.equal(body.u32(record(0) + RECORD_MESSAGE_LENGTH), 4);
  t.end();
});

t.test('a value that is given twice is refused, except that the last scalar is used', (t) => {
  const attribute = (...values: Buffer[]): number | undefined =>
    index(pb.request(pb.span(pb.message(9, pb.text(1, 'k'), ...values))));
  const nested = (...values: Buffer[]): number | undefined =>
    attribute(pb.message(2, pb.message(6, pb.message(1, pb.text(1, 'n'), ...values))));
  const array = pb.message(5, pb.message(1, pb.varint(3, 1)));
  const map = pb.message(6, pb.attribute(1, 'm', pb.varint(3, 1)));
  const value = (...members: Buffer[]): Buffer => pb.message(2, ...members);
  for (const [where, put] of [
    ['of an attribute', attribute],
    ['inside a value', nested],
  ] as const) {
    t.equal(put(value(array), value(array)), FAIL_PROTOBUF, `two values ${where}`);
    t.equal(put(value(pb.varint(3, 1)), value()), FAIL_PROTOBUF, `two values ${where}`);
    t.equal(put(value(array, array)), FAIL_PROTOBUF, `two arrays ${where}`);
    t.equal(put(value(map, map)), FAIL_PROTOBUF, `two maps ${where}`);
    t.equal(put(value(pb.varint(3, 1), pb.text(1, 'a'), pb.text(1, 'b'))), undefined, `scalars ${where}`);
    t.equal(put(value(array, map, array)), undefined, `an array replaces a map ${where}`);
    t.equal(put(value(map, pb.text(1, 'a'), map)), undefined, `a map replaces a text ${where}`);
  }
  t.end();
});

t.test('unknown enum values become unspecified', (t) => {
  for (const value of [6, 2 ** 31, -1, 2 ** 40]) {
    t.equal(index(pb.request(pb.span(pb.varint(6, value), pb.message(15, pb.varint(3, value))))), undefined);
    t.equal(body.u8(record(0) + RECORD_KIND), 0);
    t.equal(body.u8(record(0) + RECORD_STATUS), 0);
  }
  t.equal(index(pb.request(pb.span(pb.varint(6, 2 ** 32 + 5)))), undefined);
  t.equal(body.u8(record(0) + RECORD_KIND), 5, 'an enum is the low 32 bits of its varint');
  t.end();
});

t.test('ids of the wrong length and zero ids are refused; absent ones are allowed only where a rule says so', (t) => {
  const zero = '00'.repeat(16);
  const trace = (id: string) => Buffer.concat([pb.hex(1, id), pb.hex(2, pb.SPAN_ID), pb.fixed64(7, 1)]);
  const refused: [string, Buffer][] = [
    ['no trace id', Buffer.concat([pb.hex(2, pb.SPAN_ID), pb.fixed64(7, 1)])],
    ['no span id', Buffer.concat([pb.hex(1, pb.TRACE_ID), pb.fixed64(7, 1)])],
    ['short trace id', trace(pb.TRACE_ID.slice(2))],
    ['long trace id', trace(`${pb.TRACE_ID}01`)],
    ['zero trace id', trace(zero)],
    ['zero span id', pb.span(pb.hex(2, zero.slice(16)))],
    ['short parent', pb.span(pb.hex(4, '01'))],
    ['zero parent', pb.span(pb.hex(4, zero.slice(16)))],
    ['zero trace id of a link', pb.span(pb.message(13, pb.hex(1, zero)))],
    ['short span id of a link', pb.span(pb.message(13, pb.hex(2, '0102')))],
  ];
  for (const [title, span] of refused) t.equal(index(pb.request(span)), FAIL_ID, title);
  t.equal(index(pb.request(pb.span(pb.hex(4, '')))), undefined, 'an empty parent is none');
  t.equal(index(pb.request(pb.span(pb.hex(2, '01'), pb.hex(2, pb.SPAN_ID)))), undefined, 'the last id is used');
  t.equal(body.header(HEADER_LINKS) + body.header(HEADER_EVENTS), 0);
  t.end();
});

t.test('times beyond a signed 64-bit number and a missing start are refused', (t) => {
  const ids = Buffer.concat([pb.hex(1, pb.TRACE_ID), pb.hex(2, pb.SPAN_ID)]);
  t.equal(index(pb.request(ids)), FAIL_PAYLOAD);
  t.equal(index(pb.request(pb.span(pb.fixed64(7, 0)))), FAIL_PAYLOAD);
  t.equal(index(pb.request(pb.span(pb.fixed64(7, 2n ** 63n)))), FAIL_PAYLOAD);
  t.equal(index(pb.request(pb.span(pb.fixed64(8, 2n ** 63n)))), FAIL_PAYLOAD);
  t.equal(index(pb.request(pb.span(pb.message(11, pb.fixed64(1, 2n ** 64n - 1n))))), FAIL_PAYLOAD);
  t.equal(
    index(pb.request(pb.span(pb.fixed64(7, 9), pb.fixed64(8, 3), pb.message(11)))),
    undefined,
    'an end before the start is kept',
  );
  t.end();
});
