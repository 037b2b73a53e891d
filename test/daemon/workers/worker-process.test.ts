// A worker that ends again and again starts with growing delays, until a reload gives it another configuration.
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { connect, Socket } from 'node:net';
import t from 'tap';
import { SharedPorts } from '../../../src/daemon/workers/shared-ports.ts';
import { WorkerProcess } from '../../../src/daemon/workers/worker-process.ts';
import { UserError } from '../../../src/errors.ts';
import { openPausedPort } from '../../../src/net/port.ts';
import { QUIET } from '../../support/quiet-logger.ts';

const ANSWERS: Readonly<Record<string, string>> = { start: 'ready', prepare: 'prepared', commit: 'switched' };

/** A process that answers at once, or not at all. */
class Child extends EventEmitter {
  readonly pid = 1;
  connected = true;
  /** The messages that it got, with the configuration in them. */
  readonly got: string[] = [];
  refuses = false;

  constructor(answers: boolean) {
    super();
    if (answers) process.nextTick(() => this.answer('hello'));
  }

  answer(kind: string): void {
    this.emit('message', {
      kind,
      ...(kind === 'refused' || kind === 'failed' ? { fault: { message: 'unusable', hint: null } } : {}),
    });
  }

  send({ kind, assignment }: { readonly kind: string; readonly assignment?: { readonly texts: string } }): void {
    this.got.push(assignment === undefined ? kind : `${kind} ${assignment.texts}`);
    const answer = this.refuses && kind === 'prepare' ? 'refused' : ANSWERS[kind];
    if (answer !== undefined) process.nextTick(() => this.answer(answer));
  }

  kill(): void {
    this.connected = false;
    this.emit('close', null, 'SIGKILL');
  }
}

interface Scene {
  readonly worker: WorkerProcess;
  readonly children: readonly Child[];
  readonly waits: readonly number[];
  /** Emits `spawned` for each start. */
  readonly events: EventEmitter;
  answers: boolean;
  /** The configuration in force. */
  assignment: { readonly texts: string };
}

function makeScene(): Scene {
  const children: Child[] = [];
  const waits: number[] = [];
  const events = new EventEmitter();
  const error = (fields: { readonly restart_in_ms?: number }): void => {
    if (fields.restart_in_ms !== undefined) waits.push(fields.restart_in_ms);
  };
  const worker = new WorkerProcess(1, {
    workers: 1,
    logger: { ...QUIET, error, info: () => undefined, debug: () => undefined } as typeof QUIET,
    ports: new SharedPorts(openPausedPort),
    spawn: () => {
      const child = new Child(scene.answers);
      children.push(child);
      events.emit('spawned');
      return child as unknown as ChildProcess;
    },
    assignment: () => scene.assignment as never,
    restarting: () => undefined,
    taps: () => [],
    tapped: () => undefined,
  });
  const scene: Scene = { worker, children, waits, events, answers: true, assignment: { texts: 'one' } };
  return scene;
}

t.test('a worker that waits after several exits starts at once after a reload', async (t) => {
  const { worker, children, waits, events } = makeScene();
  await worker.start();
  children.at(-1)?.kill();
  await once(events, 'spawned');
  children.at(-1)?.kill();
  t.equal(worker.state, 'waiting to start again');
  t.same(waits, [200, 400], 'growing delays');
  worker.renew();
  t.equal(children.length, 3, 'without its delay');
  children.at(-1)?.kill();
  t.same(waits, [200, 400, 200], 'and the delays begin again');
  worker.renew();
  children.at(-1)?.kill();
  await once(events, 'spawned');
  t.equal(children.length, 5, 'one start for each exit');
});

t.test('a worker that ends while it prepares a reload fails it without a stack trace', async (t) => {
  const { worker, children } = makeScene();
  await worker.start();
  const failure = worker.expect('prepared', 'refused').catch((error: unknown) => error);
  children.at(-1)?.kill();
  t.ok((await failure) instanceof UserError);
  await worker.stop(0);
});

t.test('a worker that is starting during reloads runs, and then has the last configuration', async (t) => {
  const scene = makeScene();
  const { worker, children, waits } = scene;
  scene.answers = false;
  const started = worker.start();
  const [child] = children;
  child?.answer('hello');
  await Promise.resolve();
  for (const texts of ['two', 'three']) {
    scene.assignment = { texts };
    void worker.renew();
  }
  await started;
  t.same(child?.got, ['start one', 'prepare three', 'commit']);
  t.equal(worker.state, 'ready');
  t.same(waits, [], 'it was not ended');
});

t.test('a worker that started again while the others prepared a reload switches too', async (t) => {
  const scene = makeScene();
  const { worker, children } = scene;
  await worker.start();
  const next = { texts: 'two' };
  await worker.prepare(next as never);
  children.at(-1)?.kill();
  await once(scene.events, 'spawned');
  while (!worker.isReady) await new Promise((resolve) => setImmediate(resolve));
  scene.assignment = next;
  await worker.renew();
  t.same(children.at(-1)?.got, ['start one', 'prepare two', 'commit']);
  t.equal(worker.state, 'ready');
  await worker.renew();
  t.equal(children.at(-1)?.got.length, 3, 'once');
});

