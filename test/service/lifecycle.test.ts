import t from 'tap';
import type { Logger } from '../../src/component/logger.ts';
import { Interrupted, Lifecycle, type Part } from '../../src/service/lifecycle.ts';

const never = AbortSignal.any([]);

function scene() {
  const events: string[] = [];
  const log = (_fields: object, message: string): void => void events.push(`log: ${message}`);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const part = (name: string, component: Part['component'] = {}): Part => ({
    name,
    component: {
      start: async (stopping) => {
        events.push(`start ${name}`);
        await component.start?.(stopping);
      },
      stop: async (deadline) => {
        events.push(`stop ${name}`);
        await component.stop?.(deadline);
      },
    },
  });
  return { events, logger, part };
}

const fail = async (): Promise<void> => {
  throw new Error('no luck');
};

t.test('parts start in order and stop in the opposite order', async (t) => {
  const { events, logger, part } = scene();
  const lifecycle = new Lifecycle([part('a'), part('b'), part('c')], logger);
  t.equal(lifecycle.state, 'idle');
  await lifecycle.start();
  t.equal(lifecycle.state, 'running');
  await lifecycle.stop(never);
  t.equal(lifecycle.state, 'stopped');
  t.same(events, ['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a']);
});

t.test('a failed start stops the started parts and the failing one, and rejects with its error', async (t) => {
  const { events, logger, part } = scene();
  const lifecycle = new Lifecycle([part('a'), part('b', { start: fail }), part('c')], logger);
  await t.rejects(lifecycle.start(), { message: 'no luck' });
  t.same(events, ['start a', 'start b', 'stop b', 'stop a']);
  t.equal(lifecycle.state, 'stopped');
  await lifecycle.stop(never);
  t.equal(events.length, 4, 'a second stop does nothing');
});

t.test('the other parts stop although one fails to stop', async (t) => {
  const { events, logger, part } = scene();
  const lifecycle = new Lifecycle([part('a'), part('b', { stop: fail }), part('c')], logger);
  await lifecycle.start();
  await lifecycle.stop(never);
  t.same(events.slice(3), ['stop c', 'stop b', 'log: failed to stop', 'stop a']);
});

t.test('a part that does not stop before the deadline is abandoned', async (t) => {
  const { events, logger, part } = scene();
  const stuck = part('stuck', { stop: () => new Promise<void>(() => undefined) });
  const lifecycle = new Lifecycle([part('a'), stuck], logger);
  await lifecycle.start();
  const deadline = new AbortController();
  const stopped = lifecycle.stop(deadline.signal);
  deadline.abort();
  await stopped;
  t.same(events.slice(2), ['stop stuck', 'log: did not stop in time; it is not waited for', 'stop a']);
});

t.test('parts that stop at once are stopped even after the deadline', async (t) => {
  const { events, logger, part } = scene();
  const lifecycle = new Lifecycle([part('a'), part('b')], logger);
  await lifecycle.start();
  await lifecycle.stop(AbortSignal.abort());
  t.same(events.slice(2), ['stop b', 'stop a']);
});

t.test('a stop works before the start, and returns the same promise twice', async (t) => {
  const { events, logger, part } = scene();
  const lifecycle = new Lifecycle([part('a')], logger);
  const first = lifecycle.stop(never);
  t.equal(lifecycle.stop(never), first);
  await first;
  t.same(events, ['stop a']);
  await t.rejects(lifecycle.start(), { message: /starts once/u });
});

t.test('a stop during the start waits for the starting part, then stops all started parts', async (t) => {
  const { events, logger, part } = scene();
  let opened = (): void => undefined;
  const slow = part('slow', { start: () => new Promise<void>((resolve) => (opened = resolve)) });
  const lifecycle = new Lifecycle([part('a'), slow, part('c')], logger);
  const started = lifecycle.start();
  const outcome = t.rejects(started, new Interrupted());
  while (!events.includes('start slow')) await new Promise(setImmediate);
  const stopped = lifecycle.stop(never);
  opened();
  await outcome;
  await stopped;
  t.same(events, ['start a', 'start slow', 'stop slow', 'stop a']);
  t.equal(lifecycle.state, 'stopped');
});

t.test('a starting part is told of a stop, and its failure then is not that of the start', async (t) => {
  const { events, logger, part } = scene();
  const start = (stopping?: AbortSignal): Promise<void> =>
    new Promise((_resolve, reject) => stopping?.addEventListener('abort', () => reject(new Error('given up'))));
  const lifecycle = new Lifecycle([part('slow', { start }), part('next')], logger);
  const outcome = t.rejects(lifecycle.start(), new Interrupted());
  await lifecycle.stop(never);
  await outcome;
  t.same(events, ['start slow', 'stop slow']);
});

t.test('a part that has started is not told of a stop: the others still use it', async (t) => {
  const { events, logger, part } = scene();
  let signal: AbortSignal | undefined;
  let opened = (): void => undefined;
  const database = part('database', { start: async (stopping) => void (signal = stopping) });
  const slow = part('slow', { start: () => new Promise<void>((resolve) => (opened = resolve)) });
  const lifecycle = new Lifecycle([database, slow], logger);
  const outcome = t.rejects(lifecycle.start(), new Interrupted());
  while (!events.includes('start slow')) await new Promise(setImmediate);
  const stopped = lifecycle.stop(never);
  t.equal(signal?.aborted, false);
  opened();
  await outcome;
  await stopped;
  t.same(events.slice(2), ['stop slow', 'stop database']);
});

t.test('a replacement that begins during a stop is interrupted, which is no mistake of the operator', async (t) => {
  const { logger, part } = scene();
  const done = async (): Promise<void> => undefined;
  const replacement = { parts: [], ready: done, takeOver: () => undefined, idle: done };
  const replace = (): Promise<void> => lifecycle.replace(replacement, never);
  const stop = async (): Promise<void> => void (await t.rejects(replace(), new Interrupted()));
  const lifecycle = new Lifecycle([part('a', { stop })], logger);
  await lifecycle.start();
  await lifecycle.stop(never);
  await t.rejects(replace(), new Interrupted());
});

t.test('parts without start and stop are skipped', async (t) => {
  const { logger } = scene();
  const lifecycle = new Lifecycle([{ name: 'plain', component: {} }], logger);
  await lifecycle.start();
  await lifecycle.stop(never);
  t.equal(lifecycle.state, 'stopped');
});
