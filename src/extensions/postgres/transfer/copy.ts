/**
 * COPY as streams of blocks, in both directions, with back-pressure: a slow disk stops the reading of the connection,
 * and a slow server stops the reading of the file. Memory is bounded by a few blocks.
 */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type pg from 'pg';
import { destroyConnection } from '../connection-end.ts';
import { copyDataHead } from '../wire-pipeline.ts';

/** A block is compressed and framed as a whole. Rows are not aligned to blocks. */
export const BLOCK_BYTES = 1024 * 1024;
/** The size of the first block: most partitions are small or empty. */
const FIRST_BLOCK_BYTES = 16 * 1024;
/** Blocks that wait for the consumer before the connection is paused. */
const MAX_WAITING_BLOCKS = 4;
/** A message of CopyData is sent in parts of this size: a whole block would wait in memory behind a slow server. */
const MESSAGE_BYTES = 64 * 1024;

/** The part of pg's connection that is used here. */
interface Connection {
  readonly stream: Duplex;
  query(text: string): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

/** The number of rows of a command tag such as `COPY 64`. */
const rowsOf = (tag: string): number => Number(tag.split(' ').at(-1));

/** A running `COPY … TO STDOUT`. */
export interface CopyOut {
  readonly blocks: AsyncIterable<Buffer>;
  /** The rows so far; exact once the blocks have ended. */
  rows(): number;
}

export function copyOut(client: pg.Client, text: string): CopyOut {
  const query = new CopyOutQuery(text);
  client.query(query as unknown as pg.Submittable);
  return { blocks: blocksOf(client, query), rows: () => query.rows };
}

async function* blocksOf(client: pg.Client, query: CopyOutQuery): AsyncGenerator<Buffer> {
  let complete = false;
  try {
    for (let block = await query.next(); block !== null; block = await query.next()) yield block;
    complete = true;
  } finally {
    // The rest of the rows would arrive as the answer of the next query.
    if (!complete && !query.failed) destroyConnection(client);
  }
}

/** Runs a `COPY … FROM STDIN` with the blocks. Returns the number of rows. Rejects with the failure of the blocks. */
export async function copyIn(client: pg.Client, text: string, blocks: AsyncIterable<Buffer>): Promise<number> {
  const query = new CopyInQuery(text);
  client.query(query as unknown as pg.Submittable);
  return query.run(blocks);
}

/** The methods of a pg submittable that a COPY does not need. */
class CopyQuery {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  submit(connection: Connection): null {
    connection.query(this.#text);
    return null;
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}

class CopyOutQuery extends CopyQuery {
  rows = 0;
  readonly #blocks: Buffer[] = [];
  #block = Buffer.allocUnsafe(FIRST_BLOCK_BYTES);
  #used = 0;
  #paused: Connection | null = null;
  #ended = false;
  #failure: { readonly error: unknown } | null = null;
  #wake: () => void = () => undefined;

  get failed(): boolean {
    return this.#failure !== null;
  }

  /** The next block; null after the last. */
  async next(): Promise<Buffer | null> {
    while (this.#blocks.length === 0 && !this.#ended && this.#failure === null)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#failure !== null) throw this.#failure.error;
    const block = this.#blocks.shift() ?? null;
    if (this.#blocks.length < MAX_WAITING_BLOCKS) {
      this.#paused?.stream.resume();
      this.#paused = null;
    }
    return block;
  }

  /** The chunk belongs to the parser's buffer, which is used again. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }, connection: Connection): void {
    // One message for each row.
    this.rows++;
    for (let at = 0; at < chunk.length; ) {
      const length = chunk.copy(this.#block, this.#used, at);
      at += length;
      this.#used += length;
      if (this.#used < this.#block.length) continue;
      this.#push();
      this.#block = Buffer.allocUnsafe(BLOCK_BYTES);
    }
    if (this.#blocks.length < MAX_WAITING_BLOCKS || this.#paused !== null) return;
    connection.stream.pause();
    this.#paused = connection;
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.rows = rowsOf(text);
  }

  handleReadyForQuery(): void {
    if (this.#used > 0) this.#push();
    this.#ended = true;
    this.#wake();
  }

  handleError(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  #push(): void {
    this.#blocks.push(this.#block.subarray(0, this.#used));
    this.#used = 0;
    this.#wake();
  }
}

class CopyInQuery extends CopyQuery {
  readonly #connection: Promise<Connection>;
  readonly #finished: Promise<number>;
  #begin: (connection: Connection) => void = () => undefined;
  #resolve: (rows: number) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  readonly #failed = new AbortController();
  #rows = 0;

  constructor(text: string) {
    super(text);
    this.#connection = new Promise((resolve) => (this.#begin = resolve));
    this.#finished = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  async run(blocks: AsyncIterable<Buffer>): Promise<number> {
    // The server can refuse the statement before it asks for data, and at any moment later.
    const connection = await Promise.race([this.#connection, this.#finished.then(() => null)]);
    if (connection === null) return this.#finished;
    try {
      for await (const block of blocks) {
        if (this.#failed.signal.aborted) return await this.#finished;
        await this.#send(connection, block);
      }
      connection.endCopyFrom();
    } catch (error) {
      connection.sendCopyFail('the source failed');
      await this.#finished.catch(() => undefined);
      throw error;
    }
    return this.#finished;
  }

  async #send({ stream }: Connection, block: Buffer): Promise<void> {
    for (let at = 0; at < block.length; at += MESSAGE_BYTES) {
      const part = block.subarray(at, at + MESSAGE_BYTES);
      stream.write(copyDataHead(part.length));
      if (stream.write(part)) continue;
      const { signal } = this.#failed;
      await once(stream, 'drain', { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  handleCopyInResponse(connection: Connection): void {
    this.#begin(connection);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#rows = rowsOf(text);
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#rows);
  }

  handleError(error: unknown): void {
    this.#failed.abort();
    this.#reject(error);
  }
}
