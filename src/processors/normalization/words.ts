/**
 * A vocabulary that is looked up by the bytes of a text in linear memory, so that no string is made. Case-insensitive:
 * senders use the same words in different case.
 */
import type { Memory } from '../../pdata/memory.ts';

const MAX_WORD_BYTES = 96;
/** A power of two, large enough that collisions are rare. */
const SLOTS = 8192;
const MAX_WORDS = SLOTS / 2;
const HASH_FACTOR = 0x01000193;
const HASH_FOLD = 15;
const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
const CASE_BIT = 0x20;

export class Words {
  readonly #numbers = new Map<string, number>();
  readonly #bytes: Uint8Array[] = [new Uint8Array(0)];
  /** Open addressing: the number of a word, 0 where none is. */
  readonly #slots = new Uint16Array(SLOTS);

  /** The number of a word; a new word gets the next one. Numbers start at 1. */
  add(word: string): number {
    const folded = word.toLowerCase();
    const known = this.#numbers.get(folded);
    if (known !== undefined) return known;
    const bytes = Uint8Array.from(Buffer.from(folded));
    const number = this.#numbers.size + 1;
    if (number > MAX_WORDS) throw new Error('more words than the table holds');
    this.#numbers.set(folded, number);
    this.#bytes.push(bytes);
    let slot = slotOf(bytes, 0, bytes.length);
    while (this.#slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
    this.#slots[slot] = number;
    return number;
  }

  /** 0: an unknown word. */
  ofString(text: string): number {
    return this.#numbers.get(text.toLowerCase()) ?? 0;
  }

  ofText({ u8 }: Memory, offset: number, length: number): number {
    if (length === 0 || length > MAX_WORD_BYTES) return 0;
    const slots = this.#slots;
    let slot = slotOf(u8, offset, length);
    for (let number = slots[slot] as number; number !== 0; number = slots[slot] as number) {
      if (same(this.#bytes[number] as Uint8Array, u8, offset, length)) return number;
      slot = (slot + 1) & (SLOTS - 1);
    }
    return 0;
  }
}

/**
 * The slot of a text, from its length and four of its bytes. The words are ours, so a sender cannot cause collisions.
 */
function slotOf(bytes: Uint8Array, offset: number, length: number): number {
  let hash = length;
  hash = Math.imul(hash, HASH_FACTOR) ^ fold(bytes[offset] as number);
  hash = Math.imul(hash, HASH_FACTOR) ^ fold(bytes[offset + (length >>> 1)] as number);
  hash = Math.imul(hash, HASH_FACTOR) ^ fold(bytes[offset + length - (length >>> 2) - 1] as number);
  hash = Math.imul(hash, HASH_FACTOR) ^ fold(bytes[offset + length - 1] as number);
  return (hash ^ (hash >>> HASH_FOLD)) & (SLOTS - 1);
}

function same(word: Uint8Array, bytes: Uint8Array, offset: number, length: number): boolean {
  if (word.length !== length) return false;
  for (let index = 0; index < length; index++) {
    const byte = bytes[offset + index] as number;
    if (word[index] !== byte && word[index] !== fold(byte)) return false;
  }
  return true;
}

function fold(byte: number): number {
  return byte >= UPPER_A && byte <= UPPER_Z ? byte | CASE_BIT : byte;
}
