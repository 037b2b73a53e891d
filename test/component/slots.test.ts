// Few slots, much work: how many pieces of work run at once, their order, and refusals.
import t from 'tap';
import { Slots } from '../../src/component/slots.ts';

interface Piece {
  end(error?: Error): void;
}

/** Starts work that ends when the test ends it. */
function scene(atOnce: number, mostWaiting = 100) {
  const slots = new Slots({ atOnce, mostWaiting, what: 'a test' });
  const begun: Piece[] = [];
  const begin = (name: string): Promise<string> =>
    slots.run(
      () =>
        new Promise<string>((resolve, reject) => {
          begun.push({ end: (error) => (error === undefined ? resolve(name) : reject(error)) });
        }),
    );
  return { begun, begin };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('all slots are used, and work is done in order', async (t) => {
  const { begun, begin } = scene(2);
  const results = ['a', 'b', 'c', 'd'].map(begin);
  for (let ended = 0; ended < 4; ended++) {
    await settled();
    t.equal(begun.length, Math.min(4, ended + 2));
    begun[ended]?.end();
  }
  t.same(await Promise.all(results), ['a', 'b', 'c', 'd']);
});

t.test('failed work passes its slot on, and work beyond the limit of the queue is refused', async (t) => {
  const { begun, begin } = scene(1, 2);
  const failing = begin('fails');
  const waiting = [begin('a'), begin('b')];
  await t.rejects(begin('c'), { code: 'overloaded' });
  begun[0]?.end(new Error('as it must'));
  await t.rejects(failing, /as it must/);
  for (const index of [1, 2]) {
    await settled();
    begun[index]?.end();
  }
  t.same(await Promise.all(waiting), ['a', 'b']);
  const later = begin('d');
  begun[3]?.end();
  t.equal(await later, 'd', 'the slot is free again');
});
