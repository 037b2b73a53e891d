// The cache of resolved names: bounded, and it keeps names in use.
import t from 'tap';
import { PriceBook } from '../../../src/processors/pricing/price-book.ts';
import { RECENT_NAMES, RecentNames } from '../../../src/processors/pricing/recent-names.ts';

t.test('never holds more than its capacity', (t) => {
  const names = new RecentNames<number>(10);
  for (let index = 0; index < 1000; index++) {
    names.set(`p${index % 3}`, `m${index}`, index);
    if (names.size > 10) t.fail(`holds ${names.size}`);
  }
  t.equal(names.get('p0', 'm999'), 999);
  t.equal(names.get('p0', 'm0'), undefined);
  t.equal(names.get('other', 'm999'), undefined);
  t.end();
});

t.test('a name in use outlives any number of names used once', (t) => {
  const names = new RecentNames<string>(10);
  names.set('openai', 'gpt-4o', 'kept');
  for (let index = 0; index < 1000; index++) {
    names.set('x', `once-${index}`, '');
    if (names.get('openai', 'gpt-4o') !== 'kept') return t.fail(`forgotten after ${index}`);
  }
  t.pass();
  return t.end();
});

t.test('a price book stays within the bound, caches misses, and does not look up overlong names', async (t) => {
  const book = await PriceBook.load();
  for (let index = 0; index < RECENT_NAMES * 2; index++) book.find('openai', `no-such-model-${index}`);
  t.ok(book.remembered <= RECENT_NAMES, `${book.remembered} names`);
  t.ok(book.remembered >= RECENT_NAMES / 2, 'misses are remembered too');
  const before = book.remembered;
  t.equal(book.find('openai', 'x'.repeat(257)), null);
  t.equal(book.find('x'.repeat(257), 'gpt-4o'), null);
  t.equal(book.remembered, before);
  t.equal(book.find('openai', 'gpt-4o'), book.find('openai', 'gpt-4o'), 'the same card object every time');
});
