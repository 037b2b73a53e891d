/** A folder that is full for objects takes the small object of the check. */
import t from 'tap';
import { StoreWatch } from '../../../src/exporters/objects/watch.ts';
import { eventually } from '../../support/eventually.ts';

function scene(t: { teardown(task: () => void): unknown }, trialMs: number) {
  const lines: { readonly message: string; readonly fix: unknown }[] = [];
  const note = (fields: object, message: string): void => {
    lines.push({ message, fix: 'fix' in fields ? fields.fix : undefined });
  };
  const watch = new StoreWatch({
    check: async () => undefined,
    logger: { debug: note, info: note, warn: note, error: note },
    retryMs: 1,
    trialMs,
  });
  t.teardown(() => watch.stop());
  return { watch, lines };
}

const fullDisk = (): Error => new Error('no object', { cause: Object.assign(new Error('full'), { code: 'ENOSPC' }) });

t.test('an outage is one line with its remedy, and not ready, while only the check succeeds', async (t) => {
  const { watch, lines } = scene(t, 2 ** 30);
  await watch.start();
  t.equal(watch.isReady, true);
  for (let count = 0; count < 3; count++) {
    watch.failed(fullDisk());
    t.equal(watch.cause, 'no object');
    await eventually('requests are accepted again', () => watch.cause === null);
    t.equal(watch.isReady, false);
  }
  t.same(lines, [
    { message: 'objects can be stored', fix: undefined },
    {
      message: 'no objects can be stored: requests are answered 503 until it is possible',
      fix: 'Free some disk space, or inodes.',
    },
  ]);
});

t.test('an outage ends when no object has failed for a while after the check', async (t) => {
  const { watch, lines } = scene(t, 1);
  await watch.start();
  watch.failed(fullDisk());
  t.equal(watch.isReady, false);
  await eventually('it is ready', () => watch.isReady);
  t.equal(lines.at(-1)?.message, 'objects can be stored');
  t.equal(lines.length, 3);
});
