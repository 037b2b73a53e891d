// The queue against a model of it: which pass is served next, in which order, and how many are in progress.
import fc from 'fast-check';
import t from 'tap';
import { FairQueue, type Flow, type VirtualClock } from '../../src/service/fair-queue.ts';

const PROJECTS = ['a', 'b', 'c', 'd'] as const;
type Project = (typeof PROJECTS)[number];

interface Modelled {
  readonly waiting: number[];
  running: number | null;
  virtualMs: number;
  hasRoom: boolean;
}

const project = fc.constantFrom(...PROJECTS);
const event = fc.oneof(
  fc.record({ kind: fc.constantFrom('start' as const, 'add' as const), project }),
  fc.record({ kind: fc.constant('room' as const), project }),
  fc.record({ kind: fc.constant('serve' as const), ms: fc.integer({ min: 1, max: 9 }), ends: fc.boolean() }),
);

class Checked {
  readonly #places: number;
  readonly #clock: VirtualClock = { now: 0 };
  readonly #queue: FairQueue<number>;
  readonly #model = new Map<Project, Modelled>(
    PROJECTS.map((name) => [name, { waiting: [], running: null, virtualMs: 0, hasRoom: true }]),
  );
  #clockMs = 0;
  #items = 0;

  constructor(places: number) {
    this.#places = places;
    this.#queue = new FairQueue(this.#clock, places, (name) => this.#of(name).hasRoom);
  }

  apply(one: typeof event extends fc.Arbitrary<infer Event> ? Event : never): void {
    if (one.kind === 'serve') this.#serve(one.ms, one.ends);
    else if (one.kind === 'room') this.#of(one.project).hasRoom = !this.#of(one.project).hasRoom;
    else if (one.kind === 'add') this.#add(one.project);
    else this.#start(one.project);
  }

  /** All projects have room from now on, so everything that waits is served. */
  end(): void {
    for (const one of this.#model.values()) one.hasRoom = true;
    while ([...this.#model.values()].some(isActive)) this.#serve(1, true);
    if (this.#queue.next() !== null) throw new Error('the queue is not empty');
  }

  #of(name: string): Modelled {
    return this.#model.get(name as Project) as Modelled;
  }

  get #running(): number {
    return [...this.#model.values()].filter(({ running }) => running !== null).length;
  }

  #activate(one: Modelled): void {
    if (!isActive(one)) one.virtualMs = this.#clockMs;
  }

  #start(name: Project): void {
    const one = this.#of(name);
    const item = this.#items++;
    const isFirst = [...this.#model.values()].every(({ waiting }) => waiting.length === 0);
    const begins = isFirst && this.#running < this.#places && one.hasRoom && one.running === null;
    const flow = this.#queue.start(name, item);
    same(flow !== null, begins, 'whether it begins at once');
    if (flow === null) return;
    this.#activate(one);
    one.running = item;
    this.#charge(flow, 1, false);
  }

  #add(name: Project): void {
    const item = this.#items++;
    this.#activate(this.#of(name));
    this.#of(name).waiting.push(item);
    this.#queue.add(name, item);
  }

  #serve(ms: number, ends: boolean): void {
    const active = [...this.#model.values()].filter(isActive);
    for (const one of active)
      if (one.running === null && !one.hasRoom) one.virtualMs = Math.max(one.virtualMs, this.#clockMs);
    const eligible = active.filter(({ running, hasRoom }) => running !== null || hasRoom);
    const runnable = eligible.filter(({ running }) => running !== null || this.#running < this.#places);
    const next = this.#queue.next();
    same(next === null, runnable.length === 0, 'whether any pass can begin or continue');
    if (next === null) return;
    const { flow, urgencyMs } = next;
    const one = this.#of(flow.project);
    same(runnable.includes(one), true, 'the pass can begin or continue');
    same(one.virtualMs, least(runnable), 'the project with the least time');
    same(urgencyMs, least(eligible), 'as urgent as those that wait for its place');
    if (flow.running === null) {
      one.running = one.waiting.shift() as number;
      same(this.#queue.begin(flow), one.running, 'the oldest of the project');
    }
    this.#charge(flow, ms, ends);
  }

  #charge(flow: Flow<number>, ms: number, ends: boolean): void {
    const one = this.#of(flow.project);
    same(flow.running, one.running, 'the pass in progress');
    this.#clockMs = Math.max(this.#clockMs, one.virtualMs);
    one.virtualMs += ms;
    this.#queue.charge(flow, ms);
    same(this.#clock.now, this.#clockMs, 'the virtual time');
    if (!ends) return;
    one.running = null;
    this.#queue.end(flow);
  }
}

const isActive = ({ waiting, running }: Modelled): boolean => waiting.length > 0 || running !== null;
const least = (some: readonly Modelled[]): number => Math.min(...some.map(({ virtualMs }) => virtualMs));

function same<T>(found: T, wanted: T, what: string): void {
  if (found !== wanted) throw new Error(`${what}: ${String(found)} instead of ${String(wanted)}`);
}

t.test('the project with the least time is served next, in order, within the places', async (t) => {
  const property = fc.property(
    fc.integer({ min: 1, max: 3 }),
    fc.array(event, { minLength: 10, maxLength: 80 }),
    (places, events) => {
      const checked = new Checked(places);
      for (const one of events) checked.apply(one);
      checked.end();
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }));
});

t.test('a pass in progress keeps its project when idle projects are forgotten', async (t) => {
  const queue = new FairQueue<string>({ now: 0 }, 2000, () => true);
  const held = queue.start('held', 'first') as Flow<string>;
  for (let index = 0; index < 1100; index++) queue.end(queue.start(`project ${index}`, 'only') as Flow<string>);
  t.equal(queue.start('held', 'second'), null, 'its pass is in progress');
  queue.add('held', 'second');
  queue.end(held);
  t.equal(queue.next()?.flow, held);
  t.equal(queue.begin(held), 'second');
});
