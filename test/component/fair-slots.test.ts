// Few slots, many holders: how many pieces of work run at once, their order, and refusals.
import t from 'tap';
import { FairSlots } from '../../src/component/fair-slots.ts';

interface Piece {
  readonly name: string;
  end(error?: Error): void;
}

/** Starts work that ends when the test ends it. */
function scene(slots: number, mostWaiting = 100) {
  const fair = new FairSlots({ slots, mostWaiting, what: 'a test' });
  const running: Piece[] = [];
  const begin = (holder: string, name: string): Promise<string> =>
    fair.run(
      holder,
      () =>
        new Promise<string>((resolve, reject) => {
          running.push({ name, end: (error) => (error === undefined ? resolve(name) : reject(error)) });
        }),
    );
  return { fair, running, begin };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('one holder alone gets all slots, and its work is done in order', async (t) => {
  const { running, begin, fair } = scene(2);
  const results = [1, 2, 3, 4].map((index) => begin('one', `one ${index}`));
  await settled();
  t.equal(fair.running, 2);
  for (let index = 0; index < 4; index++) {
    running[index]?.end();
    await settled();
  }
  t.same(await Promise.all(results), ['one 1', 'one 2', 'one 3', 'one 4']);
  t.equal(fair.running, 0);
});

t.test('a new holder is next, however long the queue of another one is', async (t) => {
  const { running, begin } = scene(1);
  for (let index = 0; index < 50; index++) void begin('greedy', `greedy ${index}`);
  void begin('new', 'new 0');
  void begin('new', 'new 1');
  for (let index = 0; index < 5; index++) {
    await settled();
    running[index]?.end();
  }
  await settled();
  t.same(
    running.slice(0, 5).map(({ name }) => name),
    ['greedy 0', 'greedy 1', 'new 0', 'greedy 2', 'new 1'],
  );
});

t.test('failed work passes its slot on, and work beyond the queue limit of a holder is refused', async (t) => {
  const { running, begin } = scene(1, 2);
  const failing = begin('one', 'fails');
  const waiting = [begin('one', 'a'), begin('one', 'b')];
  await t.rejects(begin('one', 'c'), { code: 'overloaded' });
  const other = begin('other', 'd');
  running[0]?.end(new Error('as it must'));
  await t.rejects(failing, /as it must/);
  for (let index = 1; index < 4; index++) {
    await settled();
    running[index]?.end();
  }
  t.same(await Promise.all([...waiting, other]), ['a', 'b', 'd']);
});
