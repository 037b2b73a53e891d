/**
 * Memory in pages of its own, which return to the system when it is collected. Large arrays from malloc would not: each
 * one that is freed raises the thresholds above which glibc returns memory, up to 64 MiB at the end of its heap.
 */

/** Smaller arrays are left to the engine: views of page memory are up to 1.5 times slower. */
const LARGE_BYTES = 512 * 1024;

/** Part of the standard, but not yet of TypeScript's types. */
export interface ResizableArrayBuffer extends ArrayBuffer {
  readonly resizable: boolean;
  resize(byteLength: number): void;
}
const ResizableArrayBuffer = ArrayBuffer as unknown as new (
  byteLength: number,
  options: { maxByteLength: number },
) => ResizableArrayBuffer;

/** Throws a `RangeError` when the address space of the process is limited to less. */
export function reservePages(byteLength: number, maxByteLength: number): ResizableArrayBuffer {
  return new ResizableArrayBuffer(byteLength, { maxByteLength });
}

/** Zeroed memory for a typed array that can be large. */
export function arrayMemory(bytes: number): ArrayBuffer {
  if (bytes < LARGE_BYTES) return new ArrayBuffer(bytes);
  try {
    return reservePages(bytes, bytes);
  } catch {
    return new ArrayBuffer(bytes);
  }
}

/** Returns the pages of an array that is not used again, before it is collected. It is empty afterwards. */
export function releaseArray(array: { readonly byteLength: number; readonly buffer: ArrayBufferLike }): void {
  // Smaller arrays have no pages. Their buffer is not read: the engine would make one for an array that has none yet.
  if (array.byteLength < LARGE_BYTES) return;
  const buffer = array.buffer as ResizableArrayBuffer;
  if (buffer.resizable) buffer.resize(0);
}
