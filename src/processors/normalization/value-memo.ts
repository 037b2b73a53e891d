/**
 * A cache by the bytes of short attribute values in linear memory, so that no string is made. Bounded: a full cache
 * accepts no further values.
 */
import { randomInt } from 'node:crypto';
import { flagsOf, headAt, kindOf, lengthAt, offsetAt, wordOfRow } from '../../pdata/attributes.ts';
import type { Memory } from '../../pdata/memory.ts';

/** Longer values are not cached. */
const MAX_VALUE_BYTES = 48;
const MAX_ENTRIES = 256;
/** A power of two, well above the number of entries. */
const SLOTS = 1024;
const HASH_PRIME = 0x01000193;
const MAX_SEED = 2 ** 31;
const HASH_FOLD = 15;
const KIND_BITS = 8;

interface Entry<T> {
  /** Kind and flags of the value: the same bytes have another meaning as a list, or inside a JSON document. */
  readonly form: number;
  readonly bytes: Uint8Array;
  readonly value: T;
}

export class ValueMemo<T> {
  readonly #entries: Entry<T>[] = [];
  /** Open addressing: index of an entry + 1, 0 where none is. */
  readonly #slots = new Uint16Array(SLOTS);
  /** Unknown to senders, so they cannot choose values with the same slot. */
  readonly #seed = randomInt(MAX_SEED);

  /** Undefined: the value of the row is not cached. */
  get({ u8, u32 }: Memory, row: number): T | undefined {
    const word = wordOfRow(row);
    const form = formOf(headAt(u32, word));
    const offset = offsetAt(u32, word);
    const length = lengthAt(u32, word);
    if (length > MAX_VALUE_BYTES) return undefined;
    let slot = slotOf(u8, offset, length, this.#seed);
    for (let place = this.#slots[slot] as number; place !== 0; place = this.#slots[slot] as number) {
      const entry = this.#entries[place - 1] as Entry<T>;
      if (entry.form === form && same(entry.bytes, u8, offset, length)) return entry.value;
      slot = (slot + 1) & (SLOTS - 1);
    }
    return undefined;
  }

  /** Caches the value of a row for which `get` was undefined. */
  add({ u8, u32 }: Memory, row: number, value: T): void {
    const word = wordOfRow(row);
    const offset = offsetAt(u32, word);
    const length = lengthAt(u32, word);
    if (length > MAX_VALUE_BYTES || this.#entries.length >= MAX_ENTRIES) return;
    const form = formOf(headAt(u32, word));
    this.#entries.push({ form, bytes: u8.slice(offset, offset + length), value });
    let slot = slotOf(u8, offset, length, this.#seed);
    while (this.#slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
    this.#slots[slot] = this.#entries.length;
  }
}

function formOf(head: number): number {
  return kindOf(head) | (flagsOf(head) << KIND_BITS);
}

/** The seed is mixed in before each step: collisions under one seed are none under another. */
function slotOf(bytes: Uint8Array, offset: number, length: number, seed: number): number {
  let hash = seed;
  for (let at = offset; at < offset + length; at++) {
    hash = Math.imul(hash ^ (bytes[at] as number), HASH_PRIME);
    hash = (hash ^ (hash >>> HASH_FOLD)) + seed;
  }
  return (hash ^ (hash >>> HASH_FOLD)) & (SLOTS - 1);
}

function same(known: Uint8Array, bytes: Uint8Array, offset: number, length: number): boolean {
  if (known.length !== length) return false;
  for (let index = 0; index < length; index++) if (known[index] !== bytes[offset + index]) return false;
  return true;
}
