/**
 * A connected psql that copies files of COPY BINARY and measures the time itself: the speed of PostgreSQL's own tools.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TABLE_COLUMNS } from '../src/pdata/columns.ts';

const HEADER = Buffer.from('5047434f50590aff0d0a00' + '00000000' + '00000000', 'hex');
const TRAILER = Buffer.from([0xff, 0xff]);
const TIME = /^Time: ([\d.]+) ms/;
/** In memory where possible, so that reading the files does not count. */
const MEMORY_FOLDER = '/dev/shm';

export class Psql {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #folder: string;
  #output = '';
  #waiting: ((milliseconds: number) => void) | null = null;
  #files = 0;

  private constructor(child: ChildProcessWithoutNullStreams, folder: string) {
    this.#child = child;
    this.#folder = folder;
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      throw new Error(`psql: ${text.trim()}`);
    });
  }

  static async start(url: string): Promise<Psql> {
    const inMemory = await stat(MEMORY_FOLDER).catch(() => null);
    const folder = await mkdtemp(join(inMemory === null ? tmpdir() : MEMORY_FOLDER, 'sluice-bench-'));
    // Line buffering; otherwise psql buffers the figures.
    const child = spawn('stdbuf', ['-oL', 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', url]);
    const psql = new Psql(child, folder);
    child.stdin.write('\\timing on\n');
    return psql;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Writes the rows to a file for `copy`. */
  async prepare(chunks: readonly Buffer[]): Promise<string> {
    const path = join(this.#folder, `${this.#files++}.copy`);
    const file = await open(path, 'w');
    for (const chunk of [HEADER, ...chunks, TRAILER]) await file.write(chunk);
    await file.close();
    return path;
  }

  /** Copies a prepared file into the spans in one transaction, and removes it. Returns the milliseconds of psql. */
  async copy(path: string): Promise<number> {
    const columns = TABLE_COLUMNS.traces.map(({ name }) => name).join(', ');
    const milliseconds = await new Promise<number>((resolve) => {
      this.#waiting = resolve;
      this.#child.stdin.write(`\\copy sluice.spans (${columns}) from '${path}' (format binary)\n`);
    });
    await rm(path);
    return milliseconds;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdin.end();
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }

  #read(text: string): void {
    this.#output += text;
    for (let end = this.#output.indexOf('\n'); end >= 0; end = this.#output.indexOf('\n')) {
      const line = this.#output.slice(0, end);
      this.#output = this.#output.slice(end + 1);
      const time = TIME.exec(line)?.[1];
      if (time !== undefined) this.#waiting?.(Number(time));
    }
  }
}
