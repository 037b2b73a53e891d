/** Who runs when, and who is sent away, on a clock and a loop of the test's own. */
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import t from 'tap';
import { Rejection } from '../../src/errors.ts';
import { Turns } from '../../src/service/turns.ts';

class Loop {
  ms = 0;
  readonly turns = new Turns({
    now: () => this.ms,
    afterSockets: (callback) => {
      this.#callbacks.push(callback);
    },
  });
  #callbacks: (() => void)[] = [];
  readonly done: string[] = [];

  /** Asks for a turn that takes so long. */
  ask(name: string, takesMs: number, bytes = 100_000): Promise<void> {
    return this.turns.run(bytes, () => {
      this.ms += takesMs;
      this.done.push(name);
    });
  }

  /** Looks at the sockets; false when nothing was to be done afterwards. */
  turn(): boolean {
    const callbacks = this.#callbacks;
    this.#callbacks = [];
    for (const callback of callbacks) callback();
    return callbacks.length > 0;
  }

  drain(): void {
    while (this.turn());
  }
}

t.test('a request that nobody is ahead of has its turn at once', async (t) => {
  const loop = new Loop();
  void loop.ask('a', 1);
  t.strictSame(loop.done, ['a']);
});

t.test('after two milliseconds the sockets come first, then the next in the order of arrival', async (t) => {
  const loop = new Loop();
  for (const name of ['a', 'b', 'c', 'd']) void loop.ask(name, 1.5);
  t.strictSame(loop.done, ['a', 'b']);
  t.equal(loop.turns.waiting, 2);
  loop.turn();
  t.strictSame(loop.done, ['a', 'b', 'c', 'd']);
  t.equal(loop.turns.waiting, 0);
});

t.test('what had its turn is forgotten, also while others always wait', async (t) => {
  v8.setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const loop = new Loop();
  const weak: WeakRef<object>[] = [];
  const ask = (): void => {
    const body = { bytes: 1 };
    weak.push(new WeakRef(body));
    void loop.turns.run(body.bytes, () => {
      loop.ms += 3;
      return body.bytes;
    });
  };
  for (let count = 0; count < 4; count++) ask();
  for (let count = 0; count < 50; count++) {
    ask();
    loop.turn();
  }
  t.ok(loop.turns.waiting > 0, 'others always waited');
  await new Promise(setImmediate); // A weak reference holds until the turn of the event loop is over.
  collect();
  t.equal(weak.filter((body) => body.deref() !== undefined).length, loop.turns.waiting);
});

t.test('who comes while others wait goes behind them, also right after the sockets', async (t) => {
  const loop = new Loop();
  for (const name of ['a', 'b', 'c']) void loop.ask(name, 3);
  void loop.ask('late', 0.1);
  loop.drain();
  t.strictSame(loop.done, ['a', 'b', 'c', 'late']);
});

t.test('a fault is the outcome of its own turn only', async (t) => {
  const loop = new Loop();
  void loop.ask('a', 5);
  const faulty = loop.turns.run(10, () => {
    throw new Rejection('invalid_json');
  });
  const after = loop.ask('b', 1);
  loop.drain();
  await t.rejects(faulty, { code: 'invalid_json' });
  await after;
  t.strictSame(loop.done, ['a', 'b']);
});

t.test('beyond a second of work that waits, newcomers are overloaded; below it, none is', async (t) => {
  const loop = new Loop();
  void loop.ask('first', 10);
  for (let index = 0; index < 99; index++) {
    loop.turns.admit();
    void loop.ask(String(index), 10);
  }
  t.ok(loop.turns.expectedWaitMs > 950 && loop.turns.expectedWaitMs <= 1000);
  loop.turns.admit();
  for (let index = 0; index < 5; index++) void loop.ask('more', 10);
  t.throws(() => loop.turns.admit(), { code: 'overloaded' });
  for (let turn = 0; turn < 10; turn++) loop.turn();
  t.doesNotThrow(() => loop.turns.admit());
});

