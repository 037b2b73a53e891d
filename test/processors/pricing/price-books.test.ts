/** Stored prices: their order, an entry with a mistake, and when they are read again. */
import t from 'tap';
import type { Host } from '../../../src/component/component.ts';
import type { PriceDirectory, StoredPrice } from '../../../src/component/capabilities/price-directory.ts';
import { formatMoney } from '../../../src/pdata/money.ts';
import { PriceBook } from '../../../src/processors/pricing/price-book.ts';
import { PriceBooks } from '../../../src/processors/pricing/price-books.ts';

const base = await PriceBook.load({
  overrides: [
    { id: 'of-the-file', match: { model: 'mine' }, prices: [{ rates: { input: '5', output: '5' } }] },
    { id: 'of-the-file-2', match: { model: 'theirs' }, prices: [{ rates: { input: '7', output: '7' } }] },
  ],
});

/** An entry with a price in dollars per million tokens. */
const entry = (id: string, model: string, rate: string): object => ({
  id,
  match: { model },
  prices: [{ rates: { input: rate, output: rate } }],
});
const stored = (id: string, model: string, rate: string, project: string | null = null): StoredPrice => ({
  id,
  project,
  entry: entry(id, model, rate),
});

class Scene implements PriceDirectory {
  prices: readonly StoredPrice[] | Error = [];
  reads = 0;
  nowMs = 1_000_000;
  faults = 0;
  readonly told: unknown[] = [];
  readonly books: PriceBooks;

  constructor() {
    const host = {
      id: 'pricing',
      now: () => this.nowMs,
      logger: { warn: (fields: unknown) => this.told.push(fields) },
    };
    const faults = { add: (count: number) => void (this.faults += count) };
    this.books = new PriceBooks(base, { directory: this, host: host as unknown as Host, faults });
  }

  async readPrices(): Promise<readonly StoredPrice[]> {
    this.reads++;
    if (this.prices instanceof Error) throw this.prices;
    return this.prices;
  }

  onChange(): () => void {
    return () => undefined;
  }

  async change(prices: readonly StoredPrice[] | Error): Promise<void> {
    this.prices = prices;
    this.books.outdate();
    await this.books.refresh();
  }

  /** The cost of a million input tokens, and its source. */
  price(project: string, model: string): string {
    const cost = this.books
      .of(project)
      .find(null, model)
      ?.cost({ inputTokens: 1_000_000, outputTokens: 0 }, this.nowMs);
    return `${formatMoney(cost?.totalCost ?? 0n)} ${cost?.audit?.split('@')[0] ?? 'none'}`;
  }
}

t.test('stored prices come first: the project’s own, then those for all, then the configuration’s', async (t) => {
  const scene = new Scene();
  await scene.change([]);
  t.equal(scene.price('shop', 'mine'), '5.00000000 user');
  await scene.change([stored('new', 'mine', '3'), stored('old', 'mine', '4'), stored('own', 'mine', '2', 'shop')]);
  t.equal(scene.price('shop', 'mine'), '2.00000000 stored');
  t.equal(scene.price('other', 'mine'), '3.00000000 stored', 'of equal entries the first one is used');
  t.equal(scene.price('other', 'theirs'), '7.00000000 user', 'without a stored price nothing changes');
  t.equal(scene.price('other', 'not-for-sale'), '0.00000000 none');
  t.equal(scene.books.count, 3);
  await scene.change([]);
  t.equal(scene.price('shop', 'mine'), '5.00000000 user', 'what was remembered of the old book is forgotten');
});

t.test('an entry may borrow from the price lists, and the audit text has its version', async (t) => {
  const scene = new Scene();
  const use = { provider: 'openai', model: 'gpt-4o' };
  await scene.change([
    { id: 'lent', project: null, entry: { id: 'lent', match: { model: 'alias' }, use, multiplier: '0.5' } },
  ]);
  const found = scene.books
    .of('shop')
    .find(null, 'alias')
    ?.cost({ inputTokens: 1_000_000, outputTokens: 0 }, scene.nowMs);
  t.equal(formatMoney(found?.totalCost ?? 0n), '1.25000000');
});

t.test('an entry with a mistake is logged once, counted and ignored', async (t) => {
  const scene = new Scene();
  const twice = { from: '2026-01-02', until: '2026-01-01', rates: { input: '1' } };
  const good = stored('good', 'mine', '3');
  const broken: readonly StoredPrice[] = [
    { id: 'no-object', project: null, entry: 'free of charge' },
    { id: 'unknown-key', project: 'shop', entry: { ...entry('unknown-key', 'mine', '1'), discount: 1 } },
    { id: 'other-id', project: null, entry: entry('another', 'mine', '1') },
    { id: 'period', project: null, entry: { id: 'period', match: { model: 'mine' }, prices: [twice] } },
    { id: 'rate', project: null, entry: entry('rate', 'mine', '-1') },
    { id: 'lent', project: null, entry: { id: 'lent', match: { model: 'mine' }, use: { provider: 'x', model: 'y' } } },
    { id: 'regex', project: null, entry: { ...entry('regex', '', '1'), match: { model: { regex: '(?=a)' } } } },
    good,
    stored('own', 'theirs', '1', 'shop'),
  ];
  await scene.change(broken);
  t.equal(scene.faults, 7);
  t.equal(scene.told.length, 7);
  t.match(scene.told, [{ price: 'no-object' }, { price: 'unknown-key', project: 'shop' }]);
  t.equal(scene.books.count, 2);
  t.equal(scene.price('shop', 'mine'), '3.00000000 stored');
  await scene.change([...broken]);
  t.equal(scene.faults, 7, 'not told again');
  await scene.change([good, { id: 'rate', project: null, entry: entry('rate', 'mine', '-2') }]);
  t.equal(scene.faults, 8, 'another mistake is news');
});

t.test('a failed read keeps the last prices and is logged once', async (t) => {
  const scene = new Scene();
  await scene.change([stored('mine', 'mine', '3')]);
  await scene.change(new Error('the database is unavailable'));
  await scene.change(new Error('the database is unavailable'));
  t.equal(scene.price('shop', 'mine'), '3.00000000 stored');
  t.match(scene.told, [{ error: 'the database is unavailable' }]);
  t.equal(scene.told.length, 1);
  await scene.change([stored('mine', 'mine', '4')]);
  t.equal(scene.price('shop', 'mine'), '4.00000000 stored');
});

t.test('a request waits for an announced change only', async (t) => {
  const scene = new Scene();
  t.ok(scene.books.refresh() instanceof Promise, 'the first reading');
  await scene.books.refresh();
  t.equal(scene.books.refresh(), undefined);
  t.equal(scene.reads, 1);
  scene.nowMs += 60_000;
  scene.prices = [stored('mine', 'mine', '3')];
  t.equal(scene.books.refresh(), undefined, 'what grew old is read again behind the request');
  await new Promise(setImmediate);
  t.equal(scene.reads, 2);
  t.equal(scene.price('shop', 'mine'), '3.00000000 stored');
  scene.books.outdate();
  const waits = scene.books.refresh();
  t.ok(waits instanceof Promise);
  scene.books.outdate();
  await waits;
  t.ok(scene.books.refresh() instanceof Promise, 'what changed while it was read is read once more');
});
