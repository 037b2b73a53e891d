/** A cache by the short attribute values of senders, so that no string is made for a value that occurred before. */
import { flagsOf, headAt, kindOf, lengthAt, offsetAt, wordOfRow } from '../../pdata/attributes.ts';
import { ByteTable } from '../../pdata/byte-table.ts';
import type { Memory } from '../../pdata/memory.ts';

/** Longer values are not cached. */
const MAX_VALUE_BYTES = 48;
const MAX_ENTRIES = 256;
const KIND_BITS = 8;

export class ValueMemo<T> {
  readonly #values = new ByteTable<T>(MAX_ENTRIES);

  /** Undefined: the value of the row is not cached. */
  get({ u8, u32 }: Memory, row: number): T | undefined {
    const word = wordOfRow(row);
    const length = lengthAt(u32, word);
    if (length > MAX_VALUE_BYTES) return undefined;
    return this.#values.get(formOf(headAt(u32, word)), u8, offsetAt(u32, word), length);
  }

  /** Caches the value of a row for which `get` was undefined. */
  add({ u8, u32 }: Memory, row: number, value: T): void {
    const word = wordOfRow(row);
    const length = lengthAt(u32, word);
    if (length > MAX_VALUE_BYTES) return;
    this.#values.add(formOf(headAt(u32, word)), u8, offsetAt(u32, word), length, value);
  }
}

/** Kind and flags of a value: the same bytes have another meaning as a list, or inside a JSON document. */
function formOf(head: number): number {
  return kindOf(head) | (flagsOf(head) << KIND_BITS);
}
