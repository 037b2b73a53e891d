/** Reads a small file that an operator named. A wrong path must neither block the process nor fill its memory. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Larger files cannot be certificates or keys. */
export const MAX_TLS_FILE_BYTES = 1_048_576;
const CHUNK_BYTES = 65_536;

export interface FileLimits {
  readonly maxBytes: number;
  /** Without them the file must be a regular one. With them the call waits for the writer, as other commands do. */
  readonly pipes?: boolean;
}

export function readLimitedFile(path: string, { maxBytes, pipes = false }: FileLimits): Buffer {
  // The open of a pipe without a writer would wait.
  const descriptor = openSync(path, constants.O_RDONLY | (pipes ? 0 : (constants.O_NONBLOCK ?? 0)));
  try {
    const status = fstatSync(descriptor);
    if (status.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
    if (!pipes && !status.isFile()) throw new Error('it is not a file');
    if (status.size > maxBytes) throw tooLarge(maxBytes);
    return readAll(descriptor, maxBytes);
  } finally {
    closeSync(descriptor);
  }
}

/** Files of /proc and devices have no size, so the bytes are counted. */
function readAll(descriptor: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  for (let total = 0; total <= maxBytes; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const count = readSync(descriptor, chunk);
    if (count === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, count));
    total += count;
  }
  throw tooLarge(maxBytes);
}

const tooLarge = (maxBytes: number): Error => new Error(`it is larger than ${maxBytes} bytes`);
