/**
 * Notifies systemd: ready, reloading, stopping, alive. Node.js cannot write to the notification socket, so the program
 * `systemd-notify` of systemd does it. Without NOTIFY_SOCKET in the environment no program is started.
 */
import { spawn } from 'node:child_process';
import type { Logger } from '../component/logger.ts';

const PROGRAM = 'systemd-notify';
/** The program itself waits up to 5 s until systemd has read the message. */
const PATIENCE_MS = 6_000;
/** Number of watchdog messages within the time limit of systemd. */
const SIGNS_PER_LIMIT = 2;
const MICROSECONDS_PER_MS = 1000;
/** For a shorter interval, the cost of a process per message is too high. */
const SHORTEST_INTERVAL_MS = 100;

export class ServiceManager {
  readonly #env: NodeJS.ProcessEnv;
  readonly #logger: Logger;
  readonly #status: () => string;
  readonly #intervalMs: number | null;
  #able: boolean;
  #warned = false;
  /** Messages are sent one after the other, because two processes at once have no defined order. */
  #last: Promise<void> = Promise.resolve();
  #signs: NodeJS.Timeout | null = null;
  #sending = false;

  /** `status` returns one line for `systemctl status`. */
  constructor(process: Pick<NodeJS.Process, 'env' | 'pid'>, logger: Logger, status: () => string) {
    this.#env = process.env;
    this.#logger = logger;
    this.#status = status;
    this.#able = (process.env['NOTIFY_SOCKET'] ?? '') !== '';
    this.#intervalMs = intervalOf(process);
  }

  /** Called after the start, and after every reload, successful or not. */
  ready(): void {
    this.#tell('READY=1', `STATUS=${this.#status()}`);
    if (!this.#able || this.#intervalMs === null || this.#signs !== null) return;
    // A timer of the event loop: when the loop is blocked, no message is sent.
    this.#signs = setInterval(() => this.#sign(), this.#intervalMs).unref();
  }

  reloading(): void {
    this.#tell('RELOADING=1', 'STATUS=loading the configuration again');
  }

  /** Watchdog messages continue: the time limit of the stop ends a stop that hangs. */
  stopping(): void {
    this.#tell('STOPPING=1', 'STATUS=stopping');
  }

  #sign(): void {
    if (!this.#sending) this.#tell('WATCHDOG=1', `STATUS=${this.#status()}`);
  }

  #tell(...message: readonly string[]): void {
    this.#last = this.#last.then(() => this.#send(message));
  }

  async #send(message: readonly string[]): Promise<void> {
    if (!this.#able) return;
    this.#sending = true;
    const fault = await run(message, this.#env);
    this.#sending = false;
    if (fault === null) return;
    this.#able = fault !== 'ENOENT';
    if (this.#warned) return;
    this.#warned = true;
    this.#logger.warn({ program: PROGRAM, fault }, 'the state could not be reported to systemd');
  }
}

/** The fault, or null. */
function run(message: readonly string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, message, { env, stdio: 'ignore', timeout: PATIENCE_MS });
    child.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? null : `ended with ${signal ?? code}`));
  });
}

/** Null when systemd has no watchdog for this process. */
function intervalOf({ env, pid }: Pick<NodeJS.Process, 'env' | 'pid'>): number | null {
  const limit = Number(env['WATCHDOG_USEC'] ?? '');
  if (!Number.isSafeInteger(limit) || limit <= 0) return null;
  if ((env['WATCHDOG_PID'] ?? String(pid)) !== String(pid)) return null;
  return Math.max(SHORTEST_INTERVAL_MS, limit / MICROSECONDS_PER_MS / SIGNS_PER_LIMIT);
}
