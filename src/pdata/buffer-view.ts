/**
 * Buffers over resizable memory. V8 makes a new hidden class for each `Buffer` that is created over one, also by
 * `Buffer.subarray`. Functions that get many hidden classes stay slow, and the classes themselves must be collected. A
 * `Uint8Array` has one hidden class for all resizable memories, and keeps one after its prototype was replaced.
 */

/** Part of the standard, but not yet of TypeScript's types. */
type Memory = ArrayBufferLike & { readonly resizable?: boolean };

export function viewOf(memory: ArrayBufferLike, offset: number, length: number): Buffer {
  return Object.setPrototypeOf(new Uint8Array(memory, offset, length), Buffer.prototype) as Buffer;
}

/** `bytes.subarray(start, end)`, for bytes over any memory. The bytes themselves when the part is the whole. */
export function partOf<Bytes extends Uint8Array>(bytes: Bytes, start: number, end: number): Bytes | Buffer;
export function partOf(bytes: Buffer, start: number, end: number): Buffer;
export function partOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  if (start === 0 && end === bytes.length) return bytes;
  const memory: Memory = bytes.buffer;
  return memory.resizable === true ? viewOf(memory, bytes.byteOffset + start, end - start) : bytes.subarray(start, end);
}
