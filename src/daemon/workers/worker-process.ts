/**
 * A worker from the primary's view: a process that is spawned, and spawned again after an unexpected exit, with growing
 * delays. A worker that sends no heartbeat is killed.
 */
import type { ChildProcess } from 'node:child_process';
import type { Logger } from '../../component/logger.ts';
import { UserError } from '../../errors.ts';
import { ConnectionChannel } from './connection-channel.ts';
import { ExpectedMessages, type Kind, type MessageOf } from './expected-messages.ts';
import {
  type Assignment,
  type Collected,
  errorOf,
  faultOf,
  type PrimaryMessage,
  type StopReport,
  type Tapped,
  type WorkerMessage,
} from './messages.ts';
import type { SharedPorts } from './shared-ports.ts';

const FIRST_RESTART_MS = 200;
const LONGEST_RESTART_MS = 30_000;
/** After this running time the next exit counts as the first one. */
const STEADY_MS = 60_000;
/** Missed heartbeats in a row, counted by a timer of the primary: after a suspend of the machine, none are missing. */
const MAX_MISSED_HEARTBEATS = 30;
/** A worker that has not prepared another configuration within this time is killed. */
const PREPARE_TIMEOUT_MS = 30_000;
/** Shorter than the timeout of a client that reads metrics or status. */
const COLLECT_TIMEOUT_MS = 1_000;

/** What a worker process needs from the primary. */
export interface Primary {
  readonly workers: number;
  readonly logger: Logger;
  readonly ports: SharedPorts;
  spawn(): ChildProcess;
  /** The configuration in force. */
  assignment(): Assignment;
  /** The worker has exited unexpectedly and will be restarted. */
  restarting(): void;
  /** The taps that are open, for a worker that starts. */
  taps(): readonly PrimaryMessage[];
  tapped(message: Tapped): void;
}

export class WorkerProcess {
  readonly number: number;
  readonly #primary: Primary;
  #child: ChildProcess | null = null;
  /** The running process as the shared ports see it. */
  #channel: ConnectionChannel | null = null;
  #state: 'idle' | 'starting' | 'ready' | 'gone' | 'stopping' = 'idle';
  /** What the running process was started with, or has switched to. */
  #running: Assignment | null = null;
  /** What the running process waits to switch to. */
  #prepared: Assignment | null = null;
  #catchingUp: Promise<void> = Promise.resolve();
  #problems: readonly string[] = [];
  #inFlight = 0;
  #restarts = 0;
  #waitMs = FIRST_RESTART_MS;
  #readySince = 0;
  #missedHeartbeats = 0;
  #restart: NodeJS.Timeout | null = null;
  #whenEnded: () => void = () => undefined;
  readonly #expected = new ExpectedMessages();
  #stopReport: StopReport = { answered: 0, refused: 0, left: 0 };

  constructor(number: number, primary: Primary) {
    this.number = number;
    this.#primary = primary;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  get state(): string {
    return this.#state === 'gone' ? 'waiting to start again' : this.#state;
  }

  get isReady(): boolean {
    return this.#state === 'ready';
  }

  get restarts(): number {
    return this.#restarts;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get stopReport(): StopReport {
    return this.#stopReport;
  }

