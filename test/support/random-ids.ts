/** Random ids. Bytes are taken from a block: each call of `randomBytes` costs ten times as much as making the span. */
import { randomBytes } from 'node:crypto';

const BLOCK_BYTES = 16_384;
let block = Buffer.alloc(0);
let used = 0;

/** A random id of so many bytes, in hexadecimal. */
export function randomId(bytes: number): string {
  if (used + bytes > block.length) {
    block = randomBytes(BLOCK_BYTES);
    used = 0;
  }
  used += bytes;
  return block.toString('hex', used - bytes, used);
}
