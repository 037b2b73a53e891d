/**
 * A table of values by short byte strings, which are compared in place, so that no string is made. Bounded: a full
 * table accepts no further entries until it is cleared.
 */
import { randomInt } from 'node:crypto';

const MAX_SEED = 2 ** 31;
const HASH_PRIME = 0x01000193;
const HASH_FOLD = 15;
/** Slots for each entry, so that collisions are rare. */
const SLOTS_PER_ENTRY = 4;
const MAX_ENTRIES = 16_383;

interface Entry<T> {
  readonly form: number;
  readonly bytes: Uint8Array;
  readonly value: T;
}

export class ByteTable<T> {
  readonly #limit: number;
  readonly #entries: Entry<T>[] = [];
  /** Open addressing: index of an entry + 1, 0 where none is. */
  readonly #slots: Uint16Array;
  /** Unknown to senders, so they cannot choose bytes with the same slot. */
  readonly #seed = randomInt(MAX_SEED);

  /** `limit`: the number of entries, a power of two. */
  constructor(limit: number) {
    if (limit > MAX_ENTRIES || (limit & (limit - 1)) !== 0) throw new RangeError('not a power of two below 16,384');
    this.#limit = limit;
    this.#slots = new Uint16Array(limit * SLOTS_PER_ENTRY);
  }

  get isFull(): boolean {
    return this.#entries.length === this.#limit;
  }

  /** Undefined: no entry. `form` is a part of the key, for bytes with several meanings. */
  get(form: number, bytes: Uint8Array, offset: number, length: number): T | undefined {
    const slots = this.#slots;
    let slot = this.#slotOf(bytes, offset, length);
    for (let place = slots[slot] as number; place !== 0; place = slots[slot] as number) {
      const entry = this.#entries[place - 1] as Entry<T>;
      if (entry.form === form && same(entry.bytes, bytes, offset, length)) return entry.value;
      slot = (slot + 1) & (slots.length - 1);
    }
    return undefined;
  }

  /** Adds an entry that `get` did not find, with a copy of the bytes. Does nothing when the table is full. */
  add(form: number, bytes: Uint8Array, offset: number, length: number, value: T): void {
    if (this.isFull) return;
    const slots = this.#slots;
    this.#entries.push({ form, bytes: bytes.slice(offset, offset + length), value });
    let slot = this.#slotOf(bytes, offset, length);
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
    slots[slot] = this.#entries.length;
  }

  clear(): void {
    this.#entries.length = 0;
    this.#slots.fill(0);
  }

  /** The seed is mixed in before each step: collisions under one seed are none under another. */
  #slotOf(bytes: Uint8Array, offset: number, length: number): number {
    const seed = this.#seed;
    let hash = seed;
    for (let at = offset; at < offset + length; at++) {
      hash = Math.imul(hash ^ (bytes[at] as number), HASH_PRIME);
      hash = (hash ^ (hash >>> HASH_FOLD)) + seed;
    }
    return (hash ^ (hash >>> HASH_FOLD)) & (this.#slots.length - 1);
  }
}

function same(known: Uint8Array, bytes: Uint8Array, offset: number, length: number): boolean {
  if (known.length !== length) return false;
  for (let index = 0; index < length; index++) if (known[index] !== bytes[offset + index]) return false;
  return true;
}
