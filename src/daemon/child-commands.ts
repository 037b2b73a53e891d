/** Runs commands of Sluice as child processes, with the program, configuration and environment of this one. */
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import type { CommandWatch, OwnCommands } from '../component/capabilities/own-commands.ts';
import type { DaemonHost } from './daemon-host.ts';

/** After this time a process that was told to end is killed. */
const END_MS = 5_000;
/** The last lines explain a failure. */
const LAST_LINES = 4;

export class ChildCommands implements OwnCommands {
  readonly #host: Pick<DaemonHost, 'process' | 'configWords'>;

  constructor(host: Pick<DaemonHost, 'process' | 'configWords'>) {
    this.#host = host;
  }

  run(words: readonly string[], { signal, line }: CommandWatch): Promise<string> {
    const { process, configWords } = this.#host;
    const { execPath, execArgv, argv, env } = process;
    const child = spawn(execPath, [...execArgv, argv[1] ?? '', ...words, ...configWords], {
      cwd: process.cwd(),
      // Only the daemon notifies systemd.
      env: { ...env, NO_COLOR: '1', NOTIFY_SOCKET: undefined, WATCHDOG_USEC: undefined },
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    yieldToIngest(child.pid);
    const printed: Buffer[] = [];
    const last: string[] = [];
    child.stdout.on('data', (chunk: Buffer) => printed.push(chunk));
    createInterface({ input: child.stderr }).on('line', (text) => {
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
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, by) => {
        signal.removeEventListener('abort', end);
        if (code === 0) resolve(Buffer.concat(printed).toString());
        else reject(new Error([code === null ? `ended by ${by}` : `exit code ${code}`, ...last].join('; ')));
      });
    });
  }
}

/** Before the process has threads, which have the priority of the first one. */
function yieldToIngest(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It ended, or a sandbox refuses it.
  }
}
