// Objects: which requests share one, when it is put, and what follows a put that failed.
import t from 'tap';
import { Shipper, type Stored } from '../../../src/exporters/objects/shipper.ts';
import { idOf } from '../../../src/exporters/objects/object-key.ts';
import type { ObjectBody } from '../../../src/object-store/object-store.ts';
import { StoreError } from '../../../src/object-store/object-store.ts';
import { isPrompt } from '../../support/promptness.ts';

const MIB = 1048576;

/** A store whose puts wait until the test ends them. */
class GatedStore {
  readonly puts: { readonly key: string; readonly body: Buffer }[] = [];
  readonly #open: ((failure: Error | null) => void)[] = [];

  put(key: string, body: ObjectBody): Promise<void> {
    this.puts.push({ key, body: Buffer.concat(body as readonly Buffer[]) });
    return new Promise((resolve, reject) =>
      this.#open.push((failure) => (failure === null ? resolve() : reject(failure))),
    );
  }

  async end(failure: Error | null = null): Promise<void> {
    while (this.#open.length === 0) await new Promise((resolve) => setImmediate(resolve));
    this.#open.shift()?.(failure);
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

function shipperOver(store: GatedStore, lingerMs: number, now = Date.now, monotonicMs = () => performance.now()) {
  const events: string[] = [];
  const shipper = new Shipper({
    store,
    lingerMs,
    now,
    monotonicMs,
    events: {
      stored: (bytes) => void events.push(`stored ${bytes}`),
      failed: (error) => void events.push((error as Error).message),
      lost: (error) => void events.push(`lost: ${(error as Error).message}`),
    },
  });
  return { shipper, events };
}

const bytes = (text: string): Buffer => Buffer.from(text);
const texts = ({ puts }: GatedStore): readonly string[] => puts.map(({ body }) => body.toString());

t.test(
  'without a linger a request is put at once, and those that arrive meanwhile share the next object',
  async (t) => {
    const store = new GatedStore();
    const { shipper } = shipperOver(store, 0);
    const first = shipper.store('shop', bytes('one'));
    const later = [shipper.store('shop', bytes('two')), shipper.store('shop', bytes('three'))];
    t.same(texts(store), ['one']);
    await store.end();
    t.same(texts(store), ['one', 'twothree']);
    await store.end();
    const stored = await Promise.all([first, ...later]);
    t.same(
      stored.map(({ firstByte }) => firstByte),
      [0, 0, 3],
    );
    t.same(
      stored.map(({ objectId }) => objectId),
      [0, 1, 1].map((put) => idOf(store.puts[put]?.key ?? '')),
      'each request knows its object',
    );
  },
);

t.test('with a linger requests wait for others', async (t) => {
  const store = new GatedStore();
  const { shipper } = shipperOver(store, 20);
  const all = [shipper.store('shop', bytes('one')), shipper.store('shop', bytes('two'))];
  t.same(texts(store), []);
  await store.end();
  await Promise.all(all);
  t.same(texts(store), ['onetwo']);
});

t.test('a full object is put before its time, at most four at once, and a large request is an object', async (t) => {
  const store = new GatedStore();
  const { shipper } = shipperOver(store, 60_000);
  const half = Buffer.alloc(5 * MIB);
  const all = Array.from({ length: 10 }, () => shipper.store('shop', half));
  const large = shipper.store('shop', Buffer.alloc(20 * MIB));
  t.same(
    store.puts.map(({ body }) => body.length / MIB),
    [5, 5, 5, 5],
    'two halves are more than an object',
  );
  for (let put = 0; put < 11; put++) await store.end();
  await Promise.all([...all, large]);
  t.equal(store.puts.length, 11);
  t.equal(store.puts.at(-1)?.body.length, 20 * MIB);
});

t.test('projects alternate: the backlog of one does not delay another, and each keeps its order', async (t) => {
  const store = new GatedStore();
  const { shipper } = shipperOver(store, 0);
  const all = Array.from({ length: 4 }, () => shipper.store('busy', Buffer.alloc(8 * MIB)));
  const third = (letter: string): Buffer => Buffer.alloc(3 * MIB, letter);
  for (const letter of 'abcdefg') all.push(shipper.store('busy', third(letter)));
  for (const letter of '12') all.push(shipper.store('calm', third(letter)));
  t.equal(store.puts.length, 4, 'as many as run at once');
  for (let put = 0; put < 9; put++) await store.end();
  await Promise.all(all);
  const letters = store.puts.slice(4).map(({ body }) => body.toString('latin1').replace(/(.)\1+/gu, '$1'));
  t.same(letters, ['a1', 'b2', 'cd', 'ef', 'g']);
});

t.test('a put that failed is repeated under a new key, because it may have written', async (t) => {
  const store = new GatedStore();
  const { shipper, events } = shipperOver(store, 0);
  const stored = shipper.store('shop', bytes('one'));
  await store.end(new StoreError('unavailable', 'no answer'));
  await store.end(new StoreError('exists', 'taken'));
  await store.end();
  const { objectId } = await stored;
  t.equal(new Set(store.puts.map(({ key }) => key)).size, 3);
  t.same(objectId, idOf(store.puts[2]?.key ?? ''));
  t.same(events, ['no answer', 'taken', 'stored 3']);
});

t.test('after three tries the requests of the object are refused, and the next object is put', async (t) => {
  const store = new GatedStore();
  const { shipper } = shipperOver(store, 0);
  const refused = t.rejects(shipper.store('shop', bytes('one')), { message: 'third' });
  const next = shipper.store('shop', bytes('two'));
  const alsoNext = shipper.store('shop', bytes('three'));
  for (const message of ['first', 'second', 'third']) await store.end(new StoreError('unavailable', message));
  await refused;
  await store.end();
  await Promise.all([next, alsoNext]);
  t.same(texts(store), ['one', 'one', 'one', 'twothree']);
});

t.test('a try that failed late is not repeated, and waiting requests can be refused before the next put', async (t) => {
  const store = new GatedStore();
  const { shipper, events } = shipperOver(store, 0);
  const clock = { ms: performance.now() };
  t.intercept(performance, 'now', { value: () => clock.ms });
  const lost = t.rejects(shipper.store('shop', bytes('one')), { message: 'no answer' });
  const waiting = t.rejects(shipper.store('shop', bytes('two')), { message: 'away' });
  clock.ms += 10_000;
  shipper.refuseWaiting(new Error('away'));
  await waiting;
  await store.end(new StoreError('unavailable', 'no answer'));
  await lost;
  t.same(events, ['no answer', 'lost: no answer']);
  t.same(texts(store), ['one']);
  const next = shipper.store('shop', bytes('three'));
  await store.end();
  await next;
  t.same(texts(store), ['one', 'three']);
});

t.test('the age is that of the put that succeeded, by the clock that went further', async (t) => {
  const store = new GatedStore();
  let now = 1000;
  const { shipper } = shipperOver(store, 0, () => now);
  const storing: Promise<Stored> = shipper.store('shop', bytes('one'));
  now += 5_000_000;
  await store.end(new StoreError('unavailable', 'slow'));
  await store.end();
  const { age } = await storing;
  t.ok(age() < 1_000_000, 'not from the first try');
  now += 3_600_000;
  t.ok(age() >= 3_600_000, 'a machine that slept');
  now -= 7_200_000;
  t.ok(age() >= 0, 'a clock that was set back');
});

t.test('a project whose requests wait long for a slow store is refused, and no other project', async (t) => {
  const clock = { ms: 0 };
  const store = new GatedStore();
  const { shipper } = shipperOver(store, 0, Date.now, () => clock.ms);
  const stored: Promise<unknown>[] = [];
  const arrive = (count: number, project = 'shop'): void => {
    for (let request = 0; request < count; request++) stored.push(shipper.store(project, Buffer.alloc(MIB / 4)));
  };
  arrive(1);
  arrive(19);
  clock.ms += 500;
  await store.end();
  t.ok(store.puts.length > 1, 'the others share objects');
  t.throws(() => shipper.admit('shop'), {
    code: 'overloaded',
    details: { hint: '19 requests of the project wait for their object' },
  });
  t.doesNotThrow(() => shipper.admit('other'));
  for (let put = 1; put < store.puts.length; put++) {
    clock.ms += 500;
    await store.end();
  }
  await Promise.all(stored);
  t.doesNotThrow(() => shipper.admit('shop'));
});

t.test('large requests that would wait longer than three seconds are refused, with fewer than two none', async (t) => {
  const clock = { ms: 0 };
  const store = new GatedStore();
  const { shipper } = shipperOver(store, 0, Date.now, () => clock.ms);
  const first = shipper.store('shop', Buffer.alloc(MIB));
  clock.ms += 2000;
  await store.end();
  const two = [await first, shipper.store('shop', Buffer.alloc(MIB)), shipper.store('shop', Buffer.alloc(MIB))];
  await t.rejects(shipper.store('shop', Buffer.alloc(MIB)), { code: 'overloaded' });
  const others = [shipper.store('shop', Buffer.alloc(1000)), shipper.store('other', Buffer.alloc(MIB))];
  await store.end();
  await store.end();
  await t.resolves(Promise.all([...two, ...others]), 'a small request and another project');
});

t.test('the time in which a request waits for others does not count', async (t) => {
  const clock = { ms: 0 };
  const store = new GatedStore();
  const { shipper } = shipperOver(store, 10, Date.now, () => clock.ms);
  const one = shipper.store('shop', Buffer.alloc(1000));
  clock.ms += 10_000;
  while (store.puts.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  clock.ms += 20;
  await store.end();
  await one;
  const more = Array.from({ length: 40 }, () => shipper.store('shop', Buffer.alloc(MIB / 4)));
  t.doesNotThrow(() => shipper.admit('shop'), 'ten objects of 20 ms');
  const all = Promise.all(more);
  let isOver = false;
  void all.then(() => (isOver = true));
  while (!isOver) await Promise.race([store.end(), all]);
});

t.test('the time of a request does not depend on the number of projects that wait', async (t) => {
  const projects = 20_000;
  const isFast = await isPrompt(1000, async () => {
    const { shipper } = shipperOver(new GatedStore(), 60_000);
    const all = Array.from({ length: projects }, (_, project) => shipper.store(`project ${project}`, bytes('x')));
    shipper.refuseWaiting(new Error('the test ends'));
    await Promise.allSettled(all);
  });
  t.ok(isFast);
});
