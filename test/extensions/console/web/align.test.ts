/** How two traces and two texts are put side by side. The module is bundled as for the browser. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import fc from 'fast-check';
import t from 'tap';

interface Pair {
  readonly a: string | null;
  readonly b: string | null;
}

interface Branch {
  readonly name: string;
  readonly category: string | null;
  readonly children: readonly Branch[];
}

interface Row {
  readonly a: Branch | null;
  readonly b: Branch | null;
  readonly depth: number;
}

interface Align {
  align(a: readonly string[], b: readonly string[], keyOf: (item: string) => string): readonly Pair[];
  alignTrees(a: readonly Branch[], b: readonly Branch[]): readonly Row[];
}

const source = fileURLToPath(new URL('../../../../../src/extensions/console/web/data/align.ts', import.meta.url));
const { outputFiles } = await build({ entryPoints: [source], bundle: true, write: false, format: 'esm' });
const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
const { align, alignTrees } = (await import(`data:text/javascript;base64,${code}`)) as Align;

const same = (item: string): string => item;
const pairs = (a: string, b: string): string =>
  align([...a], [...b], same)
    .map((pair) => (pair.a !== null && pair.b !== null ? pair.a : pair.a !== null ? `-${pair.a}` : `+${pair.b}`))
    .join('');

t.test('lines are paired in their order, the others are added or removed', async (t) => {
  t.equal(pairs('abc', 'abc'), 'abc');
  t.equal(pairs('abcd', 'acxd'), 'a-bc+xd');
  t.equal(pairs('', 'ab'), '+a+b');
  t.equal(pairs('ab', ''), '-a-b');
  t.equal(pairs('aa', 'a'), 'a-a');
  t.equal(pairs('abab', 'baba'), '-abab+a');
});

t.test('every item is in one pair, in its order, and only equal ones are joined', async (t) => {
  const word = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      const found = align(a, b, same);
      t.same(
        found.flatMap((pair) => (pair.a === null ? [] : [pair.a])),
        a,
      );
      t.same(
        found.flatMap((pair) => (pair.b === null ? [] : [pair.b])),
        b,
      );
      t.ok(found.every((pair) => pair.a === null || pair.b === null || pair.a === pair.b));
    }),
    { numRuns: 60 },
  );
});

t.test('very long sequences are joined in order', async (t) => {
  const long = (seed: number): readonly string[] => Array.from({ length: 5_000 }, (_, at) => String((at * seed) % 97));
  const found = align(long(3), ['x', ...long(5)], same);
  t.equal(found.filter(({ a }) => a !== null).length, 5_000);
  t.equal(found.filter(({ b }) => b !== null).length, 5_001);
});

const branch = (name: string, category: string | null = null, children: readonly Branch[] = []): Branch => ({
  name,
  category,
  children,
});
const shown = (rows: readonly Row[]): readonly string[] =>
  rows.map(({ a, b, depth }) => `${' '.repeat(depth)}${a?.name ?? '+'}/${b?.name ?? '-'}`);

t.test('trees: siblings by name, then by category; a branch of one side stays whole', async (t) => {
  const a = [branch('run', 'agent', [branch('chat x', 'model_call'), branch('tool', 'tool_step', [branch('http')])])];
  const b = [branch('run', 'agent', [branch('chat y', 'model_call'), branch('search', 'retrieval')])];
  t.same(shown(alignTrees(a, b)), ['run/run', ' chat x/chat y', ' tool/-', '  http/-', ' +/search']);
});

t.test('a chain of thousands of spans is no recursion', async (t) => {
  let chain = branch('0');
  for (let at = 1; at < 5_000; at += 1) chain = branch(String(at), null, [chain]);
  t.equal(alignTrees([chain], [chain]).length, 5_000);
});
