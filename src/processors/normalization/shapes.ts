/**
 * Remembers the sequences of keys that records come with, so that what follows from the keys alone is found once. Bounded: a
 * sequence has a place by its hash, is kept when it comes a second time, and gives way to the next one that wants the place.
 */
import type { Tables } from '../../pdata/batch.ts';
import { hasKeys, readKeys } from '../../pdata/key-sequence.ts';
import type { Memory } from '../../pdata/memory.ts';
import type { Evidence } from './evidence.ts';
import { Shape } from './shape.ts';

/** A power of two. */
const SLOTS = 1024;
/** Records with more attributes are read anew each time. */
const MAX_KEYS = 128;
const HASH_BASIS = 0x811c9dc5;
const HASH_PRIME = 0x01000193;
const HASH_FOLD = 15;

export class Shapes {
  readonly #shapes = new Array<Shape | null>(SLOTS).fill(null);
  /** By slot: the hash of the sequence that was last seen there. */
  readonly #seen = new Int32Array(SLOTS);
  /** By slot: the slot of the record that followed last time. Sequences come in sequences, too. */
  readonly #followers = new Uint16Array(SLOTS);
  readonly #symbols = new Uint32Array(MAX_KEYS);
  #count = 0;
  #hash = 0;
  #place = 0;
  #slot = 0;

  /** The shape of the record whose attributes these are; null when it is not known. */
  find({ memory }: Tables, firstRow: number, count: number, place: number): Shape | null {
    const expected = this.#shapes[this.#followers[this.#slot] as number] as Shape | null;
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
    const shape = this.#shapes[slot] as Shape | null;
    return shape !== null && fits(shape, memory, firstRow, count, place) ? shape : null;
  }

  /** Keeps what was found on the record last asked for, when its keys were seen before. */
  note(evidence: Evidence): void {
    if (this.#count < 0) return;
    const slot = this.#hash & (SLOTS - 1);
    if (this.#seen[slot] !== this.#hash) {
      this.#seen[slot] = this.#hash;
      return;
    }
    this.#shapes[slot] = new Shape(
      this.#symbols.slice(0, this.#count),
      this.#place,
      evidence.positions.slice(0, evidence.count),
      evidence.classes.slice(0, evidence.count),
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
  { symbols, place: where }: Shape,
  memory: Memory,
  firstRow: number,
  count: number,
  place: number,
): boolean {
  return symbols.length === count && where === place && hasKeys(memory, firstRow, symbols);
}
