/**
 * A cache of key sequences, so that what depends on the keys of a record alone is computed once. Bounded and
 * direct-mapped: the hash of a sequence selects its slot, it is stored when it occurs a second time, and a later
 * sequence of the same slot replaces it.
 */
import type { Tables } from '../../pdata/tables.ts';
import { hasKeys, readKeys } from '../../pdata/row-keys.ts';
import type { Memory } from '../../pdata/memory.ts';
import type { FieldCandidates } from './field-candidates.ts';
import { KeySequence } from './key-sequence.ts';

/** A power of two. */
const SLOTS = 1024;
/** Records with more attributes are not cached. */
const MAX_KEYS = 128;
const HASH_BASIS = 0x811c9dc5;
const HASH_PRIME = 0x01000193;
const HASH_FOLD = 15;

export class KeySequenceCache {
  readonly #sequences = new Array<KeySequence | null>(SLOTS).fill(null);
  /** By slot: the hash of the last sequence. */
  readonly #seen = new Int32Array(SLOTS);
  /** By slot: the slot of the record after it, last time. Senders repeat the order of their records too. */
  readonly #followers = new Uint16Array(SLOTS);
  readonly #symbols = new Uint32Array(MAX_KEYS);
  #count = 0;
  #hash = 0;
  #place = 0;
  #slot = 0;

  /** The cached sequence of a record; null: not cached. */
  find({ memory }: Tables, firstRow: number, count: number, place: number): KeySequence | null {
    const expected = this.#sequences[this.#followers[this.#slot] as number] as KeySequence | null;
    if (expected !== null && fits(expected, memory, firstRow, count, place)) {
      this.#slot = this.#followers[this.#slot] as number;
      return expected;
    }
    this.#place = place;
    this.#count = count <= MAX_KEYS && this.#read(memory, firstRow, count) ? count : -1;
    if (this.#count < 0) return null;
    const slot = this.#hash & (SLOTS - 1);
    this.#followers[this.#slot] = slot;
    this.#slot = slot;
    const sequence = this.#sequences[slot] as KeySequence | null;
    return sequence !== null && fits(sequence, memory, firstRow, count, place) ? sequence : null;
  }

  /** Stores the sequence of the last record if its keys occurred before. */
  note(fields: FieldCandidates): void {
    if (this.#count < 0) return;
    const slot = this.#hash & (SLOTS - 1);
    if (this.#seen[slot] !== this.#hash) {
      this.#seen[slot] = this.#hash;
      return;
    }
    this.#sequences[slot] = new KeySequence(
      this.#symbols.slice(0, this.#count),
      this.#place,
      fields.positions.slice(0, fields.count),
      fields.classes.slice(0, fields.count),
    );
  }

  /** Reads the keys and their hash; false when one of them lives for this request only. */
  #read(memory: Memory, firstRow: number, count: number): boolean {
    const symbols = this.#symbols;
    if (!readKeys(memory, firstRow, count, symbols)) return false;
    let hash = HASH_BASIS ^ this.#place;
    for (let index = 0; index < count; index++) hash = Math.imul(hash ^ (symbols[index] as number), HASH_PRIME);
    this.#hash = hash ^ (hash >>> HASH_FOLD);
    return true;
  }
}

function fits(
  { symbols, place: where }: KeySequence,
  memory: Memory,
  firstRow: number,
  count: number,
  place: number,
): boolean {
  return symbols.length === count && where === place && hasKeys(memory, firstRow, symbols);
}
