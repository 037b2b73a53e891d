/** Writes that take too long: when they are reported, and when they have ended. */
import t from 'tap';
import type { Logger } from '../../src/component/logger.ts';
import { Stall } from '../../src/component/stall.ts';

/** Every write takes longer. */
const AFTER_MS = 1;

/** A write that ends when the test says so. */
function aWrite() {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { write: () => ended, end };
}

function open() {
  const messages: string[] = [];
  const note = (_fields: object, message: string): void => void messages.push(message);
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  const stall = new Stall('/disk', logger, AFTER_MS);
  /** Resolves when `active` becomes true. */
  const begun = (): Promise<void> => new Promise((resolve) => stall.on(resolve));
  return { stall, messages, begun };
}

t.test('two writes that take too long are one stall, which ends with the later one', async (t) => {
  const { stall, messages, begun } = open();
  await stall.watch(async () => undefined);
  t.same(messages, [], 'a fast write is none');
  const [first, second] = [aWrite(), aWrite()];
  const started = begun();
  const writes = [stall.watch(first.write), stall.watch(second.write)];
  await started;
  // Timers of one duration run in their order, so the one of the second write has run too.
  await new Promise((resolve) => setTimeout(resolve, AFTER_MS));
  t.ok(stall.active);
  first.end();
  await writes[0];
  t.ok(stall.active, 'the second one still waits');
  second.end();
  await Promise.all(writes);
  t.notOk(stall.active);
  t.match(messages, [/does not answer/u, /answers again/u]);
  t.equal(messages.length, 2);

  const again = begun();
  const third = aWrite();
  const write = stall.watch(third.write);
  await again;
  third.end();
  await write;
  t.equal(messages.length, 4, 'the next stall is reported too');
});

t.test('a write that fails ends its stall', async (t) => {
  const { stall, begun } = open();
  let fail = (_error: Error): void => undefined;
  const started = begun();
  const write = stall.watch(() => new Promise<void>((_resolve, reject) => (fail = reject)));
  await started;
  fail(new Error('no space'));
  await t.rejects(write, { message: 'no space' });
  t.notOk(stall.active);
});
