/**
 * Patterns of attribute names: what matches, in which order, and that the index finds exact names and patterns alike.
 */
import t from 'tap';
import { KeyIndex } from '../../../src/dialects/lookup/key-index.ts';
import { KeyPattern } from '../../../src/dialects/lookup/key-pattern.ts';

const match = (pattern: string, key: string): number => new KeyPattern(pattern).match(key);

t.test('indexes compare as numbers', async (t) => {
  const order = (index: string): number => match('gen_ai.prompt.{i}.*', `gen_ai.prompt.${index}.content`);
  t.ok(order('9') < order('10'));
  t.equal(order('name'), -1);
  t.equal(match('gen_ai.prompt.{i}.*', 'gen_ai.prompt.name'), -1, 'a name in the same place is another attribute');
  t.ok(order('2') < match('gen_ai.prompt.{i}.*', 'gen_ai.prompt.2000.content'));
  t.equal(order('12345678'), -1, 'no list is that long');
});

t.test('a second index orders keys with the same first index', async (t) => {
  const order = (i: number, j: number): number => match('a.{i}.b.{j}.c', `a.${i}.b.${j}.c`);
  t.ok(order(0, 999) < order(1, 0));
  t.ok(order(1, 2) < order(1, 10));
});

t.test('{k} matches non-empty text, * matches any text', async (t) => {
  t.equal(match('meta.{k}', 'meta.'), -1);
  t.equal(match('meta.{k}', 'meta.a.b'), 0);
  t.equal(match('meta.*', 'meta.'), 0);
  t.equal(match('mastra.{k}.input', 'mastra.tool.input'), 0);
  t.equal(match('mastra.{k}.input', 'mastra.input'), -1);
  t.equal(match('a+b.{k}', 'aab.x'), -1, 'everything else is literal');
});

t.test('the index finds names and patterns, names first, and nothing else', async (t) => {
  const index = new KeyIndex<string>();
  index.add('a.{k}', 'pattern');
  index.add('a.b', 'name');
  index.add('a.b', 'second');
  t.strictSame(
    index.find('a.b').map(({ entry }) => entry),
    ['name', 'second', 'pattern'],
  );
  t.strictSame(
    index.find('a.c').map(({ entry }) => entry),
    ['pattern'],
  );
  t.strictSame(index.find('b.a'), []);
  t.strictSame(index.find('constructor'), []);
});
