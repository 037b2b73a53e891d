/** The order of passes and refusals, with a simulated clock and event loop. */
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import t from 'tap';
import { Rejection } from '../../src/errors.ts';
import { finish, type Steps } from '../../src/pdata/steps.ts';
import { AdmissionControl, type SizeClass } from '../../src/service/admission.ts';

const LARGEST = 16_000_000;
const ONE_PLACE: readonly SizeClass<string>[] = [{ limitBytes: LARGEST, places: ['only'] }];
const SIZES: readonly SizeClass<string>[] = [
  { limitBytes: 1000, places: ['small'] },
  { limitBytes: 100_000, places: ['middle 1', 'middle 2'] },
  { limitBytes: LARGEST, isLong: true, places: ['large'] },
];

interface Asked {
  readonly bytes?: number;
  readonly project?: string;
}

class Loop {
  ms = 0;
  readonly admission: AdmissionControl<string>;
  #callbacks: (() => void)[] = [];
  #timers: { readonly dueMs: number; readonly callback: () => void }[] = [];
  /** Projects whose rows find no room. */
  readonly full = new Set<string>();
  readonly done: string[] = [];
  /** The passes in progress, by place. */
  readonly inProgress = new Map<string, string>();

  constructor(classes: readonly SizeClass<string>[] = ONE_PLACE) {
    this.admission = new AdmissionControl({
      now: () => this.ms,
      afterPoll: (callback) => {
        if (this.#callbacks.length > 0) throw new Error('two callbacks after one poll');
        this.#callbacks.push(callback);
      },
      after: (ms, callback) => void this.#timers.push({ dueMs: this.ms + ms, callback }),
      hasRoom: (project) => !this.full.has(project),
      classes,
    });
  }

  /** Requests a pass with steps of given durations. */
  ask(
    name: string,
    stepsMs: number | readonly number[],
    { bytes = 100_000, project = 'demo' }: Asked = {},
  ): Promise<void> {
    const steps = typeof stepsMs === 'number' ? [stepsMs] : stepsMs;
    return this.admission.run(project, bytes, (place) => this.pass(name, steps, place));
  }

  *pass(name: string, stepsMs: readonly number[], place = 'large'): Steps {
    if (this.inProgress.has(place)) throw new Error(`${place} was taken`);
    this.inProgress.set(place, name);
    for (const [index, ms] of stepsMs.entries()) {
      if (index > 0) yield;
      this.ms += ms;
    }
    this.inProgress.delete(place);
    this.done.push(name);
  }

  /** Polls once. Returns false when no work was left. */
  poll(): boolean {
    const callbacks = this.#callbacks;
    this.#callbacks = [];
    for (const callback of callbacks) callback();
    return callbacks.length > 0;
  }

  get timers(): number {
    return this.#timers.length;
  }

  drain(): void {
    while (this.poll());
  }

  /** Polls, or lets time pass until the next timer. Returns false when there is neither. */
  step(): boolean {
    if (this.poll()) return true;
    const next = this.#timers.shift();
    if (next === undefined) return false;
    this.ms = Math.max(this.ms, next.dueMs);
    next.callback();
    return true;
  }
}

t.test('a request runs at once when no other is before it', async (t) => {
  const loop = new Loop();
  void loop.ask('a', 1);
  t.strictSame(loop.done, ['a']);
  loop.drain();
  t.equal(loop.timers, 0, 'nothing waits');
});

t.test('after two milliseconds the event loop is polled, then the next passes run in order of arrival', async (t) => {
  const loop = new Loop();
  for (const name of ['a', 'b', 'c', 'd']) void loop.ask(name, 1.5);
  t.strictSame(loop.done, ['a', 'b']);
  t.equal(loop.admission.waiting, 2);
  loop.poll();
  t.strictSame(loop.done, ['a', 'b', 'c', 'd']);
  t.equal(loop.admission.waiting, 0);
});

t.test('a pass is divided between its steps, and keeps its place until it ends', async (t) => {
  const loop = new Loop();
  void loop.ask(
    'long',
    Array.from({ length: 10 }, () => 1),
  );
  void loop.ask('next', 1);
  t.equal(loop.ms, 5, 'most passes have ended by then');
  loop.poll();
  t.equal(loop.ms, 7);
  t.strictSame([...loop.inProgress.values()], ['long']);
  loop.drain();
  t.strictSame(loop.done, ['long', 'next']);
});

t.test('a large body begins after what has arrived meanwhile, and its first slice is not longer', async (t) => {
  const loop = new Loop(SIZES);
  const giant = Array.from({ length: 100 }, () => 1);
  void loop.ask('giant', giant, { bytes: LARGEST, project: 'hostile' });
  void loop.ask('small', 0.5, { bytes: 100 });
  t.strictSame(loop.done, ['small']);
  t.equal(loop.ms, 0.5);
  loop.poll();
  t.equal(loop.ms, 1.5);
  loop.drain();
  t.strictSame(loop.done, ['small', 'giant']);
});

t.test('a small body does not wait for the end of a large one', async (t) => {
  const loop = new Loop(SIZES);
  void loop.ask(
    'giant',
    Array.from({ length: 1000 }, () => 1),
    { bytes: LARGEST },
  );
  loop.poll();
  void loop.ask('small', 0.5, { bytes: 100 });
  void loop.ask('middle', 0.5, { bytes: 50_000 });
  loop.poll();
  t.strictSame(loop.done, ['small', 'middle']);
  t.ok(loop.ms < 12);
});

t.test('bodies of several projects are in progress at once, also of the same size', async (t) => {
  const loop = new Loop(SIZES);
  for (let index = 0; index < 5; index++)
    void loop.ask(
      `a${index}`,
      Array.from({ length: 20 }, () => 1),
      { bytes: 50_000, project: 'a' },
    );
  void loop.ask(
    'b',
    Array.from({ length: 5 }, () => 1),
    { bytes: 50_000, project: 'b' },
  );
  loop.drain();
  t.equal(loop.done[0], 'b');
});

t.test('projects share the time evenly, for any requests', async (t) => {
  const loop = new Loop();
  for (let index = 0; index < 100; index++) void loop.ask('a', 1, { project: 'a' });
  for (let index = 0; index < 10; index++) void loop.ask('b', 3, { project: 'b' });
  while (loop.done.filter((name) => name === 'b').length < 10) loop.poll();
  const others = loop.done.filter((name) => name === 'a').length;
  t.ok(others >= 27 && others <= 36, `30 milliseconds of each, ${others}`);
});

t.test('a large body that others wait for is as urgent as they are', async (t) => {
  const loop = new Loop(SIZES);
  const giant = Array.from({ length: 50 }, () => 1);
  void loop.ask('giant of a', giant, { bytes: LARGEST, project: 'a' });
  loop.poll();
  void loop.ask('giant of b', giant, { bytes: LARGEST, project: 'b' });
  for (let index = 0; index < 500; index++) void loop.ask('small of c', 1, { bytes: 100, project: 'c' });
  while (!loop.done.includes('giant of b')) loop.poll();
  const small = loop.done.filter((name) => name === 'small of c').length;
  t.ok(small <= 110, `giants and small requests share the time: ${small}`);
});

t.test('a body is released after its pass, also while others always wait', async (t) => {
  v8.setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const loop = new Loop();
  const weak: WeakRef<object>[] = [];
  const ask = (): void => {
    const body = { bytes: 1 };
    weak.push(new WeakRef(body));
    void loop.admission.run('demo', body.bytes, function* () {
      yield;
      loop.ms += 3;
      return body.bytes;
    });
  };
  for (let count = 0; count < 4; count++) ask();
  for (let count = 0; count < 50; count++) {
    ask();
    loop.poll();
  }
  t.ok(loop.admission.waiting > 0, 'others always waited');
  await new Promise(setImmediate); // A weak reference holds until the turn of the event loop is over.
  collect();
  t.equal(weak.filter((body) => body.deref() !== undefined).length, loop.admission.waiting);
});

t.test('a request that arrives while others wait is after them, also directly after a poll', async (t) => {
  const loop = new Loop();
  for (const name of ['a', 'b', 'c']) void loop.ask(name, 3);
  void loop.ask('late', 0.1);
  loop.drain();
  t.strictSame(loop.done, ['a', 'b', 'c', 'late']);
});

t.test('a fault in a step fails only its own pass, and frees its place', async (t) => {
  const loop = new Loop();
  void loop.ask('a', 5);
  const faulty = loop.admission.run('demo', 10, function* (): Steps {
    for (let step = 0; step < 7; step++) {
      loop.ms++;
      yield;
    }
    throw new Rejection('invalid_json');
  });
  const after = loop.ask('b', 1);
  loop.drain();
  await t.rejects(faulty, { code: 'invalid_json' });
  await after;
  t.strictSame(loop.done, ['a', 'b']);
});

t.test('a project with more than a second of waiting work is overloaded, and no other project', async (t) => {
  const loop = new Loop();
  void loop.ask('first', 10);
  for (let index = 0; index < 99; index++) {
    loop.admission.admit('demo');
    void loop.ask(String(index), 10);
  }
  t.ok(loop.admission.expectedWaitMs('demo') > 950 && loop.admission.expectedWaitMs('demo') <= 1000);
  loop.admission.admit('demo');
  for (let index = 0; index < 5; index++) void loop.ask('more', 10);
  t.throws(() => loop.admission.admit('demo'), { code: 'overloaded' });
  for (let index = 0; index < 20; index++) {
    t.doesNotThrow(() => loop.admission.admit('other'));
    void loop.ask('other', 10, { project: 'other' });
  }
  t.ok(loop.admission.expectedWaitMs('other') <= 400, 'the first counts up to its own work');
  for (let poll = 0; poll < 150; poll++) loop.poll();
  t.doesNotThrow(() => loop.admission.admit('demo'));
});

t.test('a project with very many requests is overloaded earlier', async (t) => {
  const loop = new Loop();
  void loop.ask('first', 4);
  for (let index = 0; index < 127; index++) {
    t.doesNotThrow(() => loop.admission.admit('demo'));
    void loop.ask(String(index), 4);
  }
  const waitMs = loop.admission.expectedWaitMs('demo');
  t.ok(waitMs > 450 && waitMs <= 512, `a burst may wait for ${waitMs} ms`);
  void loop.ask('last', 4);
  t.throws(() => loop.admission.admit('demo'), { code: 'overloaded' });
  t.doesNotThrow(() => loop.admission.admit('other'));
  while (loop.admission.expectedWaitMs('demo') > 300) loop.poll();
  t.doesNotThrow(() => loop.admission.admit('demo'));
});

t.test('the expected wait of a project depends on the time of its own bodies', async (t) => {
  const loop = new Loop();
  for (let index = 0; index < 30; index++) void loop.ask('slow', 100, { project: 'slow' });
  for (let index = 0; index < 3; index++) void loop.ask('fast', 0.1, { project: 'fast' });
  for (let poll = 0; poll < 10; poll++) loop.poll();
  for (let index = 0; index < 50; index++) void loop.ask('fast', 0.1, { project: 'fast' });
  t.ok(loop.admission.expectedWaitMs('fast') < 20, String(loop.admission.expectedWaitMs('fast')));
  t.throws(() => loop.admission.admit('slow'), { code: 'overloaded' });
});

t.test('the time of polls counts for the expected wait as well', async (t) => {
  const loop = new Loop();
  for (let index = 0; index < 40; index++) void loop.ask(String(index), 3);
  t.ok(loop.admission.expectedWaitMs('demo') < 130, 'only passes so far');
  for (let poll = 0; poll < 20; poll++) {
    loop.ms += 27;
    loop.poll();
    for (let index = 0; index < 3; index++) void loop.ask('more', 3);
  }
  t.ok(loop.admission.expectedWaitMs('demo') > 300, String(loop.admission.expectedWaitMs('demo')));
});

t.test('a pause of the whole process hardly counts', async (t) => {
  const loop = new Loop();
  for (let index = 0; index < 64; index++) void loop.ask(String(index), 3);
  loop.ms += 10_000;
  loop.poll();
  t.ok(loop.admission.expectedWaitMs('demo') < 2000, String(loop.admission.expectedWaitMs('demo')));
});

/** The work between two polls: its time, and the number of arrivals. */
function poll(loop: Loop, arrivals: number, takesMs: number): number {
  const before = loop.done.length;
  for (let index = 0; index < arrivals; index++) loop.admission.admit('other');
  loop.ms += takesMs;
  loop.poll();
  return loop.done.length - before;
}

t.test('under load the event loop is polled again while requests arrive, sixteen times', async (t) => {
  const loop = new Loop();
  const polls = (arrivals: readonly number[]): number[] => arrivals.map((count) => poll(loop, count, 0.1));
  for (let index = 0; index < 12; index++) void loop.ask(String(index), 3);
  t.equal(poll(loop, 1, 0.1), 1, 'a few requests are no load');
  for (let index = 0; index < 10; index++) void loop.ask(String(index), 3);
  t.strictSame(polls(Array.from({ length: 17 }, () => 1)), [...Array.from({ length: 15 }, () => 0), 1, 0]);
  t.strictSame(polls([0, 0, 0, 0]), [0, 1, 0, 1], 'none arrived: what the first poll accepted is read by the second');
  t.strictSame(polls([0, 1, 0, 0, 0]), [0, 0, 0, 1, 0], 'arrivals in some polls');
});

t.test('passes get a third of the time of polls', async (t) => {
  const loop = new Loop();
  for (let index = 0; index < 100; index++) void loop.ask(String(index), 1);
  for (let count = 0; count < 2; count++) poll(loop, 0, 0);
  const passes = Array.from({ length: 16 }, () => poll(loop, 1, 1.5));
  t.equal(passes.at(-1), 8, 'of 24 milliseconds');
  for (let count = 0; count < 2; count++) poll(loop, 0, 0);
  const slow = Array.from({ length: 7 }, () => poll(loop, 1, 8));
  t.strictSame(slow, [0, 0, 0, 0, 0, 0, 17], 'polls end after 50 milliseconds');
  poll(loop, 0, 0);
  t.equal(poll(loop, 0, 0), 2, 'and two milliseconds at least');
});

t.test('a few requests are never refused, however long each takes', async (t) => {
  const loop = new Loop();
  for (let index = 0; index < 16; index++) {
    t.doesNotThrow(() => loop.admission.admit('demo'));
    void loop.ask(String(index), 500, { bytes: LARGEST });
  }
});

t.test('a pass begins when its rows find room, and passes of other projects do not wait for it', async (t) => {
  const loop = new Loop();
  loop.full.add('slow');
  void loop.ask('a', 1, { project: 'slow' });
  void loop.ask('b', 1, { project: 'slow' });
  void loop.ask('c', 1);
  t.equal(loop.admission.waiting, 3, 'it is the first of the queue');
  loop.drain();
  t.strictSame(loop.done, ['c']);
  t.equal(loop.poll(), false, 'the event loop sleeps');
  loop.admission.noteRoom();
  loop.drain();
  t.strictSame(loop.done, ['c'], 'room for others');
  t.equal(loop.timers, 1, 'their time is checked once');
  loop.full.clear();
  loop.admission.noteRoom();
  loop.drain();
  t.strictSame(loop.done, ['c', 'a', 'b']);
  t.equal(loop.admission.waiting, 0);
});

t.test('a pass waits for room for three seconds at most', async (t) => {
  const loop = new Loop();
  loop.full.add('slow');
  void loop.ask('a', 1, { project: 'slow' });
  loop.ms = 1000;
  void loop.ask('b', 1, { project: 'slow' });
  const started: number[] = [];
  while (loop.done.length < 2) {
    const before = loop.done.length;
    loop.step();
    if (loop.done.length > before) started.push(loop.ms);
  }
  t.strictSame(loop.done, ['a', 'b']);
  for (const [index, bound] of [3000, 4000].entries()) {
    const ms = started[index] ?? 0;
    t.ok(ms >= bound && ms <= bound + 501, `${ms}`);
  }
});

t.test('rows that a pass releases while others wait do not cause a second poll', async (t) => {
  const loop = new Loop();
  void loop.ask('first', 6);
  const refused = function* (): Steps {
    loop.ms += 3;
    yield;
    loop.admission.noteRoom();
  };
  for (let index = 0; index < 3; index++) void loop.admission.run('demo', 10, refused);
  loop.drain();
  t.equal(loop.admission.waiting, 0);
});

t.test('a pass that begins again has waited for room before', async (t) => {
  const loop = new Loop(SIZES);
  loop.full.add('slow');
  void loop.admission.run('slow', LARGEST, () => loop.pass('again', [1]), { hasWaited: true });
  loop.drain();
  t.strictSame(loop.done, ['again']);
});

t.test('a project that waited for room is not served before the others afterwards', async (t) => {
  const loop = new Loop();
  loop.full.add('slow');
  for (let index = 0; index < 8; index++) void loop.ask(`s${index}`, 2, { project: 'slow' });
  for (let index = 0; index < 16; index++) void loop.ask(`o${index}`, 2, { project: 'other' });
  while (loop.done.length < 8) loop.poll();
  t.ok(loop.done.every((name) => name.startsWith('o')));
  loop.full.clear();
  while (loop.done.length < 16) loop.poll();
  const slow = loop.done.slice(8).filter((name) => name.startsWith('s')).length;
  t.ok(slow >= 3 && slow <= 5, `${slow} of eight`);
  loop.drain();
});

t.test('the time of a wait for room does not count as that of passes', async (t) => {
  const loop = new Loop();
  void loop.ask('first', 2);
  loop.drain();
  loop.full.add('demo');
  for (let index = 0; index < 4; index++) void loop.ask(String(index), 2);
  void loop.ask('beside them', 2, { project: 'other' });
  loop.drain();
  const before = loop.admission.expectedWaitMs('demo');
  loop.ms += 2000;
  loop.full.clear();
  loop.admission.noteRoom();
  loop.poll();
  t.ok(loop.admission.expectedWaitMs('demo') <= before);
  loop.drain();
});

const request = fc.record({
  stepsMs: fc.array(fc.nat(4), { minLength: 1, maxLength: 6 }),
  bytes: fc.constantFrom(10, 50_000, 5_000_000),
  project: fc.constantFrom('a', 'b', 'c', 'd'),
});

t.test('any arrivals all have their pass, each project in order, with one pass in a place', async (t) => {
  const room = fc.record({ full: fc.constantFrom('a', 'b'), isFull: fc.boolean() });
  const events = fc.array(fc.oneof(fc.constant(null), request, room), { maxLength: 60 });
  const property = fc.property(events, (arrivals) => {
    const loop = new Loop(SIZES);
    const expected = new Map<string, string[]>();
    for (const [index, arrival] of arrivals.entries()) {
      if (arrival === null) {
        loop.poll();
        continue;
      }
      if ('full' in arrival) {
        if (arrival.isFull) loop.full.add(arrival.full);
        else loop.full.delete(arrival.full);
        if (!arrival.isFull) loop.admission.noteRoom();
        continue;
      }
      const { stepsMs, bytes, project } = arrival;
      const flow = `${project} ${bytes}`;
      const name = `${flow} ${index}`;
      expected.set(flow, [...(expected.get(flow) ?? []), name]);
      void loop.ask(name, stepsMs, { bytes, project });
    }
    while (loop.step());
    const inOrder = [...expected].every(([flow, names]) => {
      const done = loop.done.filter((name) => name.startsWith(`${flow} `));
      return done.join() === names.join();
    });
    return inOrder && loop.admission.waiting === 0 && loop.admission.expectedWaitMs('a') === 0;
  });
  t.doesNotThrow(() => fc.assert(property));
});

t.test('steps can run without pauses', async (t) => {
  t.equal(
    finish(
      (function* () {
        yield;
        return 7;
      })(),
    ),
    7,
  );
});
