/**
 * Remembers the sequences of keys that records come with, so that what follows from the keys alone is found once. Bounded: a
 * sequence has a place by its hash, is kept when it comes a second time, and gives way to the next one that wants the place.
 */
import type { Tables } from '../../pdata/batch.ts';
import {
  ATTRIBUTE_KIND,
  ATTRIBUTE_STRIDE,
  ATTRIBUTE_VERDICT,
  ATTRIBUTES_BASE,
  MAX_SYMBOLS,
  VERDICT_SUPERSEDED,
} from '../../pdata/layout.ts';
import type { Memory } from '../../pdata/memory.ts';
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
// For the loops over every attribute of every record, which read the tables directly: see attributes.ts.
const FIRST_WORD = ATTRIBUTES_BASE >>> 2;
const ROW_WORDS = ATTRIBUTE_STRIDE >>> 2;
const HEAD = ATTRIBUTE_KIND >>> 2;
const VERDICT_SHIFT = (ATTRIBUTE_VERDICT - ATTRIBUTE_KIND) * 8;
const VERDICT_BITS = 0xff << VERDICT_SHIFT;
const SUPERSEDED_BITS = VERDICT_SUPERSEDED << VERDICT_SHIFT;

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
  #read({ u32 }: Memory, firstRow: number, count: number): boolean {
    const symbols = this.#symbols;
    let hash = HASH_BASIS ^ this.#place;
    let word = FIRST_WORD + firstRow * ROW_WORDS;
    for (let index = 0; index < count; index++, word += ROW_WORDS) {
      if ((u32[word] as number) >= MAX_SYMBOLS) return false;
      const symbol = keyAt(u32, word);
      symbols[index] = symbol;
      hash = Math.imul(hash ^ symbol, HASH_PRIME);
    }
    this.#hash = hash ^ (hash >>> HASH_FOLD);
    return true;
  }
}

function fits(shape: Shape, { u32 }: Memory, firstRow: number, count: number, place: number): boolean {
  const { symbols } = shape;
  if (symbols.length !== count || shape.place !== place) return false;
  let word = FIRST_WORD + firstRow * ROW_WORDS;
  for (let index = 0; index < count; index++, word += ROW_WORDS) {
    if (keyAt(u32, word) !== symbols[index]) return false;
  }
  return true;
}

/** The symbol of the row at a word of the tables. */
function keyAt(u32: Uint32Array, word: number): number {
  return ((u32[word + HEAD] as number) & VERDICT_BITS) === SUPERSEDED_BITS ? SUPERSEDED : (u32[word] as number);
}
