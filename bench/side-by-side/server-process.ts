/**
 * A measured server: a process on its own core. Its processor time and memory are read from /proc together with those
 * of its children, so that a database is included.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { familyOf, type Usage, usageOf } from '../../src/cli/bench/process-family.ts';

const SERVER_CORE = '0';
const CLIENT_CORE = '1';
const START_TIMEOUT_MS = 240_000;
/** A turn ends when the server gets less than this fraction of its core. */
const MOST_STRETCH = 5;
const POLL_MS = 100;
const TAIL = 2000;
const DATABASE = 'postgres';

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** On any core, for servers that use more than one. */
  readonly isFree?: boolean;
}

export interface Memory {
  /** Resident, without the database. */
  readonly serverMiB: number;
  readonly databaseMiB: number;
}

const memoryOf = (pid: number, file: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'mu').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1] ?? 0) /
  1024;

const canPin = spawnSync('taskset', ['-c', CLIENT_CORE, 'true']).status === 0;

/** Moves this process, the client, to the other core. Returns whether there is one. */
export function pinClient(): boolean {
  return pin(process.pid, CLIENT_CORE);
}

const pin = (pid: number, core: string): boolean =>
  canPin && spawnSync('taskset', ['-acp', core, String(pid)]).status === 0;

export class ServerProcess {
  readonly #child: ChildProcess;
  /** Processes that work for this server. */
  readonly #helpers: number[] = [];
  #output = '';
  #ended = false;

  constructor({ command, args, env = {}, cwd, isFree = false }: Command) {
    const [executable, ...rest] =
      canPin && !isFree ? ['taskset', '-c', SERVER_CORE, command, ...args] : [command, ...args];
    this.#child = spawn(executable as string, rest, {
      cwd,
      env: { ...process.env, GOMAXPROCS: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const note = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-TAIL);
    };
    this.#child.stdout?.on('data', note);
    this.#child.stderr?.on('data', note);
    this.#child.once('close', () => {
      this.#ended = true;
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves when the address answers a request with any status. */
  async untilServing(url: string, pollMs = POLL_MS): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (performance.now() < deadline) {
      if (this.#ended) break;
      const answer = await fetch(url).catch(() => undefined);
      if (answer !== undefined) return void (await answer.arrayBuffer());
      await pause(pollMs);
    }
    await this.stop();
    throw new Error(`${this.#child.spawnargs.join(' ')} does not serve: ${this.#output}`);
  }

  /**
   * Adds a separately started process that works for this one, for example its database: it shares the core and is
   * measured.
   */
  takeOn(pid: number): void {
    for (const each of familyOf(pid)) pin(each, SERVER_CORE);
    this.#helpers.push(pid);
  }

  usage(): Usage {
    const each = [this.pid, ...this.#helpers].map(usageOf);
    return {
      cpuSeconds: each.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
      peakMiB: each.reduce((sum, { peakMiB }) => sum + peakMiB, 0),
    };
  }

  /** Memory now. Of pages that the processes of a database share, each process counts its part. */
  memory(): Memory {
    const pids = new Set([this.pid, ...this.#helpers].flatMap((root) => [...familyOf(root)]));
    const memory = { serverMiB: 0, databaseMiB: 0 };
    for (const pid of pids) {
      const isDatabase = readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith(DATABASE);
      if (isDatabase) memory.databaseMiB += memoryOf(pid, 'smaps_rollup', 'Pss');
      else memory.serverMiB += memoryOf(pid, 'status', 'VmRSS');
    }
    return memory;
  }

  /**
   * Becomes true when the server has used this processor time, so that other load shortens neither the warm-up nor the
   * measurement.
   */
  hasWorked(seconds: number): () => boolean {
    const until = this.usage().cpuSeconds + seconds;
    const deadline = performance.now() + seconds * 1000 * MOST_STRETCH;
    let asked = performance.now();
    let enough = false;
    return () => {
      const now = performance.now();
      if (enough || now - asked < POLL_MS) return enough;
      asked = now;
      enough = now > deadline || this.usage().cpuSeconds >= until;
      return enough;
    };
  }

  async stop(): Promise<void> {
    if (this.#ended) return;
    const closed = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), START_TIMEOUT_MS);
    await closed;
    clearTimeout(timer);
  }
}
