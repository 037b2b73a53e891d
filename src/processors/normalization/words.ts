/**
 * A set of words that can be looked up by the bytes of a text in linear memory, without making a string of it. Case does not
 * matter: senders agree on words more than on their case.
 */
import type { Memory } from '../../model/memory.ts';

const MAX_WORD_BYTES = 96;
const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
const CASE_BIT = 0x20;

export class Words {
  readonly #numbers = new Map<string, number>();
  readonly #buckets = new Map<number, { readonly bytes: Buffer; readonly number: number }[]>();

  /** The number of a word, given to it now if it is new. Numbers start at 1. */
  add(word: string): number {
    const folded = word.toLowerCase();
    const known = this.#numbers.get(folded);
    if (known !== undefined) return known;
    const bytes = Buffer.from(folded);
    const number = this.#numbers.size + 1;
    this.#numbers.set(folded, number);
    const hash = hashOf(bytes, 0, bytes.length);
    const bucket = this.#buckets.get(hash);
    if (bucket === undefined) this.#buckets.set(hash, [{ bytes, number }]);
    else bucket.push({ bytes, number });
    return number;
  }

  get count(): number {
    return this.#numbers.size;
  }

  /** 0: not a word of ours. */
  ofString(text: string): number {
    return this.#numbers.get(text.toLowerCase()) ?? 0;
  }

  ofText(memory: Memory, offset: number, length: number): number {
    if (length === 0 || length > MAX_WORD_BYTES) return 0;
    const bucket = this.#buckets.get(hashOf(memory.u8, offset, length));
    if (bucket === undefined) return 0;
    for (const { bytes, number } of bucket) if (same(bytes, memory.u8, offset, length)) return number;
    return 0;
  }
}

function hashOf(bytes: Uint8Array, offset: number, length: number): number {
  let hash = FNV_BASIS;
  for (let index = offset; index < offset + length; index++) {
    hash = Math.imul(hash ^ fold(bytes[index] as number), FNV_PRIME);
  }
  return hash;
}

function same(word: Buffer, bytes: Uint8Array, offset: number, length: number): boolean {
  if (word.length !== length) return false;
  for (let index = 0; index < length; index++) {
    if (word[index] !== fold(bytes[offset + index] as number)) return false;
  }
  return true;
}

function fold(byte: number): number {
  return byte >= UPPER_A && byte <= UPPER_Z ? byte | CASE_BIT : byte;
}
