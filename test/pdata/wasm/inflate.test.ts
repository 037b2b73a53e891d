// The inflater against zlib: streams of every kind, streams that no compressor writes, and damaged ones.
import { constants, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { codeLengths, DeflateWriter, PLAIN_LENGTHS } from '../../support/deflate-writer.ts';
import { InflateJudge, rawByZlib } from '../../support/inflate-judge.ts';

const judge = new InflateJudge();
const END = 256;
/** Two codes of one bit: the literal `a` and the end of the block. */
const A_AND_END = codeLengths(257, { 97: 1, [END]: 1 });
/** Literal `a`, the length 3 and the end: 1, 2 and 2 bits. */
const LENGTHS = codeLengths(258, { 97: 1, [END]: 2, 257: 2 });
const writer = (): DeflateWriter => new DeflateWriter();

const anyContent = fc.oneof(
  fc.uint8Array({ maxLength: 3000 }),
  fc
    .array(fc.constantFrom('gen_ai.', 'usage', 'user', ' ', 'aaaaaaaaaaaaaaaaa', '{"', '": "'), { maxLength: 600 })
    .map((words) => Buffer.from(words.join(''))),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.nat({ max: 2000 }))
    .map(([unit, times]) => Buffer.concat(Array.from({ length: times }, () => unit))),
);
const anyOptions = fc.record({
  level: fc.integer({ min: 0, max: 9 }),
  memLevel: fc.integer({ min: 1, max: 9 }),
  windowBits: fc.integer({ min: 9, max: 15 }),
  strategy: fc.constantFrom(
    constants.Z_DEFAULT_STRATEGY,
    constants.Z_FILTERED,
    constants.Z_HUFFMAN_ONLY,
    constants.Z_RLE,
    constants.Z_FIXED,
  ),
});

t.test('every output of zlib is read back, and its length is exact', async (t) => {
  fc.assert(
    fc.property(
      fc.array(anyContent, { minLength: 1, maxLength: 3 }),
      anyOptions,
      fc.boolean(),
      (parts, options, full) => {
        const finishFlush = full ? constants.Z_FULL_FLUSH : constants.Z_SYNC_FLUSH;
        const stream = Buffer.concat(
          parts.map((part, index) =>
            deflateRawSync(part, index < parts.length - 1 ? { ...options, finishFlush } : options),
          ),
        );
        const { bytes, used } = judge.raw(Buffer.concat([stream, Buffer.from('behind')]));
        return bytes?.equals(Buffer.concat(parts)) === true && used === stream.length;
      },
    ),
    { numRuns: 300 },
  );
  t.pass();
});

t.test('any code lengths are accepted or refused as by zlib, and the data is decoded to the same bytes', async (t) => {
  let accepted = 0;
  const lengthsOf = (count: number): fc.Arbitrary<number[]> =>
    fc
      .array(fc.tuple(fc.nat({ max: count - 1 }), fc.integer({ min: 1, max: 15 })), { maxLength: 40 })
      .map((pairs) => codeLengths(count, Object.fromEntries(pairs)));
  // Splitting random codes repeatedly makes complete codes of every shape, which random lengths hardly ever are.
  const completeOf = (count: number): fc.Arbitrary<number[]> =>
    fc.array(fc.nat({ max: 1000 }), { minLength: 1, maxLength: count - 2 }).map((cuts) => {
      const lengths = [1, 1];
      for (const cut of cuts) {
        const at = cut % lengths.length;
        const length = lengths[at] ?? 0;
        if (length < 15) lengths.splice(at, 1, length + 1, length + 1);
      }
      const spread = lengths.map((length, index) => [
        index === 0 ? Math.min(END, count - 1) : (index * 7) % count,
        length,
      ]);
      return codeLengths(count, Object.fromEntries(spread));
    });
  fc.assert(
    fc.property(
      fc.oneof(lengthsOf(257), completeOf(257), completeOf(286)),
      fc.oneof(lengthsOf(1), lengthsOf(30), completeOf(30)),
      fc.uint8Array({ maxLength: 80 }),
      (literals, distances, rest) => {
        const stream = writer().dynamic(true, { literals, distances });
        for (const byte of rest) stream.bits(byte, 8);
        if (judge.raw(stream.bytes()).bytes !== null) accepted++;
        const difference = judge.rawDifference(stream.bytes());
        if (difference !== '') throw new Error(difference);
      },
    ),
    { numRuns: 700 },
  );
  t.ok(accepted > 0, `${accepted} were accepted`);
});

