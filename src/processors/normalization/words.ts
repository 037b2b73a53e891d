/**
 * A set of words that can be looked up by the bytes of a text in linear memory, without making a string of it. Case does not
 * matter: senders agree on words more than on their case.
 */
import type { Memory } from '../../model/memory.ts';

const MAX_WORD_BYTES = 96;
/** A power of two, and so many that hardly two words meet. */
const SLOTS = 8192;
const MAX_WORDS = SLOTS / 2;
const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
const CASE_BIT = 0x20;

export class Words {
  readonly #numbers = new Map<string, number>();
  readonly #bytes: Buffer[] = [Buffer.alloc(0)];
  /** Open addressing: the number of a word, 0 where none is. */
  readonly #slots = new Uint16Array(SLOTS);

  /** The number of a word, given to it now if it is new. Numbers start at 1. */
  add(word: string): number {
    const folded = word.toLowerCase();
    const known = this.#numbers.get(folded);
    if (known !== undefined) return known;
    const bytes = Buffer.from(folded);
    const number = this.#numbers.size + 1;
    if (number > MAX_WORDS) throw new Error('more words than the table holds');
    this.#numbers.set(folded, number);
    this.#bytes.push(bytes);
    let slot = hashOf(bytes, 0, bytes.length) & (SLOTS - 1);
    while (this.#slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
    this.#slots[slot] = number;
    return number;
  }

  /** 0: not a word of ours. */
  ofString(text: string): number {
    return this.#numbers.get(text.toLowerCase()) ?? 0;
  }

  ofText(memory: Memory, offset: number, length: number): number {
    if (length === 0 || length > MAX_WORD_BYTES) return 0;
    let slot = hashOf(memory.u8, offset, length) & (SLOTS - 1);
    for (let number = this.#slots[slot] as number; number !== 0; number = this.#slots[slot] as number) {
      if (same(this.#bytes[number] as Buffer, memory.u8, offset, length)) return number;
      slot = (slot + 1) & (SLOTS - 1);
    }
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
