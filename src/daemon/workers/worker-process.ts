/**
 * One worker as the primary sees it: a process that is started, spoken to, and started again when it ends unasked, at once and then
 * ever more slowly. One that says nothing for long is ended first.
 */
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Logger } from '../../component/logger.ts';
import { errorOf, faultOf } from './fault.ts';
import type { Answer, Assignment, Order, Report, StopReport } from './messages.ts';
import type { Holder, SharedPorts } from './shared-ports.ts';

const FIRST_RESTART_MS = 200;
const LONGEST_RESTART_MS = 30_000;
/** Who has run for so long has recovered: its next end counts as the first. */
const STEADY_MS = 60_000;
/** Beats in a row that may be missing, counted by the primary's own: a machine that slept for long has no silent workers. */
const MAX_SILENT_BEATS = 30;
/** Shorter than anybody waits who asks for the figures of all. */
const ANSWER_TIMEOUT_MS = 1_000;

type Kind = Report['kind'];

interface Expectation {
  readonly kinds: readonly Kind[];
  heard(report: Report): void;
  ended(error: Error): void;
}

interface Gift {
  readonly key: string;
  readonly connection: Socket;
  returned(): void;
}

/** What a worker needs of the primary. */
export interface Employer {
  readonly workers: number;
  readonly logger: Logger;
  readonly ports: SharedPorts;
  fork(number: number): ChildProcess;
  /** What a worker that starts now has to run with. */
  assignment(): Assignment;
  /** It has ended unasked, and will be started again. */
  lost(): void;
}

export class WorkerProcess {
  readonly number: number;
  readonly #employer: Employer;
  #child: ChildProcess | null = null;
  /** The living process as its ports see it; each start is another holder. */
  #holder: Holder | null = null;
  #state: 'idle' | 'starting' | 'ready' | 'gone' | 'stopping' = 'idle';
  #problems: readonly string[] = [];
  #inFlight = 0;
  #restarts = 0;
  #waitMs = FIRST_RESTART_MS;
  #readySince = 0;
  #silentBeats = 0;
  #restart: NodeJS.Timeout | null = null;
  #whenEnded: () => void = () => undefined;
  readonly #expectations = new Set<Expectation>();
  /** Connections that are not sent yet, with what is done when they can not be. */
  readonly #giving = new Map<Socket, () => void>();
  #stopReport: StopReport = { answered: 0, refused: 0, left: 0 };

  constructor(number: number, employer: Employer) {
    this.number = number;
    this.#employer = employer;
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

  /** The first start. Rejects with the worker's own error; it is not tried again then. */
  async start(): Promise<void> {
    this.#state = 'starting';
    await this.#launch();
  }

  say(order: Order): void {
    // What can not be said any more is answered by the end of the process.
    if (this.#child?.connected === true) this.#child.send(order, () => undefined);
  }

  /** The first report of one of these kinds. Rejects when the process ends before. */
  expect<K extends Kind>(...kinds: readonly K[]): Promise<Extract<Report, { readonly kind: K }>> {
    return new Promise((resolve, ended) => {
      const heard = (report: Report): void => resolve(report as Extract<Report, { readonly kind: K }>);
      if (this.#child === null) ended(this.#endedError());
      else this.#expectations.add({ kinds, heard, ended });
    });
  }

  /** Its figures; null when it does not answer in time. */
  async ask(): Promise<Answer | null> {
    if (!this.isReady) return null;
    const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), ANSWER_TIMEOUT_MS).unref());
    const answer = this.expect('answer').catch(() => null);
    this.say({ kind: 'ask' });
    return Promise.race([answer, late]);
  }