  problems(): readonly string[] {
    if (this.#state !== 'ready') return [`worker ${this.number} is ${this.state}`];
    return this.#problems.map((problem) => `worker ${this.number}: ${problem}`);
  }

  /** The first start. Rejects with the worker's own error, without another attempt. */
  async start(): Promise<void> {
    this.#state = 'starting';
    await this.#spawn();
  }

  send(message: PrimaryMessage): void {
    // After the channel is closed, the exit of the process answers all expectations.
    if (this.#child?.connected === true) this.#child.send(message, () => undefined);
  }

  /** The next message of one of these kinds. Rejects when the process exits before. */
  expect<K extends Kind>(...kinds: readonly K[]): Promise<MessageOf<K>> {
    return this.#child === null ? Promise.reject(this.#endedError()) : this.#expected.next(kinds);
  }

  /** Metrics and status of the worker; null when it does not reply in time. */
  async collect(): Promise<Collected | null> {
    if (!this.isReady) return null;
    const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), COLLECT_TIMEOUT_MS).unref());
    const collected = this.expect('collected').catch(() => null);
    this.send({ kind: 'collect' });
    return Promise.race([collected, late]);
  }

  /** Call it once per heartbeat interval. */
  checkHeartbeat(): void {
    if (this.#child === null || this.#state === 'stopping') return;
    if (++this.#missedHeartbeats < MAX_MISSED_HEARTBEATS) return;
    this.#primary.logger.error({ worker: this.number, pid: this.pid }, 'a worker does not answer any more; ending it');
    this.kill();
  }

  /** Kills the process. It is restarted unless it is stopping. */
  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  /** Resolves when the worker can switch to the configuration; rejects when it refuses it, or ends. */
  async prepare(next: Assignment): Promise<void> {
    const outcome = this.expect('prepared', 'refused');
    this.send({ kind: 'prepare', assignment: next });
    const late = setTimeout(() => this.kill(), PREPARE_TIMEOUT_MS);
    try {
      const report = await outcome;
      if (report.kind === 'refused') throw errorOf(report.fault);
      this.#prepared = next;
    } finally {
      clearTimeout(late);
    }
  }

  /** Resolves when the worker has returned to its old configuration. */
  async abandon(): Promise<void> {
    this.#prepared = null;
    const abandoned = this.expect('abandoned').catch(() => undefined);
    this.send({ kind: 'abandon' });
    await abandoned;
  }

  /**
   * After a reload: resolves when a worker that serves has switched to the configuration in force. A worker that is
   * starting switches by itself, and one that waits to start again starts at once.
   */
  async renew(): Promise<void> {
    this.#waitMs = FIRST_RESTART_MS;
    if (this.#state === 'gone') {
      if (this.#restart !== null) clearTimeout(this.#restart);
      void this.#startAgain();
    } else if (this.#state === 'ready') {
      // It has started again while the others prepared this configuration.
      if (this.#prepared !== this.#primary.assignment()) this.#state = 'starting';
      this.#catchingUp = this.#catchUp();
      await this.#catchingUp.catch(() => this.#endUnusable());
    }
  }

  /** Resolves when the worker does not switch to another configuration, or has ended. */
  settled(): Promise<void> {
    return this.#catchingUp.catch(() => undefined);
  }

  /** Resolves when the process has exited. */
  async stop(timeoutMs: number): Promise<void> {
    this.#state = 'stopping';
    if (this.#restart !== null) clearTimeout(this.#restart);
    if (this.#child === null) return;
    const ended = new Promise<void>((resolve) => (this.#whenEnded = resolve));
    this.expect('stopped')
      .then(({ report }) => (this.#stopReport = report))
      .catch(() => undefined);
    this.send({ kind: 'stop', timeoutMs });
    await ended;
  }

  async #spawn(): Promise<void> {
    const child = this.#primary.spawn();
    this.#child = child;
    this.#missedHeartbeats = 0;
    this.#channel = new ConnectionChannel(child);
    child.on('message', (message) => this.#receive(message as WorkerMessage));
    // Its last messages may still be in the channel at its exit. While it has not confirmed a connection, there is no
    // event `disconnect`.
    child.once('close', (code, signal) => {
      if (this.#child === child) this.#ended(code, signal);
    });
    // A process that cannot be spawned has no exit event; a process that has exited has no channel.
    child.on('error', (error) => {
      if (child.pid === undefined) this.#ended(null, null);
      else this.#primary.logger.debug({ worker: this.number, error }, 'a message to a worker could not be sent');
    });
    await this.expect('hello');
    if (this.#state !== 'starting') return;
    const { workers } = this.#primary;
    const assignment = this.#primary.assignment();
    this.send({ kind: 'start', number: this.number, workers, assignment });
    const outcome = await this.expect('ready', 'failed');
    if (outcome.kind === 'failed') throw errorOf(outcome.fault);
    this.#running = assignment;
    this.#catchingUp = this.#catchUp();
    await this.#catchingUp;
    if (!this.isReady) return;
    this.#readySince = performance.now();
    for (const tap of this.#primary.taps()) this.send(tap);
  }

  /**
   * Reloads do not wait for a worker that starts: it switches when it runs, to the last one of them. The next reload
   * waits for that.
   */
  async #catchUp(): Promise<void> {
    while (this.#running !== this.#primary.assignment()) {
      const next = this.#primary.assignment();
      if (this.#prepared !== next) await this.prepare(next);
      const switched = this.expect('switched');
      this.send({ kind: 'commit' });
      await switched;
      this.#running = next;
      this.#prepared = null;
    }
    if (this.#state === 'starting') this.#state = 'ready';
  }

  #receive(message: WorkerMessage): void {
    const { ports } = this.#primary;
    if (message.kind === 'heartbeat') {
      this.#problems = message.problems;
      this.#inFlight = message.inFlight;
      this.#missedHeartbeats = 0;
    } else if (message.kind === 'listen') void this.#listen(message);
    else if (message.kind === 'tapped') this.#primary.tapped(message);
    else if (message.kind === 'limit') ports.limit(message.key, message.request);
    else if (message.kind === 'unlisten' && this.#channel !== null) ports.unlisten(this.#channel, message.key);
    else if (message.kind === 'closed' && this.#channel !== null) ports.connectionClosed(this.#channel, message.key);
    this.#expected.receive(message);
  }

  async #listen({ key, endpoint, request }: MessageOf<'listen'>): Promise<void> {
    const channel = this.#channel;
    if (channel === null) return;
    try {
      const address = await this.#primary.ports.listen(channel, key, { endpoint, request });
      if (this.#channel === channel) this.send({ kind: 'opened', key, address });
      else this.#primary.ports.removeHolder(channel);
    } catch (error) {
      this.send({ kind: 'not_opened', key, fault: faultOf(error) });
    }
  }

  #endedError(): Error {
    return new UserError(`worker ${this.number} has ended`, 'Read what it logged last, and try again.');
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    const { pid } = this;
    const before = this.#state;
    const channel = this.#channel;
    if (channel !== null) this.#primary.ports.removeHolder(channel);
    this.#child = null;
    this.#channel = null;
    this.#running = null;
    this.#prepared = null;
    this.#inFlight = 0;
    channel?.end();
    this.#expected.end(this.#endedError());
    this.#whenEnded();
    // The caller of the first start gets the error, and a stop needs no restart.
    if (before === 'stopping' || this.#isFirstStart) return;
    this.#startLater({ worker: this.number, pid, code, signal });
  }

  get #isFirstStart(): boolean {
    return this.#readySince === 0;
  }

  #startLater(fields: object): void {
    if (this.#state === 'ready' && performance.now() - this.#readySince > STEADY_MS) this.#waitMs = FIRST_RESTART_MS;
    const waitMs = this.#waitMs;
    this.#waitMs = Math.min(waitMs * 2, LONGEST_RESTART_MS);
    this.#state = 'gone';
    this.#restarts++;
    this.#primary.restarting();
    const message = 'a worker has ended; what it had acknowledged is stored, and it is started again';
    this.#primary.logger.error({ ...fields, restart_in_ms: waitMs }, message);
    this.#restart = setTimeout(() => void this.#startAgain(), waitMs);
  }

  /** A failed start ends the process, and its exit causes the next attempt. */
  async #startAgain(): Promise<void> {
    this.#state = 'starting';
    const fields = { worker: this.number };
    try {
      await this.#spawn();
      if (this.isReady) this.#primary.logger.info({ ...fields, pid: this.pid }, 'a worker has started again');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#primary.logger.error({ ...fields, error: reason }, 'a worker could not start again');
      this.#endUnusable();
    }
  }

  /** It may run with a former configuration, and refuse the one in force. One that stops refuses too. */
  #endUnusable(): void {
    if (this.#state === 'starting' && this.#running !== null) this.kill();
  }
}
