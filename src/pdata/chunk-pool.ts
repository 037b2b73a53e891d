/**
 * Buffers for bodies and encoded rows, allocated from one resizable memory that returns pages to the system. Separate
 * buffers would come from malloc, which keeps freed memory between small allocations: after a burst of large requests
 * hundreds of MiB stayed resident. Room that was used a moment ago is kept for the next requests, because new pages
 * cost more than the encoding.
 */

import { viewOf } from './buffer-view.ts';
import { type ResizableArrayBuffer, reservePages } from './page-memory.ts';

/** Chunk sizes are multiples of this. */
export const CHUNK_STEP_BYTES = 16 * 1024;
/** Address space, not memory. Beyond it chunks are separate buffers. */
const DEFAULT_MAX_BYTES = 512 * 1024 * 1024;
/** Smaller buffers are left to the engine: a view of a resizable memory costs more. */
const SMALL_BYTES = 2048;
/** The memory grows in steps of this size. */
const GROW_BYTES = 1024 * 1024;
/**
 * Memory unused for this time is returned, in parts of this size: the engine clears it first, 4 MiB per millisecond.
 */
const TRIM_MS = 5000;
const TRIM_BYTES = 8 * 1024 * 1024;
const NEXT_TRIM_MS = 20;

/** A part of the memory that no chunk uses. */
interface Gap {
  readonly start: number;
  readonly end: number;
}

export class ChunkPool {
  readonly #memory: ResizableArrayBuffer;
  /** By address, and never adjacent. Allocation is first-fit, so the end of the memory becomes free. */
  readonly #gaps: Gap[] = [];
  #usedBytes = 0;
  /** The highest end of a chunk since the last trim. */
  #highest = 0;
  readonly #trimMs: number;
  #trimming: NodeJS.Timeout | null = null;

  /** `trimMs`: how long memory must be unused before it is returned. */
  constructor(maxBytes = DEFAULT_MAX_BYTES, trimMs = TRIM_MS) {
    this.#trimMs = trimMs;
    this.#memory = reserve(maxBytes);
  }

  /** The memory that may be resident: the chunks in use and what was used a moment ago. */
  get heldBytes(): number {
    return this.#memory.byteLength;
  }

  /** Bytes of the chunks in use. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** A buffer of `size` bytes. It is not cleared. */
  take(size: number): Buffer {
    if (size <= SMALL_BYTES) return Buffer.allocUnsafe(size);
    const length = chunkBytes(size);
    const start = this.#place(length) ?? this.#grow(length);
    if (start === null) return Buffer.allocUnsafeSlow(size);
    this.#usedBytes += length;
    this.#highest = Math.max(this.#highest, start + length);
    return viewOf(this.#memory, start, size);
  }

  /** Returns a buffer of `take`. The caller may not use or read it afterwards: its pages may be gone. */
  give(chunk: Buffer): void {
    if (chunk.buffer !== this.#memory) return;
    const length = chunkBytes(chunk.length);
    this.#usedBytes -= length;
    this.#free(chunk.byteOffset, chunk.byteOffset + length);
    this.#trimLater(this.#trimMs);
  }

  #place(length: number): number | null {
    for (const [index, { start, end }] of this.#gaps.entries()) {
      if (end - start < length) continue;
      if (end - start === length) this.#gaps.splice(index, 1);
      else this.#gaps[index] = { start: start + length, end };
      return start;
    }
    return null;
  }

  /** Makes room at the end; null when there is none. */
  #grow(length: number): number | null {
    const end = this.#memory.byteLength;
    const last = this.#gaps.at(-1);
    const start = last !== undefined && last.end === end ? last.start : end;
    const wanted = Math.ceil((start + length) / GROW_BYTES) * GROW_BYTES;
    if (!resize(this.#memory, wanted)) return null;
    this.#free(end, wanted);
    return this.#place(length);
  }

  #free(start: number, end: number): void {
    const gaps = this.#gaps;
    let index = gaps.length;
    while (index > 0 && (gaps[index - 1] as Gap).start > start) index--;
    const before = gaps[index - 1];
    const after = gaps[index];
    const joinsBefore = before !== undefined && before.end === start;
    const joinsAfter = after !== undefined && after.start === end;
    gaps.splice(index - (joinsBefore ? 1 : 0), (joinsBefore ? 1 : 0) + (joinsAfter ? 1 : 0), {
      start: joinsBefore ? before.start : start,
      end: joinsAfter ? after.end : end,
    });
  }

  #trimLater(milliseconds: number): void {
    if (this.#trimming !== null) return;
    this.#trimming = setTimeout(() => this.#trim(), milliseconds);
    this.#trimming.unref();
  }

  /** Returns a part of the memory that was not used since the last trim. */
  #trim(): void {
    this.#trimming = null;
    const end = this.#memory.byteLength;
    const last = this.#gaps.at(-1);
    const used = last !== undefined && last.end === end ? last.start : end;
    const needed = Math.max(used, this.#highest);
    this.#highest = used;
    const next = Math.max(needed, end - TRIM_BYTES);
    if (next < end && last !== undefined) {
      this.#gaps.pop();
      if (last.start < next) this.#gaps.push({ start: last.start, end: next });
      this.#memory.resize(next);
    }
    if (next > used) this.#trimLater(next < end ? NEXT_TRIM_MS : this.#trimMs);
  }
}

/** The memory that a buffer of this size takes. */
function chunkBytes(size: number): number {
  return Math.ceil(size / CHUNK_STEP_BYTES) * CHUNK_STEP_BYTES;
}

/** The address space of the process may be limited; then all chunks are separate buffers. */
function reserve(maxByteLength: number): ResizableArrayBuffer {
  try {
    return reservePages(0, maxByteLength);
  } catch {
    return reservePages(0, 0);
  }
}

/** False when the memory may not grow that far, or the system has no more. */
function resize(memory: ResizableArrayBuffer, byteLength: number): boolean {
  try {
    memory.resize(byteLength);
    return true;
  } catch {
    return false;
  }
}