t.test('streams that no compressor writes have the same result as with zlib', async (t) => {
  const none = codeLengths(1, {});
  const one = codeLengths(1, { 0: 1 });
  const cases: readonly [string, Buffer, boolean][] = [
    ['an empty stream', Buffer.alloc(0), false],
    ['a block of the fourth kind', writer().bits(1, 1).bits(3, 2).bytes(), false],
    ['a stored block', writer().stored(true, Buffer.from('abc')).bytes(), true],
    ['an empty stored block', writer().stored(true, Buffer.alloc(0)).bytes(), true],
    ['a stored block whose length is not confirmed', writer().stored(true, Buffer.from('abc'), 0).bytes(), false],
    ['a stored block cut short', writer().stored(true, Buffer.from('abc')).bytes().subarray(0, 7), false],
    ['a stored block without its length', writer().bits(1, 3).bits(0, 21).bytes(), false],
    ['an empty fixed block', writer().fixed(true).code(0, 7).bytes(), true],
    ['no last block', writer().fixed(false).code(0, 7).bytes(), false],
    [
      'an end cut off',
      writer()
        .fixed(true)
        .code(0x30 + 97, 8)
        .bytes(),
      false,
    ],
    ['literal 286 of the fixed code', writer().fixed(true).code(0xc6, 8).code(0, 7).bytes(), false],
    [
      'distance 30 of the fixed code',
      writer().fixed(true).code(0x91, 8).code(1, 7).code(30, 5).code(0, 7).bytes(),
      false,
    ],
    ['a distance before the start', writer().fixed(true).code(1, 7).code(0, 5).code(0, 7).bytes(), false],
    ['one byte repeated', writer().fixed(true).code(0x91, 8).code(1, 7).code(0, 5).code(0, 7).bytes(), true],
    ['a distance one too far', writer().fixed(true).code(0x91, 8).code(1, 7).code(1, 5).code(0, 7).bytes(), false],
    ['too many lengths', writer().bits(1, 1).bits(2, 2).bits(30, 5).bits(0, 5).bits(15, 4).bits(0, 200).bytes(), false],
    [
      'too many distances',
      writer().bits(1, 1).bits(2, 2).bits(0, 5).bits(30, 5).bits(15, 4).bits(0, 200).bytes(),
      false,
    ],
    [
      'no code of code lengths',
      writer()
        .dynamic(true, { literals: A_AND_END, distances: one, lengths: codeLengths(19, {}) })
        .bits(0, 64)
        .bytes(),
      false,
    ],
    [
      'a single code of code lengths',
      writer()
        .dynamic(true, { literals: A_AND_END, distances: one, lengths: codeLengths(19, { 1: 1 }) })
        .bits(0, 300)
        .bytes(),
      false,
    ],
    [
      'too many codes of code lengths',
      writer()
        .dynamic(true, { literals: A_AND_END, distances: one, lengths: codeLengths(19, { 0: 1, 1: 1, 2: 1 }) })
        .bits(0, 64)
        .bytes(),
      false,
    ],
    ['a repetition without a previous length', head().symbol(PLAIN_LENGTHS, 16).bits(0, 2).bits(0, 64).bytes(), false],
    ['repetitions past the end', zeros(head(), 138).symbol(PLAIN_LENGTHS, 18).bits(127, 7).bits(0, 64).bytes(), false],
    [
      'no end of a block',
      writer()
        .dynamic(true, { literals: codeLengths(257, { 97: 1, 98: 1 }), distances: one })
        .bits(0, 64)
        .bytes(),
      false,
    ],
    [
      'a code with a gap',
      writer()
        .dynamic(true, { literals: codeLengths(257, { 97: 2, [END]: 1 }), distances: one })
        .bits(1, 1)
        .bytes(),
      false,
    ],
    [
      'the end alone, in one bit',
      writer()
        .dynamic(true, { literals: codeLengths(257, { [END]: 1 }), distances: none })
        .bits(0, 1)
        .bytes(),
      true,
    ],
    [
      'the other bit of that code',
      writer()
        .dynamic(true, { literals: codeLengths(257, { [END]: 1 }), distances: none })
        .bits(1, 1)
        .bits(0, 9)
        .bytes(),
      false,
    ],
    [
      'the end alone, in two bits',
      writer()
        .dynamic(true, { literals: codeLengths(257, { [END]: 2 }), distances: none })
        .bits(0, 9)
        .bytes(),
      false,
    ],
    [
      'literals and no distances',
      writer().dynamic(true, { literals: A_AND_END, distances: none }).bits(0b10, 2).bytes(),
      true,
    ],
    [
      'one distance in two bits',
      writer()
        .dynamic(true, { literals: A_AND_END, distances: codeLengths(1, { 0: 2 }) })
        .bits(0b10, 2)
        .bytes(),
      false,
    ],
    ['a distance where there is none', withLength(none).bits(0, 8).bytes(), false],
    ['the one distance there is', withLength(one).bits(0, 1).symbol(LENGTHS, END).bytes(), true],
    ['the other bit of that distance', withLength(one).bits(1, 1).symbol(LENGTHS, END).bits(0, 30).bytes(), false],
  ];
  for (const [name, stream, isSound] of cases) {
    t.equal(judge.rawDifference(stream), '', name);
    t.equal(judge.raw(stream).bytes !== null, isSound, name);
    t.equal(rawByZlib(stream).bytes !== null, isSound, `${name}, by zlib`);
  }
});

