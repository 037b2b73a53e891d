/** A running PostgreSQL server process ("postmaster"): our child, or one that outlived an earlier daemon. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { constants, open, readdir, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { HostProcess } from '../../../component/component.ts';
import type { ServerFolder } from './server-folder.ts';
import { isAlive } from '../../../component/process-life.ts';
import { CLUSTER_SETTING } from './host-process.ts';
import type { Runtime } from './runtime.ts';
import { waitFor } from './wait.ts';

const run = promisify(execFile);
/** The interval of the check whether a server that is not our child still runs. */
const WATCH_MS = 1_000;
/** The time for a clean stop, after which an immediate shutdown is requested. */
const STOP_MS = 10_000;
/** The time for an immediate shutdown, after which the process is killed, and then for the end of the process. */
const QUIT_MS = 5_000;
const TAIL_BYTES = 4_096;
/** The working directory, by a path that is reachable from inside even when its parents are closed. */
export const INSIDE = '/proc/self/cwd';
/** Recreated for each start; a link at its path is not followed. */
const START_LOG_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0);

export interface LaunchOptions {
  readonly serverFolder: ServerFolder;
  readonly runtime: Runtime;
  readonly host: HostProcess;
  readonly environment: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string>>;
}

export class Postmaster {
  readonly pid: number;
  readonly #host: HostProcess;
  readonly #child: ChildProcess | undefined;
  #gone = false;

  private constructor(pid: number, host: HostProcess, child?: ChildProcess) {
    this.pid = pid;
    this.#host = host;
    this.#child = child;
    child?.once('exit', () => {
      this.#gone = true;
    });
  }

  static adopt(pid: number, host: HostProcess): Postmaster {
    return new Postmaster(pid, host);
  }

  /**
   * Starts the server in its own session, so that neither the terminal's Ctrl-C nor the death of this process reaches
   * it. Its output goes to a file; a pipe would break with this process.
   */
  static async launch(options: LaunchOptions): Promise<Postmaster> {
    const { serverFolder, runtime, host } = options;
    const output = await open(join(serverFolder.path, 'start.log'), START_LOG_FLAGS, 0o644);
    try {
      const inside = serverFolder.closed ? { [CLUSTER_SETTING]: serverFolder.cluster } : {};
      const settings = Object.entries({ ...options.settings, ...inside }).flatMap((pair) => ['-c', pair.join('=')]);
      const child = spawn(runtime.postgres, ['-D', serverFolder.closed ? INSIDE : serverFolder.cluster, ...settings], {
        ...serverFolder.identity,
        cwd: serverFolder.closed ? serverFolder.cluster : serverFolder.path,
        env: options.environment,
        detached: true,
        windowsHide: true,
        stdio: ['ignore', output.fd, output.fd],
      });
      await new Promise<void>((resolve, reject) => {
        child.once('error', reject);
        child.once('spawn', resolve);
      });
      child.on('error', () => undefined);
      child.unref();
      return new Postmaster(child.pid ?? 0, host, child);
    } finally {
      await output.close();
    }
  }

  async isAlive(): Promise<boolean> {
    if (this.#child !== undefined) return !this.#gone;
    return !this.#gone && (await isAlive(this.#host, this.pid));
  }

  /** Calls back once when the server has ended. Returns the function that unsubscribes. */
  watch(onGone: () => void): () => void {
    if (this.#child !== undefined) {
      const child = this.#child;
      if (this.#gone) queueMicrotask(onGone);
      child.once('exit', onGone);
      return () => child.off('exit', onGone);
    }
    const timer = setInterval(async () => {
      if (await this.isAlive()) return;
      clearInterval(timer);
      if (this.#gone) return;
      this.#gone = true;
      onGone();
    }, WATCH_MS).unref();
    return () => clearInterval(timer);
  }

  /** Waits until the process has ended; false at the timeout. */
  async waitGone(timeoutMs: number): Promise<boolean> {
    return (await waitFor(async () => ((await this.isAlive()) ? undefined : true), { timeoutMs })) ?? false;
  }

  /**
   * Ends the server: connections are cut and all data is written. After a time limit it continues with an
   * immediate shutdown and then a kill.
   */
  async stop(serverFolder: ServerFolder, runtime: Runtime | undefined): Promise<'clean' | 'forced'> {
    if (platform() === 'win32' && runtime !== undefined) {
      await run(runtime.pgCtl, ['stop', '-D', serverFolder.cluster, '-m', 'fast']).catch(() => undefined);
    } else this.#signal('SIGINT');
    if (await this.waitGone(STOP_MS)) return 'clean';
    this.#signal('SIGQUIT');
    if (await this.waitGone(QUIT_MS)) return 'forced';
    this.#signal('SIGKILL');
    await this.waitGone(QUIT_MS);
    return 'forced';
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      this.#host.kill(this.pid, signal);
    } catch {
      // It ended between the check and the signal.
    }
  }
}

/** The folder of the server's log files. A server that was started inside its folder can write nowhere else. */
function logFolder(serverFolder: ServerFolder): string {
  return join(serverFolder.closed ? serverFolder.cluster : serverFolder.path, 'log');
}

/** The last errors of the server, from its output and its newest log file. */
export async function lastWords(serverFolder: ServerFolder): Promise<string> {
  const folder = logFolder(serverFolder);
  const logs = await readdir(folder).catch(() => []);
  const paths = [join(serverFolder.path, 'start.log'), ...logs.map((name) => join(folder, name))];
  const files = await Promise.all(
    paths.map(async (path) => ({ path, time: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const [start = '', newest = ''] = await Promise.all([
    tail(paths[0]),
    tail(files.slice(1).sort((a, b) => b.time - a.time)[0]?.path),
  ]);
  const complaint = /FATAL|PANIC|ERROR|error|HINT/;
  // Refusals of connections, such as those that ask whether it is ready, hide why it has ended.
  const refusal = /FATAL: {2}the database system is /;
  const lines = `${newest}\n${start}`.split('\n').filter((line) => complaint.test(line) && !refusal.test(line));
  return lines.slice(-3).join(' · ') || start.trim().split('\n').slice(-1).join();
}

/** The end of a log of any size. */
async function tail(path: string | undefined): Promise<string> {
  if (path === undefined) return '';
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(TAIL_BYTES),
      0,
      TAIL_BYTES,
      Math.max(0, size - TAIL_BYTES),
    );
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return '';
  } finally {
    await file.close();
  }
}
