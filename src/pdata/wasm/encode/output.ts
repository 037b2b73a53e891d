/**
 * The output: one write position, its limit, and plain copies. Every writer requests `room` before it stores; the
 * kernels may then store up to 16 bytes past it, into the slack.
 */
import { FAIL_OUTPUT, HEADER_BASE, HEADER_OUTPUT_LIMIT, OUTPUT_BASE, OUTPUT_CAPACITY } from '../../layout';
import { fail } from '../fail';

/** The address of the next byte. Only the writers of `encode/` change it. */
export let out: usize = OUTPUT_BASE;

const OUTPUT_END: usize = OUTPUT_BASE + OUTPUT_CAPACITY;
/** Room for any column that is not a text: its label and a value of fixed size. */
export const FIXED_ROOM: usize = 256;
/** Longer texts are escaped in pieces, so that room for the sixfold worst case is requested piece by piece. */
export const PIECE: u32 = 65536;

/** Rows beyond this address exceed the limit of the request. */
let limit: usize = OUTPUT_END;

export function setOut(position: usize): void {
  out = position;
}

/** Called at the beginning of each piece. */
export function beginOutput(): void {
  out = OUTPUT_BASE;
  limit = <usize>OUTPUT_BASE + <usize>min(load<u32>(HEADER_BASE, HEADER_OUTPUT_LIMIT), <u32>OUTPUT_CAPACITY);
}

/** Begins a rendering for the host, which does not count as rows. */
export function beginRendering(): void {
  out = OUTPUT_BASE;
  limit = OUTPUT_END;
}

/**
 * Refuses the request when its rows are too large already. Without this, one record could fill the whole output, and
 * the touched memory would stay with the process.
 */
export function checkLimit(): void {
  if (out > limit) fail(FAIL_OUTPUT, 0);
}

/** Refuses the request when `size` more bytes do not fit. */
// @ts-ignore: decorator
@inline
export function room(size: usize): void {
  if (size > OUTPUT_END - out) fail(FAIL_OUTPUT, 0);
}

/** As `room`, for callers with their own position. */
export function roomAt(target: usize, size: usize): void {
  if (target > OUTPUT_END || size > OUTPUT_END - target) fail(FAIL_OUTPUT, 0);
}

/** Copies bytes and returns the position after them. May store 16 bytes past the end when `length` is small. */
// @ts-ignore: decorator
@inline
export function copyBytes(target: usize, source: usize, length: usize): usize {
  if (length <= 64) {
    v128.store(target, v128.load(source));
    if (length > 16) {
      v128.store(target, v128.load(source, 16), 16);
      if (length > 32) {
        v128.store(target, v128.load(source, 32), 32);
        v128.store(target, v128.load(source, 48), 48);
      }
    }
  } else {
    memory.copy(target, source, length);
  }
  return target + length;
}

export function putByte(byte: u32): void {
  store<u8>(out, byte);
  out += 1;
}

/** Writes a short ASCII literal. */
// @ts-ignore: decorator
@inline
export function put(text: string): void {
  let from = changetype<usize>(text);
  const length = <usize>text.length;
  const end = out + length;
  for (let to = out; to < end; to += 8, from += 16) {
    const units = v128.load(from);
    v128.store64_lane(to, i8x16.narrow_i16x8_u(units, units), 0);
  }
  out = end;
}

/** Begins a JSON list or object and returns the address of its first item. */
// @ts-ignore: decorator
@inline
export function openList(bracket: u32): usize {
  room(FIXED_ROOM);
  putByte(bracket);
  return out;
}

/** Ends a list whose items each ended with a comma. */
// @ts-ignore: decorator
@inline
export function closeList(start: usize, bracket: u32): void {
  if (out > start) store<u8>(out - 1, bracket);
  else putByte(bracket);
}
