/** Reads a configuration file as text, within limits, or reports why it cannot be read. */
import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Diagnostics } from './diagnostics.ts';
import type { Source } from './source.ts';
import { errorCode } from '../errors.ts';

export const MAX_FILE_BYTES = 512 * 1024;
/** Reading a pipe ends after this time. */
const PIPE_PATIENCE_MS = 1_000;
const PIPE_POLL_MS = 5;
const CHUNK_BYTES = 64 * 1024;

const IS_FOLDER = 'is a directory';
const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read (permission denied)',
  EPERM: 'may not be read (permission denied)',
  ENOTDIR: 'does not exist: a part of its path is not a directory',
  ELOOP: 'is a loop of symbolic links',
  ENAMETOOLONG: 'has too long a name',
};

const READABLE = 'Give the user of this process the right to read it, and to enter its folder.';
const HINTS: Readonly<Record<string, string>> = { EACCES: READABLE, EPERM: READABLE };

/** Null when the file cannot be used; the problem is then reported. */
export type ReadSource = (name: string, path: string, diagnostics: Diagnostics) => Source | null;

export function readSource(name: string, path: string, diagnostics: Diagnostics): Source | null {
  const refuse = (what: string, hint: string | null = null): null => {
    diagnostics.error(null, `the configuration file ${name} ${what}`, hint);
    return null;
  };
  let bytes: Buffer | string;
  try {
    bytes = readBounded(path);
  } catch (error) {
    const code = errorCode(error);
    return refuse(
      FAULTS[code] ?? `cannot be read (${code || 'unknown fault'})`,
      code === 'ENOENT' ? missing(name, path) : (HINTS[code] ?? null),
    );
  }
  if (typeof bytes === 'string') return refuse(bytes, bytes === IS_FOLDER ? 'Name a file in it.' : null);
  if (bytes.includes(0)) return refuse('is not UTF-8 text', 'is this really a YAML file? If so, save it as UTF-8.');
  const source = { name, text: new TextDecoder().decode(bytes) };
  if (isUtf8(bytes)) return source;
  const origin = { source, offset: source.text.indexOf(REPLACEMENT), length: 1 };
  diagnostics.error(origin, 'not UTF-8 text', 'save the file as UTF-8');
  return null;
}

/** What the decoder puts in the place of bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/** How to name a file that exists. */
function missing(name: string, path: string): string | null {
  if (name.includes(',')) return 'Several files are given as --config FIRST --config SECOND.';
  return name === path ? null : `It was looked for at ${path}.`;
}

/**
 * Returns bytes, or a text that says why there are none. Opened without blocking: a pipe without a writer must not hang
 * the start.
 */
function readBounded(path: string): Buffer | string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) return IS_FOLDER;
    if (stat.size > MAX_FILE_BYTES) return `is larger than ${MAX_FILE_BYTES} bytes`;
    return readAll(file);
  } finally {
    closeSync(file);
  }
}

function readAll(file: number): Buffer | string {
  const chunks: Buffer[] = [];
  const until = Date.now() + PIPE_PATIENCE_MS;
  for (let total = 0; total <= MAX_FILE_BYTES; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const count = readSome(file, chunk);
    if (count === 0) return Buffer.concat(chunks);
    if (count === null) {
      if (Date.now() > until) return 'gave no data within a second';
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PIPE_POLL_MS);
      continue;
    }
    chunks.push(chunk.subarray(0, count));
    total += count;
  }
  return `is larger than ${MAX_FILE_BYTES} bytes`;
}

/** Null when a pipe has no data yet. */
function readSome(file: number, chunk: Buffer): number | null {
  try {
    return readSync(file, chunk, 0, chunk.length, null);
  } catch (error) {
    if (errorCode(error) === 'EAGAIN') return null;
    throw error;
  }
}
