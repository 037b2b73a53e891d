import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import t from 'tap';
import { linesOf, onLines } from '../../src/component/lines.ts';

const anyText = fc.string({ unit: fc.constantFrom('\n', 'a', 'ä', '😀', '\u2028', '\u2029', '\u0085', '\r', '"') });

async function collected(chunks: readonly Buffer[]): Promise<{ iterated: string[]; called: string[] }> {
  const iterated: string[] = [];
  for await (const line of linesOf(Readable.from(chunks, { objectMode: false }))) iterated.push(line);
  const called: string[] = [];
  const stream = new PassThrough();
  onLines(stream, (line) => called.push(line));
  for (const chunk of chunks) stream.write(chunk);
  const closed = new Promise((resolve) => stream.once('close', resolve));
  stream.end();
  await closed;
  return { iterated, called };
}

t.test('only a line feed ends a line, wherever the text is cut', async (t) => {
  await fc.assert(
    fc.asyncProperty(anyText, fc.array(fc.nat({ max: 60 }), { maxLength: 4 }), async (text, cuts) => {
      const bytes = Buffer.from(text);
      const ends = [...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
      const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
      const expected = text.split('\n');
      if (expected.at(-1) === '') expected.pop();
      const { iterated, called } = await collected(chunks.filter(({ length }) => length > 0));
      return iterated.join('\n') === expected.join('\n') && called.join('\n') === expected.join('\n');
    }),
    { numRuns: 200 },
  );
  t.pass();
});
