/** One daemon of the testbed: a process of the executable, restarted on the same port after each kill. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Target } from '../load/sender.ts';

export interface ReplicaOptions {
  /** The folder that holds bin/ and dist/ of the product under test. */
  readonly root: string;
  readonly folder: string;
  readonly configPath: string;
  readonly port: number;
  readonly number: number;
  /** Modules that are loaded before the product. */
  readonly preloads: readonly string[];
}

const READY = 'everything is ready';
const START_TIMEOUT_MS = 180000;
const KEPT_OUTPUT = 4000;

export class Replica implements Target {
  readonly number: number;
  readonly url: string;
  readonly #options: ReplicaOptions;
  #child: ChildProcess | null = null;
  #output = '';

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.number = options.number;
    this.url = `http://127.0.0.1:${options.port}`;
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when the daemon says that it is ready. */
  async start(): Promise<void> {
    const { root, folder, configPath, preloads } = this.#options;
    this.#output = '';
    const child = spawn(process.execPath, [join(root, 'bin/sluice.js'), 'run', '--config', configPath], {
      cwd: folder,
      env: {
        ...process.env,
        SLUICE_KEY: '',
        DATABASE_URL: '',
        NO_COLOR: '1',
        NODE_OPTIONS: preloads.map((module) => `--import ${module}`).join(' '),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(this.#failure('was not ready in time')), START_TIMEOUT_MS);
      const note = (chunk: Buffer): void => {
        appendFileSync(join(folder, 'replica.log'), chunk);
        this.#output = (this.#output + chunk.toString()).slice(-KEPT_OUTPUT);
        if (this.#output.includes(READY)) resolve();
      };
      child.stdout.on('data', note);
      child.stderr.on('data', note);
      child.once('close', () => reject(this.#failure('ended before it was ready')));
      child.once('close', () => clearTimeout(timer));
      void once(child, 'close').then(() => clearTimeout(timer));
    });
  }

  /** SIGKILL. Synchronous, so that a proxy can send it between two messages. */
  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  /** Resolves when the process has ended. */
  async ended(): Promise<void> {
    const child = this.#child;
    if (child === null || !this.isRunning) return;
    await once(child, 'exit');
  }

  #failure(what: string): Error {
    const last = this.#output.trim().split('\n').slice(-5).join('\n  ');
    return new Error(`replica ${this.number} ${what}:\n  ${last}`);
  }
}
