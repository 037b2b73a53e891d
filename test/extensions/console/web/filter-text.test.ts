/** Terms that the page writes are read by the server as what was clicked. The module is bundled as for the browser. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import fc from 'fast-check';
import t from 'tap';
import { parseFilter } from '../../../../src/extensions/console/filter/parse.ts';
import { cases } from '../../../support/long.ts';

interface Module {
  termOf(field: string, value: string): string;
  termsOf(text: string): readonly string[];
  hasTerm(text: string, term: string): boolean;
  withTerm(text: string, term: string): string;
  withoutTerm(text: string, term: string): string;
  opposite(term: string): string;
}

const source = fileURLToPath(new URL('../../../../../src/extensions/console/web/text/filter-text.ts', import.meta.url));
const { outputFiles } = await build({ entryPoints: [source], bundle: true, write: false, format: 'esm' });
const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
const { hasTerm, opposite, termOf, termsOf, withTerm, withoutTerm } = (await import(
  `data:text/javascript;base64,${code}`
)) as Module;

const values = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc
      .array(fc.constantFrom('"', '\\', ' ', ',', '*', ':', '-', '~', '>', '=', '\n', 'a', '😀'), { maxLength: 8 })
      .map((parts) => parts.join('')),
  )
  .filter((text) => !text.includes('\0'));

t.test('a value is found again', async (t) => {
  fc.assert(
    fc.property(values, values, (value, other) => {
      const term = termOf('user', value);
      const [read, ...rest] = parseFilter(term).terms;
      if (rest.length > 0 || read?.values.length !== 1) throw new Error(`not one term: ${term}`);
      const [found] = read.values;
      if (found?.text !== value || found.isPrefix || read.operator !== '=')
        throw new Error(`${term} is read as ${found?.text}`);
      const both = withTerm(termOf('name', other), term);
      if (parseFilter(both).terms.length !== 2 || termsOf(both).length !== 2) throw new Error(`not two terms: ${both}`);
      if (!hasTerm(both, term) || hasTerm(withoutTerm(both, term), term))
        throw new Error(`the term is not found: ${both}`);
      if (parseFilter(opposite(term)).terms[0]?.negated !== true) throw new Error(`not negated: ${opposite(term)}`);
    }),
    { numRuns: cases(2000) },
  );
  t.pass();
});

t.test('a long value, which answers cut, is found by its beginning', async (t) => {
  for (const length of [256, 1024, 5000]) {
    const [term] = parseFilter(termOf('user', '😀'.repeat(length))).terms;
    t.same(term?.values, [{ text: '😀'.repeat(256), isPrefix: true, at: 5 }], `${length} characters`);
  }
  t.same(parseFilter(termOf('user', 'x'.repeat(255))).terms[0]?.values[0]?.isPrefix, false);
  t.equal(
    parseFilter(termOf('error', 'x'.repeat(5000))).terms[0]?.values[0]?.text.length,
    256,
    'errors are found by a part',
  );
});
