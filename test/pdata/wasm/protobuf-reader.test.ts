import t from 'tap';
import {
  FAIL_PAYLOAD,
  FAIL_PROTOBUF,
  HEADER_BASE,
  HEADER_MAX_DEPTH,
  HEADER_RECORDS,
  RECORD_DROPPED_ATTRIBUTES,
  RECORDS_BASE,
  SIGNAL_TRACES,
} from '../../../src/pdata/layout.ts';
import { IndexedBody } from './indexed-body.ts';
import * as pb from './protobuf-writer.ts';

const body = new IndexedBody();
const index = (...parts: Buffer[]): number | undefined => body.index(SIGNAL_TRACES, Buffer.concat(parts));
const indexSpan = (...fields: Buffer[]): number | undefined => index(pb.request(pb.span(...fields)));
const bytes = (...values: number[]): Buffer => Buffer.from(values);
const group = (field: number, ...parts: Buffer[]): Buffer =>
  Buffer.concat([pb.tag(field, 3), ...parts, pb.tag(field, 4)]);

function nested(depth: number): Buffer {
  let value = pb.varint(3, 1);
  for (let level = 1; level < depth; level++) {
    value = level % 2 ? pb.message(5, pb.message(1, value)) : pb.message(6, pb.message(1, pb.message(2, value)));
  }
  return pb.attribute(9, 'deep', value);
}

t.test('every cut of a body is refused', (t) => {
  const whole = pb.request(
    pb.span(
      pb.text(5, 'name'),
      pb.attribute(9, 'k', pb.text(1, 'v')),
      pb.attribute(9, 'm', pb.message(5, pb.message(1, pb.double(4, 1)))),
    ),
  );
  t.equal(index(whole), undefined);
  const accepted = Array.from({ length: whole.length - 1 }, (_, i) => i + 1).filter(
    (length) => index(whole.subarray(0, length)) !== FAIL_PROTOBUF,
  );
  t.strictSame(accepted, []);
  t.end();
});

t.test('a length past its parent is refused, at any size', (t) => {
  const lengths = [
    bytes(1),
    bytes(0x7f),
    bytes(0xff, 0x01),
    bytes(0xff, 0xff, 0xff, 0xff, 0x0f),
    bytes(...Array<number>(9).fill(0xff), 1),
  ];
  for (const length of lengths) {
    t.equal(index(pb.tag(1, 2), length), FAIL_PROTOBUF);
    t.equal(index(pb.message(1, pb.tag(99, 2), length), pb.request()), FAIL_PROTOBUF, 'of an unknown field');
    t.equal(indexSpan(pb.message(9, pb.tag(2, 2), length), pb.text(5, 'padding')), FAIL_PROTOBUF);
  }
  t.end();
});

t.test('varints have at most ten bytes and 64 bits', (t) => {
  const ones = Array<number>(9).fill(0xff);
  t.equal(indexSpan(pb.tag(10, 0), bytes(...ones, 0x01)), undefined);
  t.equal(body.u32(RECORDS_BASE + RECORD_DROPPED_ATTRIBUTES), 0xffffffff, 'a uint32 is the low 32 bits');
  t.equal(indexSpan(pb.tag(10, 0), bytes(...ones, 0x02)), FAIL_PROTOBUF);
  t.equal(indexSpan(pb.tag(10, 0), bytes(...ones, 0xff, 0x00)), FAIL_PROTOBUF);
  t.equal(indexSpan(pb.tag(90, 0), bytes(...ones, 0xff, 0x00)), FAIL_PROTOBUF, 'the same for a skipped one');
  t.equal(indexSpan(bytes(0xd0, 0x80, 0x80, 0x00), bytes(0x85, 0x80, 0x00)), undefined, 'leading zeros are allowed');
  t.equal(body.u32(RECORDS_BASE + RECORD_DROPPED_ATTRIBUTES), 5);
  t.end();
});

t.test('unknown fields of every wire type are skipped', (t) => {
  const unknown = [
    pb.varint(99, 1),
    pb.fixed64(99, 1),
    pb.text(99, 'x'),
    pb.fixed32(99, 1),
    group(99, pb.varint(1, 1), group(2)),
  ];
  const span = pb.span(...unknown, pb.message(9, ...unknown, pb.message(2, ...unknown, pb.message(5, ...unknown))));
  t.equal(index(...unknown, pb.message(1, ...unknown, pb.message(2, ...unknown, pb.message(2, span)))), undefined);
  t.equal(body.header(HEADER_RECORDS), 1);
  t.equal(index(pb.varint(536870911, 1)), undefined, 'the highest field number');
  t.end();
});

