// Large bodies are placed in pieces, which end between two characters.
import { isUtf8 } from 'node:buffer';
import t from 'tap';
import { Rejection } from '../../src/errors.ts';
import { Context } from '../../src/pdata/context.ts';
import { DEFAULT_MAX_DEPTH, Intake, TooManyAtOnce } from '../../src/pdata/index-body.ts';
import { MAX_ROWS_AT_ONCE } from '../../src/pdata/layout.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';
import * as pb from './wasm/protobuf-writer.ts';

/** The size of a piece. */
const PIECE = 262144;
const CHARACTERS = ['a', 'é', '€', '😀'] as const;

const context = new Context({ signal: 'traces', transport: 'http', authorization: undefined });
const intake = new Intake({ pauses: true });

/** A request with a name of so many bytes, before which `shift` spaces move the borders of the pieces. */
function bodyOf(character: string, shift: number, bytes = 2 * PIECE): Buffer {
  const name = character.repeat(bytes / Buffer.byteLength(character));
  return Buffer.from(' '.repeat(shift) + JSON.stringify(aTraceRequest([{ ...aSpan(), name }])));
}

/** The number of steps until the body was indexed; the code of a refusal. */
function stepsOf(body: Buffer): number | string {
  const steps = intake.indexInSteps('traces', 'json', body, context, DEFAULT_MAX_DEPTH);
  try {
    for (let count = 1; ; count++) if (steps.next().done === true) return count;
  } catch (error) {
    if (error instanceof Rejection) return error.code;
    throw error;
  }
}

t.test('characters across the end of a piece are read whole', async (t) => {
  for (const character of CHARACTERS)
    for (let shift = 0; shift < 4; shift++) t.type(stepsOf(bodyOf(character, shift)), 'number');
});

t.test('bytes that are not UTF-8 are refused at every place around the end of a piece', async (t) => {
  for (const character of CHARACTERS)
    for (let at = PIECE - 6; at < PIECE + 6; at++)
      for (const byte of [0x80, 0xc3, 0xe2, 0xf0, 0xff]) {
        const body = bodyOf(character, 0);
        body[at] = byte;
        const expected = isUtf8(body) ? 'number' : 'invalid_json';
        const found = stepsOf(body);
        if ((expected === 'number' ? typeof found : found) !== expected) t.fail(`${character} ${at} ${byte}: ${found}`);
      }
  t.pass('as the whole body');
});

t.test('a body of 15 MiB takes a step for each piece before it is indexed', async (t) => {
  const steps = stepsOf(bodyOf('a', 0, 15 * 1048576));
  t.ok(typeof steps === 'number' && steps > (15 * 1048576) / PIECE, `${steps} steps`);
});

t.test('a body of very many rows is not indexed at once, but in steps', async (t) => {
  const events = Buffer.concat(Array.from({ length: MAX_ROWS_AT_ONCE + 1 }, () => Buffer.from([0x5a, 0])));
  const bodyWith = (rows: Buffer): Buffer => pb.request(pb.span(rows));
  const atOnce = new Intake();
  t.equal(atOnce.index('traces', 'protobuf', bodyWith(events.subarray(2)), context).eventCount, MAX_ROWS_AT_ONCE);
  t.throws(() => atOnce.index('traces', 'protobuf', bodyWith(events), context), new TooManyAtOnce());
  t.equal(intake.index('traces', 'protobuf', bodyWith(events), context).eventCount, MAX_ROWS_AT_ONCE + 1);
});

t.test('a long value is read in steps, whatever it consists of', async (t) => {
  const eager = new Intake({ pauses: true, stepMs: 0 });
  const size = 1048576;
  const values = [
    { stringValue: 'x'.repeat(size) },
    { stringValue: '\n'.repeat(size / 2) },
    { stringValue: '\0'.repeat(size / 6) },
    { bytesValue: 'AAAA'.repeat(size / 4) },
    { bytesValue: 'A_A_'.repeat(size / 4) },
  ];
  for (const value of values) {
    const body = Buffer.from(JSON.stringify(aTraceRequest([{ ...aSpan(), attributes: [{ key: 'k', value }] }])));
    let count = 0;
    for (const _ of eager.indexInSteps('traces', 'json', body, context, DEFAULT_MAX_DEPTH)) count++;
    // The module asks after each 16 KiB.
    t.ok(count >= size / 16384 - 1, `${Object.keys(value)}: ${count} steps`);
  }
});

/** The refusal of a body. */
function refusalOf(encoding: 'json' | 'protobuf', body: Buffer): Rejection | null {
  try {
    intake.index('traces', encoding, body, context);
    return null;
  } catch (error) {
    if (error instanceof Rejection) return error;
    throw error;
  }
}

t.test('a refused id is reported with its length as sent', async (t) => {
  const span = aSpan();
  for (const [fields, length] of [
    [{ traceId: 'abc' }, 3],
    [{ traceId: '0'.repeat(32) }, 32],
    [{ traceId: `${'a'.repeat(31)}g` }, 32],
    [{ traceId: '' }, 0],
    [{ spanId: 'a'.repeat(18) }, 18],
    [{ spanId: undefined }, 0],
    [{ parentSpanId: '0'.repeat(16) }, 16],
    [{ links: [{ traceId: 'ab' }] }, 2],
  ] as const) {
    const refusal = refusalOf('json', Buffer.from(JSON.stringify(aTraceRequest([{ ...span, ...fields }]))));
    t.match(refusal, { code: 'invalid_id', details: { length } }, JSON.stringify(fields));
  }
  const time = pb.fixed64(7, 1n);
  for (const [ids, length] of [
    [[pb.hex(1, 'ab'.repeat(15)), pb.hex(2, 'ab'.repeat(8))], 15],
    [[pb.hex(1, '00'.repeat(16)), pb.hex(2, 'ab'.repeat(8))], 16],
    [[pb.hex(2, 'ab'.repeat(8))], 0],
    [[pb.hex(1, 'ab'.repeat(16)), pb.hex(2, 'ab'.repeat(9))], 9],
  ] as const)
    t.match(refusalOf('protobuf', pb.request(Buffer.concat([...ids, time]))), {
      code: 'invalid_id',
      details: { length },
    });
});

t.test('an empty body holds no records, in both encodings', async (t) => {
  for (const encoding of ['json', 'protobuf'] as const)
    t.equal(refusalOf(encoding, Buffer.alloc(0))?.code, 'empty_payload', encoding);
});

t.test('the place of a refusal is in the body, also behind names with escapes', async (t) => {
  const unknown = Array.from({ length: 20 }, (_, index) => `"\\u0061${index}":0`).join(',');
  for (const text of [
    '{"resourceSpans":[],"resource\\u0053pans":[]}',
    '{"\\u0061":1,"\\u0061":2}',
    '{"a":{"\\u0062":1,"b":2}}',
    `{${unknown},"a\\u0037":1}`,
    '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"\\u0061"}]}]}]}',
  ]) {
    const place = placeOf(Buffer.from(text));
    t.ok(place > 0 && place <= text.length, `${text} is refused at byte ${place}`);
  }
});

function placeOf(body: Buffer): number {
  try {
    intake.index('traces', 'json', body, context);
  } catch (error) {
    if (error instanceof Rejection) return Number(/^at byte (\d+)$/.exec(String(error.details['cause']))?.[1]);
    throw error;
  }
  throw new Error('the body was accepted');
}
