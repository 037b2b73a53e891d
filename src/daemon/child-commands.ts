/** Runs commands of Sluice as child processes, with the program, configuration and environment of this one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { CommandSession, CommandWatch, OwnCommands } from '../component/capabilities/own-commands.ts';
import { onLines } from '../component/lines.ts';
import { yieldToIngest } from '../component/process-priority.ts';
import type { DaemonHost } from './daemon-host.ts';

/** After this time a process that was asked to end is killed. */
const END_MS = 5_000;
/** The last lines explain a failure. */
const LAST_LINES = 4;

interface Answer {
  resolve(text: string): void;
  reject(error: unknown): void;
}

export class ChildCommands implements OwnCommands {
  readonly #host: Pick<DaemonHost, 'process' | 'configWords'>;

  constructor(host: Pick<DaemonHost, 'process' | 'configWords'>) {
    this.#host = host;
  }

  async run(words: readonly string[], watch: CommandWatch): Promise<string> {
    const { child, ended } = await this.#start(words, watch, constants.priority.PRIORITY_LOW);
    const printed: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => printed.push(chunk));
    child.stdin.end();
    await ended;
    return Buffer.concat(printed).toString();
  }

  async open(words: readonly string[], watch: CommandWatch): Promise<CommandSession> {
    // A caller waits for each answer.
    const { child, ended } = await this.#start(words, watch, constants.priority.PRIORITY_BELOW_NORMAL);
    const waiting: Answer[] = [];
    onLines(child.stdout, (text) => waiting.shift()?.resolve(text));
    const whole = ended.catch((error: unknown) => error).then((error) => error ?? new Error('it ended'));
    void whole.then((error) => {
      for (const { reject } of waiting.splice(0)) reject(error);
    });
    return {
      ask: (line) => {
        if (child.exitCode !== null || child.signalCode !== null) return whole.then((error) => Promise.reject(error));
        return new Promise((resolve, reject) => {
          waiting.push({ resolve, reject });
          child.stdin.write(`${line}\n`);
        });
      },
      end: () => child.stdin.end(),
      ended: whole.then(() => undefined),
    };
  }

  /** Rejects when the command cannot be started. `ended` rejects when it fails. */
  async #start(words: readonly string[], { signal, line }: CommandWatch, priority: number) {
    const { process, configWords } = this.#host;
    const { execPath, execArgv, argv, env } = process;
    const child = spawn(execPath, [...execArgv, argv[1] ?? '', ...words, ...configWords], {
      cwd: process.cwd(),
      // Only the daemon notifies systemd.
      env: { ...env, NO_COLOR: '1', NOTIFY_SOCKET: undefined, WATCHDOG_USEC: undefined },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    // When no file descriptor is free, spawn() returns a child without streams, which then emits `error`.
    await once(child, 'spawn');
    // Before it has threads, which have the priority of the first one.
    yieldToIngest(child.pid, priority);
    // The process has ended, which `ended` reports.
    child.stdin.on('error', () => undefined);
    const last: string[] = [];
    onLines(child.stderr, (text) => {
      last.push(text.trim());
      if (last.length > LAST_LINES) last.shift();
      line(text);
    });
    const end = (): void => {
      child.kill('SIGTERM');
      setTimeout(() => child.kill('SIGKILL'), END_MS).unref();
    };
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
    const ended = new Promise<void>((resolve, reject) => {
      child.on('error', reject);
      child.once('close', (code, by) => {
        signal.removeEventListener('abort', end);
        if (code === 0) resolve();
        else reject(new Error([code === null ? `ended by ${by}` : `exit code ${code}`, ...last].join('; ')));
      });
    });
    return { child, ended };
  }
}
