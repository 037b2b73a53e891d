/**
 * A cache of prices by the bytes of the provider and model names. Applications call a few models, and making three
 * strings for each call costs more than pricing it.
 */
import { flagsOf, headAt, isText, lengthAt, offsetAt, wordOfRow } from '../../pdata/attributes.ts';
import type { Tables } from '../../pdata/tables.ts';
import type { Batch } from '../../pdata/batch.ts';
import { SOURCE_ATTRIBUTE, SOURCE_TEXT, TEXT_JSON_ESCAPED } from '../../pdata/layout.ts';
import type { TextRef } from '../../pdata/text.ts';
import type { PricedModel } from './priced-model.ts';

/** A power of two. Two models with the same slot replace each other. */
const ENTRIES = 256;
/** Longer names are not cached. */
const MAX_NAME_BYTES = 255;
const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const HASH_FOLD = 15;

/** A price with its audit texts in the tables. */
class RecentPrice {
  readonly model: PricedModel | null;
  /** The names in order, each with its length before it, so that different lists have different bytes. */
  readonly names: Uint8Array;
  /** By their number. */
  readonly #audits: (TextRef | undefined)[] = [];

  constructor(model: PricedModel | null, names: Uint8Array) {
    this.model = model;
    this.names = names;
  }

  /** Null when the tables have no room for the text. */
  audit(tables: Tables, model: PricedModel, place: number): TextRef | null {
    const known = this.#audits[place];
    if (known !== undefined) return known;
    const text = model.auditAt(place);
    const lasting = tables.changing(text);
    if (lasting === null) return tables.scratch(text);
    this.#audits[place] = lasting;
    return lasting;
  }
}

export class ModelMemo {
  readonly #slots: readonly number[];
  readonly #entries = new Array<RecentPrice | null>(ENTRIES).fill(null);
  readonly #offsets: Int32Array;
  readonly #lengths: Int32Array;
  #tables: Tables | null = null;
  #epoch = 0;
  /** The slot for the price of the last names; -1: none. */
  #place = -1;
  #names: Uint8Array = new Uint8Array(0);

  /** `slots`: the derived slots whose texts decide the price. */
  constructor(slots: readonly number[]) {
    this.#slots = slots;
    this.#offsets = new Int32Array(slots.length);
    this.#lengths = new Int32Array(slots.length);
  }

  /** Call it for each batch before `find`: audit texts belong to the tables. */
  begin(tables: Tables): void {
    if (tables === this.#tables && tables.epoch === this.#epoch) return;
    this.#tables = tables;
    this.#epoch = tables.epoch;
    this.#entries.fill(null);
  }

  /** The price of the batch's current derived row; null: its names are not cached. */
  find(batch: Batch): RecentPrice | null {
    this.#place = -1;
    if (!this.#locate(batch)) return null;
    const { u8 } = batch.tables.memory;
    const place = this.#hash(u8) & (ENTRIES - 1);
    const known = this.#entries[place] as RecentPrice | null;
    if (known !== null && this.#isSame(known.names, u8)) return known;
    // Copied now, because finding the price may overwrite texts.
    this.#names = this.#copy(u8);
    this.#place = place;
    return null;
  }

  /** Caches the price of the names for which `find` was null. */
  note(model: PricedModel | null): RecentPrice {
    const price = new RecentPrice(model, this.#names);
    if (this.#place >= 0) this.#entries[this.#place] = price;
    return price;
  }

  /** Locates the names; false when one of them is not plain text in memory. */
  #locate({ derived, tables }: Batch): boolean {
    const { u32 } = tables.memory;
    for (let index = 0; index < this.#slots.length; index++) {
      const slot = this.#slots[index] as number;
      const source = derived.slotSource(slot);
      this.#offsets[index] = 0;
      this.#lengths[index] = 0;
      if (source === SOURCE_TEXT) {
        if ((derived.slotFlags(slot) & TEXT_JSON_ESCAPED) !== 0) return false;
        this.#offsets[index] = derived.slotOffset(slot);
        this.#lengths[index] = derived.slotLength(slot);
      } else if (source === SOURCE_ATTRIBUTE) {
        const word = wordOfRow(derived.slotRow(slot) - 1);
        const head = headAt(u32, word);
        if (!isText(head) || (flagsOf(head) & TEXT_JSON_ESCAPED) !== 0) return false;
        this.#offsets[index] = offsetAt(u32, word);
        this.#lengths[index] = lengthAt(u32, word);
      }
      if ((this.#lengths[index] as number) > MAX_NAME_BYTES) return false;
    }
    return true;
  }

  #hash(bytes: Uint8Array): number {
    let hash = FNV_BASIS;
    for (let index = 0; index < this.#offsets.length; index++) {
      const from = this.#offsets[index] as number;
      const length = this.#lengths[index] as number;
      hash = Math.imul(hash ^ length, FNV_PRIME);
      hash = this.#mix(hash, bytes, from, from + length);
    }
    return hash ^ (hash >>> HASH_FOLD);
  }

  /** Two independent sums, because each step of a sum waits for its last one. */
  #mix(seed: number, bytes: Uint8Array, from: number, end: number): number {
    let even = seed;
    let odd = FNV_BASIS;
    let at = from;
    for (; at + 1 < end; at += 2) {
      even = Math.imul(even ^ (bytes[at] as number), FNV_PRIME);
      odd = Math.imul(odd ^ (bytes[at + 1] as number), FNV_PRIME);
    }
    if (at < end) even = Math.imul(even ^ (bytes[at] as number), FNV_PRIME);
    return even ^ Math.imul(odd, FNV_PRIME);
  }

  #copy(bytes: Uint8Array): Uint8Array {
    const names = new Uint8Array(this.#lengths.reduce((sum, length) => sum + length + 1, 0));
    let end = 0;
    for (let index = 0; index < this.#offsets.length; index++) {
      const from = this.#offsets[index] as number;
      const length = this.#lengths[index] as number;
      names[end++] = length;
      names.set(bytes.subarray(from, from + length), end);
      end += length;
    }
    return names;
  }

  #isSame(names: Uint8Array, bytes: Uint8Array): boolean {
    let position = 0;
    for (let index = 0; index < this.#offsets.length; index++) {
      const from = this.#offsets[index] as number;
      const length = this.#lengths[index] as number;
      if (names[position++] !== length) return false;
      for (let at = from; at < from + length; at++) if (names[position++] !== bytes[at]) return false;
    }
    return position === names.length;
  }
}
