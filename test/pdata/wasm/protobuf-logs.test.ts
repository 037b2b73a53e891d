import t from 'tap';
import {
  FAIL_ID,
  FAIL_PAYLOAD,
  FAIL_PROTOBUF,
  HEADER_ATTRIBUTES,
  HEADER_RECORDS,
  KIND_MAP,
  KIND_NONE,
  RECORD_ATTRIBUTES_COUNT,
  RECORD_ATTRIBUTES_FIRST,
  RECORD_BODY,
  RECORD_DROPPED_ATTRIBUTES,
  RECORD_END,
  RECORD_FLAGS,
  RECORD_KIND,
  RECORD_NAME_LENGTH,
  RECORD_NAME_OFFSET,
  RECORD_SPAN_ID,
  RECORD_START,
  RECORD_STATE_LENGTH,
  RECORD_STATE_OFFSET,
  RECORD_TRACE_ID,
  RECORDS_BASE,
  SIGNAL_LOGS,
} from '../../../src/pdata/layout.ts';
import { IndexedBody } from './indexed-body.ts';
import * as pb from './protobuf-writer.ts';

const body = new IndexedBody();
const index = (...fields: Buffer[]): number | undefined => body.index(SIGNAL_LOGS, pb.request(Buffer.concat(fields)));
const at = RECORDS_BASE;

t.test('every field of a log record has its column', (t) => {
  const fields = [
    pb.fixed64(1, 5),
    pb.varint(2, 17),
    pb.text(3, 'ERROR'),
    pb.message(5, pb.text(1, 'it broke')),
    pb.attribute(6, 'k', pb.varint(3, 1)),
    pb.varint(7, 4),
    pb.fixed32(8, 1),
    pb.hex(9, pb.TRACE_ID),
    pb.hex(10, pb.SPAN_ID),
    pb.fixed64(11, 6),
    pb.text(12, 'event'),
    pb.attribute(6, 'l', pb.varint(3, 2)),
  ];
  t.equal(index(...fields), undefined);
  t.equal(body.header(HEADER_RECORDS), 1);
  t.strictSame([body.u64(at + RECORD_START), body.u64(at + RECORD_END)], [5n, 6n]);
  t.equal(body.u8(at + RECORD_KIND), 17);
  t.equal(body.text(at + RECORD_STATE_OFFSET, at + RECORD_STATE_LENGTH), 'ERROR');
  t.equal(body.text(at + RECORD_NAME_OFFSET, at + RECORD_NAME_LENGTH), 'event');
  t.equal(body.u32(at + RECORD_DROPPED_ATTRIBUTES), 4);
  t.equal(body.u32(at + RECORD_FLAGS), 1);
  t.equal(body.hex(at + RECORD_TRACE_ID, 16), pb.TRACE_ID);
  t.equal(body.hex(at + RECORD_SPAN_ID, 8), pb.SPAN_ID);
  const keys = body.attributes(at + RECORD_ATTRIBUTES_FIRST, at + RECORD_ATTRIBUTES_COUNT).map(({ key }) => key);
  t.strictSame(keys, ['k', 'l'], 'the body is none of the attributes');
  t.match(body.attribute(body.u32(at + RECORD_BODY) - 1), { key: '', value: 'it broke' });
  t.end();
});

t.test('all fields of a record are optional, and an empty body is not the same as none', (t) => {
  t.equal(index(), undefined);
  t.equal(body.u32(at + RECORD_BODY), 0);
  t.equal(index(pb.message(5)), undefined);
  t.match(body.attribute(body.u32(at + RECORD_BODY) - 1), { kind: KIND_NONE });
  t.end();
});

t.test('a record with two bodies is refused', (t) => {
  const map = pb.message(5, pb.message(6, pb.attribute(1, 'k')));
  t.equal(index(pb.message(5, pb.text(1, 'old')), map), FAIL_PROTOBUF);
  t.equal(index(map), undefined);
  t.equal(body.header(HEADER_ATTRIBUTES), 1);
  t.match(body.attribute(0), { kind: KIND_MAP });
  t.end();
});

t.test('unknown severities become unspecified', (t) => {
  const severities = [0, 1, 24, 25, 280, -1].map((value) => {
    t.equal(index(pb.varint(2, value)), undefined);
    return body.u8(at + RECORD_KIND);
  });
  t.strictSame(severities, [0, 1, 24, 0, 0, 0]);
  t.end();
});

t.test('each id may be absent, but not invalid; times may be 0, but not beyond 63 bits', (t) => {
  t.equal(index(pb.hex(9, pb.TRACE_ID)), undefined);
  t.equal(index(pb.hex(10, pb.SPAN_ID), pb.hex(9, '')), undefined);
  t.equal(index(pb.hex(9, pb.SPAN_ID)), FAIL_ID);
  t.equal(index(pb.hex(9, '00'.repeat(16))), FAIL_ID);
  t.equal(index(pb.hex(10, '00'.repeat(8))), FAIL_ID);
  t.equal(index(pb.fixed64(1, 0), pb.fixed64(11, 2n ** 63n - 1n)), undefined);
  t.equal(index(pb.fixed64(1, 2n ** 63n)), FAIL_PAYLOAD);
  t.equal(index(pb.fixed64(11, 2n ** 63n)), FAIL_PAYLOAD);
  t.end();
});

t.test('a known field of a wrong wire type is refused', (t) => {
  for (const field of [1, 2, 7, 8, 11]) t.equal(index(pb.text(field, 'x')), FAIL_PROTOBUF, `field ${field}`);
  for (const field of [3, 5, 6, 9, 10, 12]) t.equal(index(pb.varint(field, 1)), FAIL_PROTOBUF, `field ${field}`);
  t.equal(index(pb.text(4, 'x'), pb.text(13, 'x')), undefined, 'reserved and later fields are unknown');
  for (const field of [3, 12]) t.equal(index(pb.hex(field, 'ff')), FAIL_PROTOBUF, `field ${field} is not UTF-8`);
  t.end();
});
