/** Compares the typed arrays with a Map, for any sequence of keys. */
import fc from 'fast-check';
import t from 'tap';
import { RecentKeys } from '../../src/pdata/recent-keys.ts';

/** The reference implementation. */
class Model {
  readonly forgotten: number[] = [];
  readonly #limit: number;
  /** In order; a key is listed for each time it was added. */
  readonly #entries: { readonly key: number; readonly value: number }[] = [];
  readonly #last = new Map<number, { readonly value: number }>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.length;
  }

  find(key: number): number | undefined {
    return this.#last.get(key)?.value;
  }

  add(key: number, value: number): void {
    if (this.size === this.#limit) this.#forgetOldest();
    const entry = { key, value };
    this.#entries.push(entry);
    this.#last.set(key, entry);
  }

  forgetUpTo(value: number): void {
    while (this.#entries[0] !== undefined && this.#entries[0].value <= value) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const entry = this.#entries.shift();
    if (entry === undefined) return;
    if (this.#last.get(entry.key) === entry) this.#last.delete(entry.key);
    this.forgotten.push(entry.value);
  }
}

/** A few different keys, so that they repeat, and with many equal bits, so that they collide. */
const keyOf = (number: number): Uint32Array => new Uint32Array(4).fill(number * 0x10001);

t.test('it holds the same keys as a Map with the same limit, and reports removed entries', async (t) => {
  const step = fc.oneof(
    { weight: 9, arbitrary: fc.record({ key: fc.nat(3000), value: fc.nat(1e6) }) },
    { weight: 1, arbitrary: fc.nat(1e6) },
  );
  const property = fc.property(
    fc.integer({ min: 1, max: 2500 }),
    fc.array(step, { maxLength: 4000, size: 'max' }),
    (limit, steps) => {
      const forgotten: number[] = [];
      const keys = new RecentKeys(limit, (value) => forgotten.push(value));
      const model = new Model(limit);
      for (const each of steps) {
        if (typeof each === 'number') {
          keys.forgetWhile((value) => value <= each);
          model.forgetUpTo(each);
        } else {
          if (keys.find(keyOf(each.key), 0) !== model.find(each.key)) return false;
          keys.add(keyOf(each.key), 0, each.value);
          model.add(each.key, each.value);
        }
        if (keys.size !== model.size) return false;
      }
      for (let number = 0; number <= 3000; number++) {
        if (keys.find(keyOf(number), 0) !== model.find(number)) return false;
      }
      return forgotten.join() === model.forgotten.join();
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: 60 }));
});

t.test('it grows to the room of its limit, with all its keys', async (t) => {
  for (const limit of [8192, 8193, 20_000, 70_000]) {
    const keys = new RecentKeys(limit);
    for (let number = 0; number < limit + 10; number++) keys.add(keyOf(number), 0, number);
    t.equal(keys.size, limit);
    for (let number = 0; number < limit + 10; number++)
      if (keys.find(keyOf(number), 0) !== (number < 10 ? undefined : number)) t.fail(`${limit}: ${number}`);
  }
});

t.test('a key that is added again outlives its first entry', async (t) => {
  const keys = new RecentKeys(3);
  keys.add(keyOf(1), 0, 10);
  keys.add(keyOf(2), 0, 20);
  keys.add(keyOf(1), 0, 30);
  keys.forgetWhile((value) => value <= 10);
  t.equal(keys.find(keyOf(1), 0), 30);
  t.equal(keys.find(keyOf(2), 0), 20);
});
