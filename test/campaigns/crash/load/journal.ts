/**
 * What the sender knows, synced to a file before each request and after each answer. The checker reads only this file.
 */
import { type FileHandle, open, readFile } from 'node:fs/promises';
import type { Body } from './body.ts';

/** `unknown`: no answer came, so the request may or may not have been stored. */
export type Status = number | 'unknown';

/** A body without its bytes. */
export interface BodyEntry extends Omit<Body, 'bytes' | 'tenant'> {
  readonly entry: 'body';
  readonly project: string;
  readonly cap: number | null;
}

export interface SendEntry {
  readonly entry: 'send';
  readonly send: number;
  readonly body: number;
  readonly replica: number;
  readonly at: number;
}

export interface AnswerEntry {
  readonly entry: 'answer';
  readonly send: number;
  readonly body: number;
  readonly status: Status;
  /** Whether the commit was visible in the database when the 200 arrived; null: not known. */
  readonly committed: boolean | null;
  readonly at: number;
}

export type Entry = BodyEntry | SendEntry | AnswerEntry;

export class Journal {
  readonly path: string;
  readonly #handle: FileHandle;
  #pending: string[] = [];
  #flushing: Promise<void> | null = null;

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  static async create(path: string): Promise<Journal> {
    return new Journal(path, await open(path, 'ax'));
  }

  /** Resolves when the entry is on disk. Entries that are written during a sync share the next one. */
  async write(entry: Entry): Promise<void> {
    this.#pending.push(`${JSON.stringify(entry)}\n`);
    // The running flush may have started without this line; then the next flush writes it.
    if (this.#flushing !== null) await this.#flushing;
    if (this.#pending.length > 0) this.#flushing ??= this.#flush();
    if (this.#flushing !== null) await this.#flushing;
  }

  async close(): Promise<void> {
    await this.#flushing;
    await this.#handle.close();
  }

  static async read(path: string): Promise<readonly Entry[]> {
    const lines = (await readFile(path, 'utf8')).split('\n');
    return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Entry]));
  }

  async #flush(): Promise<void> {
    try {
      const text = this.#pending.join('');
      this.#pending = [];
      await this.#handle.write(text);
      await this.#handle.datasync();
    } finally {
      this.#flushing = null;
    }
  }
}

export function entryOf({ bytes: _bytes, tenant, ...facts }: Body): BodyEntry {
  return { entry: 'body', ...facts, project: tenant.project, cap: tenant.cap ?? null };
}
