/** The schedule of sending: a queue in memory, a clock that only pauses advance, and a remote with given answers. */
import t from 'tap';
import type { FailedAttempt, DestinationQueue, WaitingEntry } from '../../../src/component/capabilities/outbox.ts';
import { Delivery } from '../../../src/exporters/otlp-http/delivery.ts';
import type { RetryOptions } from '../../../src/exporters/otlp-http/retry.ts';
import type { Attempt } from '../../../src/exporters/otlp-http/sender.ts';
import type { Signal } from '../../../src/pdata/context.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const RETRY: RetryOptions = {
  enabled: true,
  initial_interval: 5000,
  max_interval: 30000,
  multiplier: 1.5,
  randomization_factor: 0.5,
  max_elapsed_time: 0,
};
const MINUTE = 60000;
const HOUR = 60 * MINUTE;
const DELIVERED: Attempt = { kind: 'delivered', partial: { rejected: 0, message: '' } };

const unavailable = (retryAfterMs: number | null = null): Attempt => ({
  kind: 'failed',
  result: 'unavailable',
  cause: '503',
  error: '503 come back',
  retryAfterMs,
});

interface Sketch {
  readonly text: string;
  readonly signal?: Signal;
  readonly project?: string;
}

interface Sent {
  readonly atMs: number;
  readonly body: string;
}

class Scene {
  nowMs = 0;
  readonly sent: Sent[] = [];
  readonly dead: string[] = [];
  readonly log: string[] = [];
  readonly results: string[] = [];
  readonly #entries: WaitingEntry[] = [];
  readonly #texts = new Map<bigint, string>();
  readonly #ended: () => boolean;
  readonly queue: DestinationQueue = this.#makeQueue();
  readonly delivery: Delivery;

