/** Collections of an idle process. */
import t from 'tap';
import { IdleCollections } from '../../src/daemon/idle-collections.ts';

const TICKS = 5;
const COLLECTION_MS = 500;

/** A process whose processor time the test sets, and what the engine was told. */
class Subject {
  readonly collections: IdleCollections;
  begun = 0;
  readonly last: number[] = [];
  stepsAllowed = true;
  #usedUs = 0;

  constructor() {
    const cpuUsage = (since = { user: 0, system: 0 }): NodeJS.CpuUsage => ({
      user: this.#usedUs - since.user,
      system: 0,
    });
    this.collections = new IdleCollections(
      { cpuUsage },
      {
        beginCollection: () => this.begun++,
        beginReducingCollection: () => this.last.push(++this.begun),
        allowSteps: (allowed) => {
          this.stepsAllowed = allowed;
        },
      },
    );
  }

  work(milliseconds: number): void {
    this.#usedUs += milliseconds * 1000;
  }

  /** A tick after a load. A collection that begins ends before the next tick. */
  tick(milliseconds = 0): void {
    this.work(milliseconds);
    const before = this.begun;
    this.collections.tick();
    if (this.begun === before) return;
    this.work(COLLECTION_MS);
    this.collections.collected(true);
  }

  ticks(count: number): void {
    for (let i = 0; i < count; i++) this.tick();
  }
}

t.test('an idle period begins with three collections, and has no more', async (t) => {
  const subject = new Subject();
  const begun: number[] = [];
  for (let i = 1; i <= 6; i++) {
    subject.ticks(TICKS - 1);
    subject.tick(79);
    begun.push(subject.begun);
  }
  t.same(begun, [1, 2, 3, 3, 3, 3]);
  t.same(subject.last, [3]);
});

t.test('a load is not interrupted, and is followed by collections again', async (t) => {
  const subject = new Subject();
  subject.ticks(TICKS);
  for (let i = 0; i < 3 * TICKS; i++) subject.tick(1000);
  t.equal(subject.begun, 1);
  subject.ticks(4 * TICKS);
  t.equal(subject.begun, 4);
});

t.test('in an idle period only the collections of this process have steps', async (t) => {
  const subject = new Subject();
  subject.tick();
  t.notOk(subject.stepsAllowed);
  subject.ticks(TICKS - 2);
  subject.collections.tick();
  t.ok(subject.stepsAllowed, 'one has begun');
  subject.collections.collected(false);
  t.ok(subject.stepsAllowed, 'another kind has ended');
  subject.collections.collected(true);
  t.notOk(subject.stepsAllowed, 'it has ended');
});

t.test('collections have steps as soon as a load is known', async (t) => {
  const subject = new Subject();
  subject.ticks(2);
  subject.work(79);
  subject.collections.collected(false);
  t.notOk(subject.stepsAllowed);
  subject.work(1);
  subject.collections.collected(false);
  t.ok(subject.stepsAllowed, 'after a collection');
  subject.ticks(2);
  subject.tick(80);
  t.ok(subject.stepsAllowed, 'after a tick');
});