t.test('a known field of a wrong wire type is refused in every message', (t) => {
  const wrong: [string, Buffer][] = [
    ['request', pb.varint(1, 1)],
    ['resource container', pb.message(1, pb.varint(3, 1))],
    ['resource', pb.message(1, pb.message(1, pb.varint(1, 1)))],
    ['entity', pb.message(1, pb.message(1, pb.message(3, pb.varint(1, 1))))],
    ['scope container', pb.message(1, pb.message(2, pb.fixed64(2, 1)))],
    ['scope', pb.message(1, pb.message(2, pb.message(1, pb.varint(1, 1))))],
    ['span', pb.request(pb.span(pb.text(6, 'x')))],
    ['span start', pb.request(pb.span(pb.varint(7, 1)))],
    ['status', pb.request(pb.span(pb.message(15, pb.text(3, 'x'))))],
    ['event', pb.request(pb.span(pb.message(11, pb.varint(1, 1))))],
    ['link', pb.request(pb.span(pb.message(13, pb.varint(6, 1))))],
    ['key value', pb.request(pb.span(pb.message(9, pb.varint(1, 1))))],
    ['any value', pb.request(pb.span(pb.attribute(9, 'k', pb.varint(4, 1))))],
    ['nested value', pb.request(pb.span(pb.attribute(9, 'k', pb.message(5, pb.message(1, pb.fixed64(3, 1))))))],
    ['array', pb.request(pb.span(pb.attribute(9, 'k', pb.message(5, pb.varint(1, 1)))))],
    ['nested key', pb.request(pb.span(pb.attribute(9, 'k', pb.message(6, pb.message(1, pb.varint(1, 1))))))],
    ['known field as a group', pb.request(pb.span(group(5)))],
  ];
  for (const [title, request] of wrong) t.equal(index(request), FAIL_PROTOBUF, title);
  t.end();
});

t.test('field number 0 and wire types that do not exist are refused', (t) => {
  for (const type of [0, 1, 2, 3, 4, 5, 6, 7])
    t.equal(indexSpan(bytes(type), Buffer.alloc(12)), FAIL_PROTOBUF, `type ${type}`);
  for (const type of [4, 6, 7]) t.equal(indexSpan(pb.tag(99, type), Buffer.alloc(12)), FAIL_PROTOBUF, `type ${type}`);
  t.equal(indexSpan(bytes(0x80, 0x80, 0x80, 0x80, 0x10), bytes(0)), FAIL_PROTOBUF, 'a tag above 32 bits');
  t.end();
});

t.test('groups must balance, and their nesting is limited', (t) => {
  t.equal(indexSpan(pb.tag(99, 3)), FAIL_PROTOBUF);
  t.equal(indexSpan(pb.tag(99, 3), pb.tag(98, 4)), FAIL_PROTOBUF);
  t.equal(indexSpan(pb.tag(99, 3), pb.tag(98, 3), pb.tag(99, 4), pb.tag(98, 4)), FAIL_PROTOBUF);
  const deep = (depth: number): Buffer => (depth === 0 ? Buffer.alloc(0) : group(99, deep(depth - 1)));
  t.equal(indexSpan(deep(100)), undefined);
  t.equal(indexSpan(deep(101)), FAIL_PAYLOAD);
  t.end();
});

t.test('strings that are not UTF-8 are refused wherever the schema has a string', (t) => {
  const bad = (field: number): Buffer => pb.hex(field, 'eda080');
  const places: [string, Buffer][] = [
    ['schema url', pb.message(1, bad(3))],
    ['scope schema url', pb.message(1, pb.message(2, bad(3)))],
    ['entity', pb.message(1, pb.message(1, pb.message(3, bad(4))))],
    ['scope name', pb.message(1, pb.message(2, pb.message(1, bad(1))))],
    ['name', pb.request(pb.span(bad(5)))],
    ['trace state', pb.request(pb.span(bad(3)))],
    ['status', pb.request(pb.span(pb.message(15, bad(2))))],
    ['event', pb.request(pb.span(pb.message(11, bad(2))))],
    ['key', pb.request(pb.span(pb.message(9, bad(1))))],
    ['key that is replaced', pb.request(pb.span(pb.message(9, bad(1), pb.text(1, 'k'))))],
    ['value', pb.request(pb.span(pb.attribute(9, 'k', bad(1))))],
    ['value that is replaced', pb.request(pb.span(pb.attribute(9, 'k', bad(1), pb.varint(3, 1))))],
    ['nested value', pb.request(pb.span(pb.attribute(9, 'k', pb.message(5, pb.message(1, bad(1))))))],
    ['nested key', pb.request(pb.span(pb.attribute(9, 'k', pb.message(6, pb.message(1, bad(1))))))],
  ];
  for (const [title, request] of places) t.equal(index(request), FAIL_PROTOBUF, title);
  t.equal(indexSpan(pb.attribute(9, 'k', bad(7))), undefined, 'bytes are any bytes');
  t.equal(indexSpan(bad(99)), undefined, 'unknown fields are any bytes');
  t.end();
});

t.test('the nesting of values is limited by the host, and to 100', (t) => {
  t.equal(indexSpan(nested(32)), undefined);
  t.equal(indexSpan(nested(33)), FAIL_PAYLOAD);
  body.wire.bytes.writeUInt32LE(1000, HEADER_BASE + HEADER_MAX_DEPTH);
  t.equal(indexSpan(nested(100)), undefined);
  t.equal(indexSpan(nested(101)), FAIL_PAYLOAD);
  body.wire.bytes.writeUInt32LE(1, HEADER_BASE + HEADER_MAX_DEPTH);
  t.equal(indexSpan(nested(1)), undefined);
  t.equal(indexSpan(pb.attribute(9, 'k', pb.message(5))), undefined, 'an empty array is no deeper');
  t.equal(indexSpan(nested(2)), FAIL_PAYLOAD);
  body.wire.bytes.writeUInt32LE(32, HEADER_BASE + HEADER_MAX_DEPTH);
  t.end();
});