t.test('a worker that is suspended while it starts or switches is replaced', async (t) => {
  const scene = makeScene();
  const { worker, children, events } = scene;
  const miss = (): void => {
    for (let missed = 0; missed < 30; missed++) worker.checkHeartbeat();
  };
  await worker.start();
  scene.answers = false;
  children.at(-1)?.kill();
  await once(events, 'spawned');
  miss();
  t.equal(worker.state, 'waiting to start again', 'while it starts');
  scene.answers = true;
  await once(events, 'spawned');
  while (!worker.isReady) await new Promise((resolve) => setImmediate(resolve));
  const child = children.at(-1);
  if (child !== undefined) child.send = () => undefined;
  scene.assignment = { texts: 'two' };
  void worker.renew();
  t.equal(worker.state, 'starting');
  miss();
  await worker.settled();
  t.equal(worker.state, 'waiting to start again', 'while it switches');
  await once(events, 'spawned');
});

t.test('the next reload waits for a worker that still switches', async (t) => {
  const scene = makeScene();
  const { worker, children } = scene;
  await worker.start();
  scene.assignment = { texts: 'two' };
  void worker.renew();
  t.equal(worker.state, 'starting');
  await worker.settled();
  t.same(children.at(-1)?.got, ['start one', 'prepare two', 'commit']);
  t.equal(worker.state, 'ready');
});

t.test('a worker that cannot switch to the configuration in force starts again with it', async (t) => {
  const scene = makeScene();
  const { worker, children, events } = scene;
  await worker.start();
  const [first] = children;
  if (first !== undefined) first.refuses = true;
  scene.assignment = { texts: 'two' };
  void worker.renew();
  await once(events, 'spawned');
  while (!worker.isReady) await new Promise((resolve) => setImmediate(resolve));
  t.same(
    children.map(({ got }) => got),
    [['start one', 'prepare two'], ['start two']],
  );
});

t.test('a worker that refuses another configuration because it stops is not killed', async (t) => {
  const scene = makeScene();
  const { worker, children } = scene;
  await worker.start();
  const [child] = children;
  if (child !== undefined) child.send = ({ kind }) => void child.got.push(kind);
  scene.assignment = { texts: 'two' };
  const renewed = worker.renew();
  const stopped = worker.stop(0);
  child?.answer('refused');
  await renewed;
  t.ok(child?.connected, 'it answers its requests first');
  child?.kill();
  await stopped;
  t.same(child?.got, ['start one', 'prepare', 'stop']);
});

t.test('a worker whose start failed ends by itself', async (t) => {
  const scene = makeScene();
  const { worker, children, events } = scene;
  await worker.start();
  scene.answers = false;
  children.at(-1)?.kill();
  await once(events, 'spawned');
  const child = children.at(-1);
  if (child !== undefined) child.send = () => undefined;
  child?.answer('hello');
  await new Promise((resolve) => setImmediate(resolve));
  child?.answer('failed');
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(child?.connected);
  await Promise.all([worker.stop(0), child?.kill()]);
});

const ASSIGNMENT = {} as never;

/** A worker that listens, is ready, and then reads no message any more. */
const BUSY = `
  const LISTEN = { kind: 'listen', key: 'port', endpoint: { host: '127.0.0.1', port: 0 }, request: { endpoint: '' } };
  process.on('message', ({ kind }) => {
    if (kind === 'start') process.send(LISTEN);
    if (kind !== 'opened') return;
    process.send({ kind: 'ready' });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
  process.send({ kind: 'hello' });
`;

t.test('a connection that a killed worker has not accepted is closed, and the worker starts again', async (t) => {
  const ports = new SharedPorts(openPausedPort);
  const events = new EventEmitter();
  const worker = new WorkerProcess(1, {
    workers: 1,
    logger: { ...QUIET, error: () => undefined, info: () => undefined, debug: () => undefined } as typeof QUIET,
    ports,
    spawn: () => {
      const child = spawn(process.execPath, ['-e', BUSY], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
      const send = child.send.bind(child) as (...parameters: unknown[]) => boolean;
      child.send = (...parameters: unknown[]) => {
        if (parameters[1] instanceof Socket) events.emit('handed off');
        return send(...parameters);
      };
      return child;
    },
    assignment: () => ASSIGNMENT,
    restarting: () => events.emit('restarting'),
    taps: () => [],
    tapped: () => undefined,
  });
  await worker.start();
  const handedOff = once(events, 'handed off');
  const client = connect(Number(ports.boundAddress('port')?.split(':')[1]), '127.0.0.1');
  client.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
  t.teardown(async () => {
    client.destroy();
    const stopped = worker.stop(0);
    worker.kill();
    await stopped;
    ports.closeUnused();
  });
  client.write('a request');
  await handedOff;
  const restarting = once(events, 'restarting');
  worker.kill();
  await restarting;
  await closed;
  t.pass('both happened');
});
