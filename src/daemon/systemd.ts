/**
 * Tells systemd how the daemon is doing: ready, loading again, stopping, alive. Node.js can not write to a notification socket, so
 * the program that comes with systemd does. Without NOTIFY_SOCKET in the environment nothing is ever started.
 */
import { spawn } from 'node:child_process';
import type { Logger } from '../component/logger.ts';

const PROGRAM = 'systemd-notify';
/** The program itself waits up to 5 s for systemd to have taken the message. */
const PATIENCE_MS = 6_000;
/** Signs of life are sent so many times in the time after which systemd would restart the daemon. */
const SIGNS_PER_LIMIT = 2;
const MICROSECONDS_PER_MS = 1000;
/** Shorter limits than twice this are not worth a process for each sign. */
const SHORTEST_INTERVAL_MS = 100;

export class ServiceManager {
  readonly #env: NodeJS.ProcessEnv;
  readonly #logger: Logger;
  readonly #status: () => string;
  readonly #intervalMs: number | null;
  #able: boolean;
  #warned = false;
  /** One message after the other: which of two processes is first would be chance. */
  #last: Promise<void> = Promise.resolve();
  #signs: NodeJS.Timeout | null = null;
  #sending = false;

  /** `status` is a line for people, as `systemctl status` shows it. */
  constructor(process: Pick<NodeJS.Process, 'env' | 'pid'>, logger: Logger, status: () => string) {
    this.#env = process.env;
    this.#logger = logger;
    this.#status = status;
    this.#able = (process.env['NOTIFY_SOCKET'] ?? '') !== '';
    this.#intervalMs = intervalOf(process);
  }

  /** At the start, and again after a reload, whatever became of it. */
  ready(): void {
    this.#tell('READY=1', `STATUS=${this.#status()}`);
    if (!this.#able || this.#intervalMs === null || this.#signs !== null) return;
    // A timer of the event loop: when that stands still, no sign is sent.
    this.#signs = setInterval(() => this.#sign(), this.#intervalMs).unref();
  }

  reloading(): void {
    this.#tell('RELOADING=1', 'STATUS=loading the configuration again');
  }

  /** Signs of life go on: a stop that hangs is for the time limit of the stop to end. */
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
    this.#logger.warn({ program: PROGRAM, fault }, 'systemd could not be told how the daemon is doing');
  }
}

/** What went wrong, if anything. */
function run(message: readonly string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, message, { env, stdio: 'ignore', timeout: PATIENCE_MS });
    child.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? null : `ended with ${signal ?? code}`));
  });
}

/** Null where systemd does not watch, or watches another process. */
function intervalOf({ env, pid }: Pick<NodeJS.Process, 'env' | 'pid'>): number | null {
  const limit = Number(env['WATCHDOG_USEC'] ?? '');
  if (!Number.isSafeInteger(limit) || limit <= 0) return null;
  if ((env['WATCHDOG_PID'] ?? String(pid)) !== String(pid)) return null;
  return Math.max(SHORTEST_INTERVAL_MS, limit / MICROSECONDS_PER_MS / SIGNS_PER_LIMIT);
}
