import fc from 'fast-check';
import t from 'tap';
import { TEXT_JSON_ESCAPED } from '../../src/pdata/layout.ts';
import { Memory } from '../../src/pdata/memory.ts';
import { finish } from '../../src/pdata/steps.ts';
import { lengthOfHead, MAX_HEAD_BYTES, readText, readTextInSteps } from '../../src/pdata/text.ts';

const OFFSET = 16;

function memoryOf(bytes: Buffer): Memory {
  const buffer = new ArrayBuffer(Math.ceil((OFFSET + bytes.length + 8) / 8) * 8);
  const memory = new Memory(buffer);
  memory.bytes.set(bytes, OFFSET);
  return memory;
}

t.test('a long text is the same in steps, wherever a step ends', async (t) => {
  // Repeated parts of a length that has no common factor with a step, so that steps end at each place of them.
  const parts = ['\\u00e9\\ud83d\\ude00x', '\\\\\\"\\n', 'é😀', '\\\\', 'plain'];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 6 }), fc.nat(12), (chosen, shift) => {
      const unit = chosen.join('');
      const text = `${'a'.repeat(shift)}${unit.repeat(Math.ceil(2_300_000 / Buffer.byteLength(unit)))}`;
      const bytes = Buffer.from(text);
      const memory = memoryOf(bytes);
      const inSteps = finish(readTextInSteps(memory, OFFSET, bytes.length, TEXT_JSON_ESCAPED));
      if (inSteps !== JSON.parse(`"${text}"`)) throw new Error('the text differs');
      const plain = finish(readTextInSteps(memory, OFFSET, bytes.length, 0));
      if (plain !== text) throw new Error('the plain text differs');
    }),
    { numRuns: 20 },
  );
  t.pass();
});

t.test('a short text takes no step', async (t) => {
  const bytes = Buffer.from('a\\nb');
  const steps = readTextInSteps(memoryOf(bytes), OFFSET, bytes.length, TEXT_JSON_ESCAPED);
  t.strictSame(steps.next(), { done: true, value: readText(memoryOf(bytes), OFFSET, bytes.length, TEXT_JSON_ESCAPED) });
});

t.test('the head of a long text ends with a whole character', async (t) => {
  for (const [part, flags] of [
    ['é😀', 0],
    ['\\u00e9\\n', TEXT_JSON_ESCAPED],
  ] as const)
    for (let shift = 0; shift < 8; shift++) {
      const bytes = Buffer.from('a'.repeat(shift) + part.repeat(MAX_HEAD_BYTES / 4));
      const memory = memoryOf(bytes);
      const length = lengthOfHead(memory, OFFSET, bytes.length, flags);
      t.ok(length >= MAX_HEAD_BYTES && length < MAX_HEAD_BYTES + 8, `${length} bytes`);
      const whole = readText(memory, OFFSET, bytes.length, flags);
      t.ok(whole.startsWith(readText(memory, OFFSET, length, flags)), `${part} after ${shift}`);
    }
  const short = Buffer.from('a');
  t.equal(lengthOfHead(memoryOf(short), OFFSET, short.length, 0), 1);
});