  /** To be called as often as workers beat. */
  listenForBeat(): void {
    if (!this.isReady || ++this.#silentBeats < MAX_SILENT_BEATS) return;
    this.#employer.logger.error({ worker: this.number, pid: this.pid }, 'a worker does not answer any more; ending it');
    this.end();
  }

  /** At once; it is started again, unless it is to stop. */
  end(): void {
    this.#child?.kill('SIGKILL');
  }

  /** Resolves when the process has ended. */
  async stop(timeoutMs: number): Promise<void> {
    this.#state = 'stopping';
    if (this.#restart !== null) clearTimeout(this.#restart);
    if (this.#child === null) return;
    const ended = new Promise<void>((resolve) => (this.#whenEnded = resolve));
    this.expect('stopped')
      .then(({ report }) => (this.#stopReport = report))
      .catch(() => undefined);
    this.say({ kind: 'stop', timeoutMs });
    await ended;
  }

  async #launch(): Promise<void> {
    const child = this.#employer.fork(this.number);
    this.#child = child;
    this.#holder = { give: (key, connection, returned) => this.#give(child, { key, connection, returned }) };
    child.on('message', (report) => this.#hear(report as Report));
    child.once('exit', (code, signal) => {
      // What it said last may still be on its way.
      if (child.connected) child.once('disconnect', () => this.#ended(code, signal));
      else this.#ended(code, signal);
    });
    // A process that can not be started has no exit, and one that is gone no channel.
    child.on('error', (error) => {
      if (child.pid === undefined) this.#ended(null, null);
      else this.#employer.logger.debug({ worker: this.number, error }, 'a worker could not be told something');
    });
    await this.expect('born');
    if (this.#state !== 'starting') return;
    const { workers } = this.#employer;
    this.say({ kind: 'begin', number: this.number, workers, assignment: this.#employer.assignment() });
    const outcome = await this.expect('ready', 'failed');
    if (outcome.kind === 'failed') throw errorOf(outcome.fault);
    if (this.#state !== 'starting') return;
    this.#state = 'ready';
    this.#readySince = performance.now();
    this.#silentBeats = 0;
  }

  #hear(report: Report): void {
    const { ports } = this.#employer;
    if (report.kind === 'beat') {
      this.#problems = report.problems;
      this.#inFlight = report.inFlight;
      this.#silentBeats = 0;
    } else if (report.kind === 'listen') void this.#hold(report);
    else if (report.kind === 'limit') ports.limit(report.key, report.request);
    else if (report.kind === 'leave' && this.#holder !== null) ports.leave(this.#holder, report.key);
    else if (report.kind === 'closed' && this.#holder !== null) ports.closed(this.#holder, report.key);
    for (const expectation of this.#expectations) {
      if (!expectation.kinds.includes(report.kind)) continue;
      this.#expectations.delete(expectation);
      expectation.heard(report);
    }
  }

  async #hold({ key, endpoint, request }: Extract<Report, { readonly kind: 'listen' }>): Promise<void> {
    const holder = this.#holder;
    if (holder === null) return;
    try {
      const address = await this.#employer.ports.hold(holder, key, { endpoint, request });
      if (this.#holder === holder) this.say({ kind: 'opened', key, address });
      else this.#employer.ports.lose(holder);
    } catch (error) {
      this.say({ kind: 'not_opened', key, fault: faultOf(error) });
    }
  }

  #give(child: ChildProcess, { key, connection, returned }: Gift): void {
    this.#giving.set(connection, returned);
    const sent = (error: Error | null): void => {
      const isOurs = this.#giving.delete(connection);
      if (error !== null && isOurs) returned();
    };
    if (child.connected) child.send({ kind: 'connection', key } satisfies Order, connection, {}, sent);
    else sent(new Error('the worker is gone'));
  }

  #endedError(): Error {
    return new Error(`worker ${this.number} has ended`);
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    const { pid } = this;
    const before = this.#state;
    if (this.#holder !== null) this.#employer.ports.lose(this.#holder);
    this.#child = null;
    this.#holder = null;
    this.#inFlight = 0;
    const returning = [...this.#giving.values()];
    this.#giving.clear();
    for (const returned of returning) returned();
    const expectations = [...this.#expectations];
    this.#expectations.clear();
    for (const { ended } of expectations) ended(this.#endedError());
    this.#whenEnded();
    // Whoever waits for the first start is told; nobody else is asked about a stop.
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
    this.#employer.lost();
    const message = 'a worker has ended; what it had acknowledged is stored, and it is started again';
    this.#employer.logger.error({ ...fields, restart_in_ms: waitMs }, message);
    this.#restart = setTimeout(() => void this.#startAgain(), waitMs);
  }

  /** A start that fails ends the process, and its end is what starts the next one. */
  async #startAgain(): Promise<void> {
    this.#state = 'starting';
    const fields = { worker: this.number };
    try {
      await this.#launch();
      if (this.isReady) this.#employer.logger.info({ ...fields, pid: this.pid }, 'a worker has started again');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#employer.logger.error({ ...fields, error: reason }, 'a worker could not start again');
    }
  }
}
