/**
 * Finds the end of an NDJSON file: the end of its last whole line, and whether the rest is a torn line of this
 * exporter.
 */
import type { FileHandle } from 'node:fs/promises';

/** Every line of this exporter begins with its first key. */
const LINE_START = Buffer.from('{"signal":"');
const NEWLINE = 10;
/** The size of one read of the backward search. */
const BLOCK_BYTES = 65536;

/** The offset after the last line break before `size`; 0 when there is none. */
export async function lastLineEnd(handle: FileHandle, size: number): Promise<number> {
  const buffer = Buffer.alloc(BLOCK_BYTES);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, end - start, start);
    const newline = buffer.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (newline >= 0) return start + newline + 1;
    end = start;
  }
  return 0;
}

/**
 * Whether the bytes from `start` to `size` begin a line of this exporter. Zero bytes count too: after a power cut the
 * file system may have recorded the length of an append but not its bytes.
 */
export async function isTornLine(handle: FileHandle, start: number, size: number): Promise<boolean> {
  const head = Buffer.alloc(Math.min(LINE_START.length, size - start));
  const { bytesRead } = await handle.read(head, 0, head.length, start);
  const written = head.subarray(0, bytesRead);
  const zeros = written.indexOf(0);
  const text = zeros === -1 ? written : written.subarray(0, zeros);
  return (
    LINE_START.subarray(0, text.length).equals(text) &&
    (zeros === -1 || written.subarray(zeros).every((byte) => byte === 0))
  );
}

/** Whether the file ends with an append of `bytes` that begins at the start of a line. */
export async function endsWithLines(handle: FileHandle, size: number, bytes: number): Promise<boolean> {
  if (size <= bytes) return size === bytes;
  const before = Buffer.alloc(1);
  await handle.read(before, 0, 1, size - bytes - 1);
  return before[0] === NEWLINE;
}