t.test('every cut of a stream is refused', async (t) => {
  const content = Buffer.from('{"name":"gen_ai.client","value":12345},'.repeat(40));
  for (const level of [0, 1, 9]) {
    const stream = deflateRawSync(content, { level });
    for (let length = 0; length < stream.length; length++) {
      const { bytes } = judge.raw(stream.subarray(0, length));
      if (bytes !== null) t.fail(`level ${level}: ${length} of ${stream.length} bytes sufficed`);
    }
  }
  t.pass();
});

t.test('exactly as many bytes as are allowed are expanded', async (t) => {
  for (const content of [
    Buffer.alloc(100_000, 'a'),
    Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * index) >> 3)),
  ]) {
    for (const level of [0, 6]) {
      const stream = deflateRawSync(content, { level });
      t.equal(judge.raw(stream, content.length).bytes?.length, content.length);
      t.match(judge.raw(stream, content.length - 1).refusal, 'fault 8');
      t.match(judge.raw(stream, 0).refusal, 'fault 8');
    }
  }
});

/** `a`, then a length of three; a distance follows. */
function withLength(distances: readonly number[]): DeflateWriter {
  return writer().dynamic(true, { literals: LENGTHS, distances }).symbol(LENGTHS, 97).symbol(LENGTHS, 257);
}

/** The head of a block of 257 literals and one distance, before the code lengths. */
function head(): DeflateWriter {
  const started = writer().bits(1, 1).bits(2, 2).bits(0, 5).bits(0, 5).bits(15, 4);
  for (const symbol of [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15])
    started.bits(PLAIN_LENGTHS[symbol] ?? 0, 3);
  return started;
}

function zeros(stream: DeflateWriter, count: number): DeflateWriter {
  return stream.symbol(PLAIN_LENGTHS, 18).bits(count - 11, 7);
}
