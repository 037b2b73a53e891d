import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import t from 'tap';
import { INPUT_BASE, TEXT_HAS_NUL, TEXT_NEEDS_ESCAPE } from '../../../src/pdata/layout.ts';
import { loadWire } from '../../../src/pdata/load-wasm.ts';
import { cases } from '../../support/long.ts';
import { codePoint } from '../../support/code-points.ts';

const wire = loadWire(7n);

/** The bytes around a text must not matter, so they are the ones that could matter most. */
function classify(bytes: Buffer, around: number): number {
  wire.bytes.fill(around, INPUT_BASE, INPUT_BASE + bytes.length + 32);
  bytes.copy(wire.bytes, INPUT_BASE + 16);
  return wire.exports.classifyText(INPUT_BASE + 16, bytes.length);
}

function expected(bytes: Buffer): number {
  if (!isUtf8(bytes)) return -1;
  const special = bytes.some((byte) => byte < 0x20 || byte === 0x22 || byte === 0x5c);
  return (special ? TEXT_NEEDS_ESCAPE : 0) | (bytes.includes(0) ? TEXT_HAS_NUL : 0);
}

function check(bytes: Buffer): boolean {
  return [0, 0x80, 0xf0].every((around) => classify(bytes, around) === expected(bytes));
}

t.test('text is classified as UTF-8 exactly where Node says so', (t) => {
  const anyText = fc.string({ unit: codePoint, maxLength: 200 }).map((value) => Buffer.from(value));
  const anyBytes = fc.uint8Array({ maxLength: 200 }).map((value) => Buffer.from(value));
  const damaged = fc.tuple(anyText, fc.nat(), fc.nat(255)).map(([bytes, place, byte]) => {
    if (bytes.length > 0) bytes[place % bytes.length] = byte;
    return bytes;
  });
  const cut = fc.tuple(anyText, fc.nat()).map(([bytes, place]) => bytes.subarray(0, place % (bytes.length + 1)));
  t.doesNotThrow(() =>
    fc.assert(fc.property(fc.oneof(anyText, anyBytes, damaged, cut), check), { numRuns: cases(2000) }),
  );
  t.end();
});

t.test('every boundary of the encoding is exact, at every place of a block', (t) => {
  const borders = [
    0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
  ];
  borders.push(0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff);
  let wrong = 0;
  for (const a of borders) {
    for (const b of borders) {
      for (const c of borders) {
        for (const d of [0x41, 0x80, 0xbf, 0xc2]) {
          const before = (a * 7 + b * 3 + c) % 70;
          const bytes = Buffer.concat([Buffer.alloc(before, 0x61), Buffer.from([a, b, c, d])]);
          if (!check(bytes)) wrong++;
        }
      }
    }
  }
  t.equal(wrong, 0);
  t.end();
});

t.test('a NUL, a quote, a backslash and a control character are found at every place', (t) => {
  let wrong = 0;
  for (const length of [1, 15, 16, 17, 63, 64, 65, 130]) {
    for (let place = 0; place < length; place++) {
      for (const byte of [0x00, 0x1f, 0x22, 0x5c, 0x7f]) {
        const bytes = Buffer.alloc(length, 0x61);
        bytes[place] = byte;
        if (!check(bytes)) wrong++;
      }
    }
  }
  t.equal(wrong, 0);
  t.end();
});
