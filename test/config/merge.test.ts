import fc from 'fast-check';
import t from 'tap';
import { Diagnostics } from '../../src/config/diagnostics.ts';
import { merge, parseSetting } from '../../src/config/merge.ts';
import { type Entry, type Node, plainValueOf } from '../../src/config/node.ts';

const origin = { source: { name: 'test', text: '' }, offset: 0, length: 0 };

function nodeOf(value: unknown): Node {
  if (Array.isArray(value)) return { kind: 'list', items: value.map(nodeOf), origin };
  if (typeof value !== 'object' || value === null) {
    return { kind: 'scalar', value: value as string | number | boolean | null, origin };
  }
  const entries = Object.entries(value).map(([key, inner]): [string, Entry] => [
    key,
    { key: origin, value: nodeOf(inner) },
  ]);
  return { kind: 'map', entries: new Map(entries), origin };
}

/** Few keys, so that trees overlap. */
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('map'), tie('map')),
  leaf: fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.integer(), { maxLength: 2 })),
  map: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('tree'), { maxKeys: 3, noNullPrototype: true }),
}));

const merged = (...values: readonly unknown[]): unknown => plainValueOf(values.map(nodeOf).reduce(merge));

t.test('merging is associative: (a + b) + c is a + (b + c), while maps stay maps', async (t) => {
  const maps = fc.dictionary(fc.constantFrom('a', 'b'), fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.integer()));
  fc.assert(
    fc.property(maps, maps, maps, (a, b, c) => {
      const left = merge(merge(nodeOf(a), nodeOf(b)), nodeOf(c));
      const right = merge(nodeOf(a), merge(nodeOf(b), nodeOf(c)));
      t.strictSame(plainValueOf(left), plainValueOf(right));
    }),
    { numRuns: 200 },
  );
});

t.test('merging a tree with itself, or with an empty map, changes nothing', async (t) => {
  fc.assert(
    fc.property(tree, (value) => {
      t.strictSame(merged(value, value), plainValueOf(nodeOf(value)));
      if (nodeOf(value).kind === 'map') t.strictSame(merged(value, {}), plainValueOf(nodeOf(value)));
    }),
    { numRuns: 200 },
  );
});

t.test('every leaf of the right side is in the result', async () => {
  const holds = (result: unknown, right: unknown): boolean => {
    if (typeof right !== 'object' || right === null || Array.isArray(right))
      return JSON.stringify(result) === JSON.stringify(right);
    return Object.entries(right).every(([key, value]) => holds((result as Record<string, unknown>)[key], value));
  };
  fc.assert(
    fc.property(tree, tree, (a, b) => holds(merged(a, b), b)),
    { numRuns: 500 },
  );
});

t.test('lists and scalars replace, and a null removes', async (t) => {
  t.strictSame(merged({ a: [1, 2], b: { c: 1 } }, { a: [3], b: null }), { a: [3], b: null });
});

t.test('a setting takes the address of IPv6 without quotes, and other brackets as a list', async (t) => {
  const read = (text: string): unknown => {
    const node = parseSetting(`a.b=${text}`, new Diagnostics());
    return node === null ? null : plainValueOf(node);
  };
  t.strictSame(read('[::1]:4318'), { a: { b: '[::1]:4318' } });
  t.strictSame(read('"[::1]:4318"'), { a: { b: '[::1]:4318' } });
  t.strictSame(read('[x, y]'), { a: { b: ['x', 'y'] } });
  t.equal(read('[x]y'), null);
});

t.test('a quoted key of a setting may have dots and equals signs, and an empty step is refused', async (t) => {
  const read = (text: string): unknown => {
    const node = parseSetting(text, new Diagnostics());
    return node === null ? null : plainValueOf(node);
  };
  t.strictSame(read('a."b.c=d".e=1'), { a: { 'b.c=d': { e: 1 } } });
  t.strictSame(read('a::b=1'), { a: { b: 1 } });
  for (const text of ['.a=1', 'a..b=1', 'a.=1', '=1', '""=1', 'a"b=1']) t.equal(read(text), null, text);
});
