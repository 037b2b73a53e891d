/**
 * New names in a price book: the time of a lookup must not depend on their number or on the length of the lists.
 */
import fc from 'fast-check';
import t from 'tap';
import { EntryIndex, type EntryMatch } from '../../../src/processors/pricing/entry-index.ts';
import { PriceBook } from '../../../src/processors/pricing/price-book.ts';
import { cases } from '../../support/long.ts';
import { isPrompt } from '../../support/promptness.ts';

const rates = [{ rates: { input: '1', output: '2' } }];

t.test('an index finds the entry that trying one after the other finds', async (t) => {
  const name = fc.stringMatching(/^[ab]{1,3}$/);
  const match: fc.Arbitrary<EntryMatch> = fc.oneof(
    fc.array(name, { minLength: 1, maxLength: 2 }).map((names) => ({ names })),
    name.map((prefix) => ({ prefix })),
    fc.constantFrom('a.*', '[ab]b+', 'b', '(?:a|b)a').map((expression) => ({ expression })),
  );
  const matches = (entry: EntryMatch, name: string): boolean => {
    if ('names' in entry) return entry.names.includes(name);
    return 'prefix' in entry ? name.startsWith(entry.prefix) : new RegExp(`^(?:${entry.expression})$`).test(name);
  };
  fc.assert(
    fc.property(fc.array(match), fc.array(name, { minLength: 1 }), fc.array(fc.boolean()), (list, names, refused) => {
      const entries = list.map((matches, index) => ({ matches, accepted: refused[index] !== true }));
      const expected = entries.find(
        ({ matches: entry, accepted }) => accepted && names.some((name) => matches(entry, name)),
      );
      return new EntryIndex(entries).find(names, ({ accepted }) => accepted) === (expected ?? null);
    }),
    { numRuns: cases(3000) },
  );
  t.pass();
});

t.test('a new name is cheap with two thousand overrides of every kind', async (t) => {
  const overrides = Array.from({ length: 2000 }, (_, index) => ({
    id: `own-${index}`,
    match: {
      model: [`name-${index}`, { prefix: `prefix-${index}-` }, { regex: `[a-z]+-${index}-(?:mini|large)` }][
        index % 3
      ] as string,
    },
    prices: rates,
  }));
  const book = await PriceBook.load({ overrides });
  t.equal(book.find(null, 'name-3')?.card.draft.model, 'own-3');
  t.equal(book.find(null, 'prefix-1-x')?.card.draft.model, 'own-1');
  t.equal(book.find(null, 'model-2-mini')?.card.draft.model, 'own-2');
  let next = 0;
  const look = (): void => {
    for (const last = next + 5000; next < last; next++) book.find('openai', `m${next}`);
  };
  t.ok(await isPrompt(1000, look));
});

t.test('a name to which every change applies has a bounded number of spellings', async (t) => {
  const book = await PriceBook.load();
  let next = 0;
  const look = (): void => {
    for (const last = next + 1000; next < last; next++)
      book.find('aws', `openai/models/us.m1-2-${next}.3-v1:0@20250101-latest:nitro`);
  };
  t.ok(await isPrompt(1000, look));
});