t.test('what the sockets take while others wait counts for the wait as well', async (t) => {
  const loop = new Loop();
  for (let index = 0; index < 40; index++) void loop.ask(String(index), 3);
  t.ok(loop.turns.expectedWaitMs < 130, 'nothing but passes so far');
  for (let turn = 0; turn < 20; turn++) {
    loop.ms += 27;
    loop.turn();
    for (let index = 0; index < 3; index++) void loop.ask('more', 3);
  }
  t.ok(loop.turns.expectedWaitMs > 300, String(loop.turns.expectedWaitMs));
});

t.test('a pause of the whole process counts for little', async (t) => {
  const loop = new Loop();
  for (let index = 0; index < 64; index++) void loop.ask(String(index), 3);
  loop.ms += 10_000;
  loop.turn();
  t.ok(loop.turns.expectedWaitMs < 2000, String(loop.turns.expectedWaitMs));
});

/** What is done between one look at the sockets and the next: it takes so long, and so many come. */
function look(loop: Loop, newcomers: number, takesMs: number): number {
  const before = loop.done.length;
  for (let index = 0; index < newcomers; index++) loop.turns.admit();
  loop.ms += takesMs;
  loop.turn();
  return loop.done.length - before;
}

t.test('under load the sockets are looked at again while newcomers come, sixteen times', async (t) => {
  const loop = new Loop();
  const looks = (newcomers: readonly number[]): number[] => newcomers.map((count) => look(loop, count, 0.1));
  for (let index = 0; index < 12; index++) void loop.ask(String(index), 3);
  t.equal(look(loop, 1, 0.1), 1, 'so few are no load');
  for (let index = 0; index < 10; index++) void loop.ask(String(index), 3);
  t.strictSame(looks(Array.from({ length: 17 }, () => 1)), [...Array.from({ length: 15 }, () => 0), 1, 0]);
  t.strictSame(looks([0, 0, 0, 0]), [0, 1, 0, 1], 'nobody came: what the first look accepted is read by the second');
  t.strictSame(looks([0, 1, 0, 0, 0]), [0, 0, 0, 1, 0], 'now and then somebody comes');
});

t.test('however long the sockets take, passes get a third of that', async (t) => {
  const loop = new Loop();
  for (let index = 0; index < 100; index++) void loop.ask(String(index), 1);
  for (let count = 0; count < 2; count++) look(loop, 0, 0);
  const passes = Array.from({ length: 16 }, () => look(loop, 1, 1.5));
  t.equal(passes.at(-1), 8, 'of 24 milliseconds');
  for (let count = 0; count < 2; count++) look(loop, 0, 0);
  const slow = Array.from({ length: 7 }, () => look(loop, 1, 8));
  t.strictSame(slow, [0, 0, 0, 0, 0, 0, 17], 'the looks end after 50 milliseconds');
  look(loop, 0, 0);
  t.equal(look(loop, 0, 0), 2, 'and two milliseconds at least');
});

t.test('a few requests are never too many, however long each takes', async (t) => {
  const loop = new Loop();
  for (let index = 0; index < 16; index++) {
    t.doesNotThrow(() => loop.turns.admit());
    void loop.ask(String(index), 500, 16_000_000);
  }
});

t.test('whatever comes whenever, all have their turns in order, and the estimate ends at nothing', async (t) => {
  const step = fc.oneof(fc.constant(null), fc.record({ takesMs: fc.nat(8), bytes: fc.nat(5_000_000) }));
  const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const loop = new Loop();
    let asked = 0;
    for (const each of steps) {
      if (each === null) loop.turn();
      else void loop.ask(String(asked++), each.takesMs, each.bytes);
    }
    loop.drain();
    const inOrder = loop.done.every((name, index) => name === String(index));
    return inOrder && loop.done.length === asked && loop.turns.waiting === 0 && loop.turns.expectedWaitMs === 0;
  });
  t.doesNotThrow(() => fc.assert(property));
});