  constructor(
    remote: (body: string, nowMs: number) => Attempt,
    { retry = RETRY, ended = () => this.#entries.length === 0 }: { retry?: RetryOptions; ended?: () => boolean } = {},
  ) {
    this.#ended = ended;
    const note = (_fields: object, message: string): void => void this.log.push(message);
    this.delivery = new Delivery({
      queue: this.queue,
      retry,
      maxBatchBytes: 10,
      logger: { debug: note, info: note, warn: note, error: note },
      events: {
        attempted: (result) => void this.results.push(result),
        delivered: () => undefined,
        deadLettered: (entries, reason) =>
          void this.dead.push(...entries.map((entry) => `${this.#text(entry)} ${reason}`)),
      },
      now: () => this.nowMs,
      chance: () => 0.5,
      send: async (_signal, body) => {
        this.sent.push({ atMs: this.nowMs, body: body.toString() });
        return remote(body.toString(), this.nowMs);
      },
      pause: async (ms) => {
        this.nowMs += ms;
        if (this.#ended()) void this.delivery.stop(AbortSignal.timeout(PATIENCE_MS));
        // Lets pending work run.
        await new Promise((resolve) => setImmediate(resolve));
      },
    });
  }

  get bodies(): readonly string[] {
    return this.sent.map(({ body }) => body);
  }

  add(...sketches: readonly Sketch[]): this {
    for (const { text, signal = 'traces', project = 'demo' } of sketches) {
      const sequence = BigInt(this.#texts.size + 1);
      this.#texts.set(sequence, text);
      const fresh = { attempts: 0, firstAttemptMs: null, nextAttemptMs: null };
      this.#entries.push({ sequence, signal, project, records: 1, bytes: text.length, ...fresh });
    }
    return this;
  }

  /** Runs until the queue is empty or the scene ends. */
  async run(): Promise<this> {
    this.delivery.start();
    while (!this.#ended()) await new Promise((resolve) => setImmediate(resolve));
    await this.delivery.stop(AbortSignal.timeout(PATIENCE_MS));
    return this;
  }

  #text({ sequence }: WaitingEntry): string {
    return this.#texts.get(sequence) ?? '';
  }

  #makeQueue(): DestinationQueue {
    const remove = async (gone: readonly WaitingEntry[]): Promise<void> => {
      for (const { sequence } of gone) {
        const index = this.#entries.findIndex((entry) => entry.sequence === sequence);
        if (index >= 0) this.#entries.splice(index, 1);
      }
    };
    const fail = async (failed: readonly WaitingEntry[], attempt: FailedAttempt): Promise<void> => {
      for (const [index, entry] of this.#entries.entries()) {
        if (!failed.some(({ sequence }) => sequence === entry.sequence)) continue;
        const { nowMs, nextAttemptMs } = attempt;
        const firstAttemptMs = entry.firstAttemptMs ?? nowMs;
        this.#entries[index] = { ...entry, attempts: entry.attempts + 1, firstAttemptMs, nextAttemptMs };
      }
    };
    return {
      acquire: async () => true,
      waiting: async (limit) => this.#entries.slice(0, limit),
      bodies: async (entries) => entries.map((entry) => Buffer.from(this.#text(entry))),
      delivered: remove,
      failed: fail,
      deadLetter: remove,
      release: async () => undefined,
    };
  }
}

t.test('neighbours of one signal and one project are sent together, up to the size of a batch, in order', async (t) => {
  const scene = await new Scene(() => DELIVERED)
    .add({ text: 'a' }, { text: 'b' }, { text: 'c', project: 'other' }, { text: 'd', project: 'other' })
    .add(
      { text: 'e', signal: 'logs', project: 'other' },
      { text: 'seven..' },
      { text: 'four' },
      { text: 'x'.repeat(99) },
    )
    .run();
  t.strictSame(scene.bodies, ['ab', 'cd', 'e', 'seven..', 'four', 'x'.repeat(99)]);
});

t.test('a remote that is down for an hour gets everything afterwards, in order, after few attempts', async (t) => {
  const scene = new Scene((_body, nowMs) => (nowMs < HOUR ? unavailable() : DELIVERED));
  await scene.add({ text: 'first' }, { text: 'second' }, { text: 'third', signal: 'logs' }).run();
  const before = scene.sent.filter(({ atMs }) => atMs < HOUR);
  t.ok(before.length < 130, `${before.length} attempts in the hour`);
  const after = scene.sent.filter(({ atMs }) => atMs >= HOUR);
  t.strictSame(
    after.map(({ body }) => body),
    ['first', 'second', 'third'],
  );
  t.ok((after[0]?.atMs ?? 0) < HOUR + 31000, 'and soon');
  t.strictSame(
    scene.log,
    ['the remote does not accept requests now', 'the remote accepts requests again'],
    'two lines',
  );
});

t.test('Retry-After delays the request and all requests behind it', async (t) => {
  const answers = [unavailable(10 * MINUTE)];
  const scene = await new Scene(() => answers.shift() ?? DELIVERED)
    .add({ text: 'a' }, { text: 'b', signal: 'logs' })
    .run();
  t.strictSame(scene.bodies, ['a', 'a', 'b']);
  const waited = (scene.sent[1]?.atMs ?? 0) - (scene.sent[0]?.atMs ?? 0);
  t.ok(waited >= 10 * MINUTE && waited < 10 * MINUTE + 2000, `${waited} ms`);
});

t.test(
  'with a time limit an undeliverable request becomes a dead letter, and the next one has its own limit',
  async (t) => {
    const retry = { ...RETRY, max_elapsed_time: 5 * MINUTE };
    const scene = new Scene((body) => (body === 'c' ? DELIVERED : unavailable()), { retry });
    await scene.add({ text: 'a' }, { text: 'b', signal: 'logs' }, { text: 'c' }).run();
    t.strictSame(scene.dead, ['a elapsed', 'b elapsed']);
    const [firstOfB] = scene.sent.filter(({ body }) => body === 'b');
    const lastOfB = scene.sent.findLast(({ body }) => body === 'b');
    t.ok((lastOfB?.atMs ?? 0) - (firstOfB?.atMs ?? 0) > 4 * MINUTE);
    t.ok(scene.bodies.includes('c'));
  },
);

t.test('a clock that was a year ahead and is corrected does not block the queue for a year', async (t) => {
  const scene = new Scene((_body, nowMs) => (nowMs > 300 * 24 * HOUR ? unavailable() : DELIVERED));
  scene.add({ text: 'a' });
  scene.nowMs = 365 * 24 * HOUR;
  scene.delivery.start();
  while (scene.sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
  scene.nowMs = 0;
  await scene.run();
  t.equal(scene.sent.length, 2);
  t.ok((scene.sent[1]?.atMs ?? Number.NaN) <= 2 * HOUR);
});

t.test('without retries a request that fails once is a dead letter', async (t) => {
  const retry = { ...RETRY, enabled: false };
  const scene = await new Scene(() => unavailable(), { retry }).add({ text: 'a' }).run();
  t.strictSame(scene.dead, ['a elapsed']);
  t.equal(scene.sent.length, 1);
});

t.test('of a refused batch only the failing request is dead-lettered, found by bisection', async (t) => {
  const refused: Attempt = { kind: 'refused', cause: '400', error: '400 bad' };
  const scene = new Scene((body) => (body.includes('!') ? refused : DELIVERED));
  await scene.add(...[...'abcde!fg'].map((text) => ({ text })), { text: 'h' }, { text: 'i' }).run();
  t.strictSame(scene.dead, ['! refused']);
  t.equal(scene.bodies.filter((body) => !body.includes('!')).join(''), 'abcdefghi', 'the others once, in order');
  t.equal(scene.bodies[0], 'abcde!fghi');
  t.ok(scene.sent.length <= 12, `${scene.sent.length} requests`);
});

t.test('a database fault releases the queue and is logged once, and sending continues', async (t) => {
  const scene = new Scene(() => DELIVERED);
  scene.add({ text: 'a' });
  let faults = 3;
  const { queue } = scene;
  const { waiting } = queue;
  Object.assign(queue, {
    waiting: (limit: number) => (faults-- > 0 ? Promise.reject(new Error('gone')) : waiting(limit)),
  });
  await scene.run();
  t.strictSame(scene.bodies, ['a']);
  t.strictSame(scene.log, ['the outbox cannot be read; trying again']);
});
