// Large bodies are placed in pieces, which end between two characters.
import { isUtf8 } from 'node:buffer';
import t from 'tap';
import { Rejection } from '../../src/errors.ts';
import { Context } from '../../src/pdata/context.ts';
import { DEFAULT_MAX_DEPTH, Intake } from '../../src/pdata/index-body.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';

/** The size of a piece. */
const PIECE = 262144;
const CHARACTERS = ['a', 'é', '€', '😀'] as const;

const context = new Context({ signal: 'traces', authorization: undefined });
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
