/**
 * Remembers the sequences of keys that records come with, so that what follows from the keys alone is found once. Bounded: a
 * sequence has a place by its hash, is kept when it comes a second time, and gives way to the next one that wants the place.
 */
import type { Tables } from '../../model/batch.ts';
import {
  ATTRIBUTE_STRIDE,
  ATTRIBUTE_SYMBOL,
  ATTRIBUTE_VERDICT,
  ATTRIBUTES_BASE,
  MAX_SYMBOLS,
  VERDICT_SUPERSEDED,
} from '../../model/layout.ts';
import type { Evidence } from './evidence.ts';
import { Shape } from './shape.ts';

/** A power of two. */
const SLOTS = 1024;
/** Records with more attributes are read anew each time. */
const MAX_KEYS = 128;
/** Stands for an attribute that a later one of the same key has replaced. */
const SUPERSEDED = 0xffffffff;
const HASH_BASIS = 0x811c9dc5;
const HASH_PRIME = 0x01000193;
const HASH_FOLD = 15;

export class Shapes {
  readonly #shapes = new Array<Shape | null>(SLOTS).fill(null);
  /** By slot: the hash of the sequence that was last seen there. */
  readonly #seen = new Int32Array(SLOTS);
  readonly #symbols = new Uint32Array(MAX_KEYS);
  #count = 0;
  #hash = 0;
  #place = 0;

  /** The shape of the record whose attributes these are; null when it is not known. */
  find(tables: Tables, firstRow: number, count: number, place: number): Shape | null {
    this.#place = place;
    this.#count = count <= MAX_KEYS && this.#read(tables, firstRow, count) ? count : -1;
    if (this.#count < 0) return null;
    const shape = this.#shapes[this.#hash & (SLOTS - 1)] as Shape | null;
    return shape !== null && this.#is(shape) ? shape : null;
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
  #read(tables: Tables, firstRow: number, count: number): boolean {
    const { u8, u32 } = tables.memory;
    const symbols = this.#symbols;
    let hash = HASH_BASIS ^ this.#place;
    for (let index = 0; index < count; index++) {
      const address = ATTRIBUTES_BASE + (firstRow + index) * ATTRIBUTE_STRIDE;
      let symbol = u32[(address + ATTRIBUTE_SYMBOL) >>> 2] as number;
      if (symbol >= MAX_SYMBOLS) return false;
      if (u8[address + ATTRIBUTE_VERDICT] === VERDICT_SUPERSEDED) symbol = SUPERSEDED;
      symbols[index] = symbol;
      hash = Math.imul(hash ^ symbol, HASH_PRIME);
    }
    this.#hash = hash ^ (hash >>> HASH_FOLD);
    return true;
  }

  #is({ symbols, place }: Shape): boolean {
    if (place !== this.#place || symbols.length !== this.#count) return false;
    for (let index = 0; index < symbols.length; index++) {
      if (symbols[index] !== this.#symbols[index]) return false;
    }
    return true;
  }
}
