/**
 * The output: one write position, its bound, and the plain copies. Every writer asks for `room` before it stores; the kernels
 * may then store up to 16 bytes past what they asked for, into the slack.
 */
import { FAIL_OUTPUT, OUTPUT_BASE, OUTPUT_CAPACITY } from "../../model/layout";
import { fail } from "../fail";

/** Where the next byte goes. Only the writers of `encode/` move it. */
export let out: usize = OUTPUT_BASE;

const OUTPUT_END: usize = OUTPUT_BASE + OUTPUT_CAPACITY;
/** Room for any column that is not a text: its label and a value of fixed size. */
export const FIXED_ROOM: usize = 256;
/** Texts longer than this are escaped in pieces, so that the sixfold worst case is asked for piece by piece. */
export const PIECE: u32 = 65536;

// @ts-ignore: decorator
@inline
export function setOut(position: usize): void {
  out = position;
}

/** Refuses the request when `size` more bytes do not fit. */
// @ts-ignore: decorator
@inline
export function room(size: usize): void {
  if (size > OUTPUT_END - out) fail(FAIL_OUTPUT, 0);
}

/** The same for callers that keep their own position. */
// @ts-ignore: decorator
@inline
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

// @ts-ignore: decorator
@inline
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
