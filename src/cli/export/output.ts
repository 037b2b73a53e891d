/** Where an export goes: standard output, or a file that appears when it is complete. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { UserError } from '../../errors.ts';
import { CompleteFile } from '../complete-file.ts';
import type { EarlyEnd } from '../early-end.ts';
import { fileFault, OTHER_PLACE } from '../../component/file-fault.ts';

export interface Output {
  write(text: string): Promise<void>;
  readonly bytes: number;
  /** The reader of the output is gone. */
  readonly isClosed: boolean;
  /** `complete`: false removes what was written. */
  close(complete: boolean): Promise<void>;
}

export async function openFile(path: string, earlyEnd: EarlyEnd): Promise<Output> {
  const file = await writing(path, () => CompleteFile.open(path, earlyEnd));
  let bytes = 0;
  return {
    write: async (text) => {
      const chunk = Buffer.from(text);
      await writing(path, () => file.write(chunk));
      bytes += chunk.length;
    },
    get bytes() {
      return bytes;
    },
    isClosed: false,
    close: async (complete) => {
      try {
        if (complete) await writing(path, () => file.finish());
      } finally {
        await file.abandon();
      }
    },
  };
}

/** A failure is one of the file system, for example a full disk, and not one of the database. */
async function writing<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isOfSystem = Object(error).code !== undefined;
    throw new UserError(`cannot write ${path}: ${fileFault(error)}`, isOfSystem ? OTHER_PLACE : null);
  }
}

/** Waits while the reader is slow, and ends when it closes, as `head` does. */
export function openStream(stream: Writable): Output {
  let bytes = 0;
  let closed = false;
  stream.on('error', () => {
    closed = true;
  });
  return {
    write: async (text) => {
      if (closed) return;
      bytes += Buffer.byteLength(text);
      if (stream.write(text)) return;
      const waited = new AbortController();
      const { signal } = waited;
      await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]).catch(() => undefined);
      waited.abort();
    },
    get bytes() {
      return bytes;
    },
    get isClosed() {
      return closed;
    },
    close: async () => undefined,
  };
}
