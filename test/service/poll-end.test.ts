/** The order of the work after a poll of the event loop. */
import t from 'tap';
import { PollEnd } from '../../src/service/poll-end.ts';

t.test('groups are formed before passes are advanced, whatever was registered first', async (t) => {
  const pollEnd = new PollEnd();
  const order: string[] = [];
  const passes = new Promise<void>((resolve) =>
    pollEnd.advancePasses(() => {
      order.push('passes');
      resolve();
    }),
  );
  const group = async (): Promise<void> => {
    await new Promise<void>((resolve) => pollEnd.formGroup(resolve));
    order.push('group');
  };
  await Promise.all([passes, group()]);
  t.strictSame(order, ['group', 'passes']);
});

t.test('what is registered by a callback waits for the next poll', async (t) => {
  const pollEnd = new PollEnd();
  const order: string[] = [];
  const ended = new Promise<void>((resolve) => {
    pollEnd.advancePasses(() => {
      order.push('first');
      pollEnd.advancePasses(() => {
        order.push('second');
        resolve();
      });
      pollEnd.formGroup(() => order.push('group'));
    });
  });
  await ended;
  t.strictSame(order, ['first', 'group', 'second']);
});
