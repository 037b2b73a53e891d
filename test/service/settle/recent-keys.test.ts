/** The flat memory against a Map, for whatever comes in whatever order. */
import fc from 'fast-check';
import t from 'tap';
import { RecentKeys } from '../../../src/service/settle/recent-keys.ts';

/** What it should do, the slow way. */
class Model {
  readonly entries = new Map<string, number>();
  readonly forgotten: number[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(key: string, value: number): void {
    if (this.entries.size === this.#limit) this.#forgetOldest();
    this.entries.set(key, value);
  }

  forgetUpTo(value: number): void {
    for (const [, oldest] of this.entries) {
      if (oldest > value) break;
      this.#forgetOldest();
    }
  }

  #forgetOldest(): void {
    const [key, value] = [...this.entries][0] as [string, number];
    this.entries.delete(key);
    this.forgotten.push(value);
  }
}

/** Few different ones, so that they come again; neighbours in many bits, so that places are shared. */
const keyOf = (number: number): string => (number * 0x10001).toString(16).padStart(8, '0').repeat(4);

t.test('it knows what a Map of the same bound would know, and says what it forgets', async (t) => {
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
          const key = keyOf(each.key);
          if (keys.find(key) !== model.entries.get(key)) return false;
          if (model.entries.has(key)) continue;
          keys.add(key, each.value);
          model.add(key, each.value);
        }
        if (keys.size !== model.entries.size) return false;
      }
      for (let number = 0; number <= 3000; number++) {
        if (keys.find(keyOf(number)) !== model.entries.get(keyOf(number))) return false;
      }
      return forgotten.join() === model.forgotten.join();
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: 60 }));
});
