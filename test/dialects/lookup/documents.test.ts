/** Documents in strings, and the paths into them. */
import t from 'tap';
import { parseDocument } from '../../../src/dialects/lookup/documents.ts';
import { valueAt, valuesAt } from '../../../src/dialects/lookup/paths.ts';

t.test('JSON and printed Python dictionaries are parsed', async (t) => {
  t.strictSame(parseDocument('{"a":[1]}'), { a: [1] });
  t.strictSame(parseDocument("{'a': 1, 'b': None, 'c': [True, False], 'd': \"it's\", 'e': 'say \"x\"'}"), {
    a: 1,
    b: null,
    c: [true, false],
    d: "it's",
    e: 'say "x"',
  });
  t.strictSame(parseDocument("('stop',)"), ['stop']);
});

t.test('any other text is undefined, in short time', async (t) => {
  for (const text of ['', 'hello', '{', "{'a': object()}", `{'${"\\'".repeat(100_000)}`])
    t.equal(parseDocument(text), undefined);
});

t.test('paths follow objects and lists, and never leave the document', async (t) => {
  const document = { a: { b: [{ c: 1 }, { d: 2 }, { c: 3 }] }, n: null };
  t.equal(valueAt(document, 'a.b[0].c'), 1);
  t.equal(valueAt(document, 'a.b[*].d'), 2, 'the first element that has it');
  t.equal(valueAt(document, '$'), document);
  for (const path of ['a.x', 'a.b[9]', 'n', 'n.x', 'constructor', '__proto__', 'a.b.length.x', 'toString']) {
    t.equal(valueAt(document, path), undefined, path);
  }
  t.strictSame(valuesAt(document, 'a.b[*].c'), [1, 3]);
  t.strictSame(valuesAt([[{ c: 1 }], [{ c: 2 }]], '[*][*].c'), [1, 2]);
  t.strictSame(valuesAt(document, 'x[*].c'), []);
});
