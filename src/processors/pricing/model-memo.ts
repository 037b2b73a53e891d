/**
 * Which price the last provider and model names led to, found again by their bytes. Applications call a handful of models, and
 * making three strings for every call costs more than pricing it.
 */
import type { Batch } from '../../model/batch.ts';
import { KIND_TEXT, SOURCE_ATTRIBUTE, SOURCE_TEXT, TEXT_JSON_ESCAPED } from '../../model/layout.ts';
import type { PricedModel } from './priced-model.ts';

/** A power of two; two busy models that share an entry only take turns in it. */
const ENTRIES = 256;
/** Longer names are not remembered. */
const MAX_NAME_BYTES = 255;
const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

interface Entry {
  readonly names: Buffer;
  readonly model: PricedModel | null;
}

export class ModelMemo {
  readonly #slots: readonly number[];
  readonly #entries = new Array<Entry | undefined>(ENTRIES);
  readonly #offsets: Int32Array;
  readonly #lengths: Int32Array;

  /** `slots`: the derived slots whose texts decide the price. */
  constructor(slots: readonly number[]) {
    this.#slots = slots;
    this.#offsets = new Int32Array(slots.length);
    this.#lengths = new Int32Array(slots.length);
  }

  /** The model of the batch's current derived row; `find` is asked when its names were not seen lately. */
  of(batch: Batch, find: () => PricedModel | null): PricedModel | null {
    if (!this.#locate(batch)) return find();
    const bytes = batch.tables.memory.u8;
    const at = this.#hash(bytes) & (ENTRIES - 1);
    const known = this.#entries[at];
    if (known !== undefined && this.#isSame(known.names, bytes)) return known.model;
    // Taken before `find`, which may read texts of its own.
    const names = this.#copy(batch.tables.memory.bytes);
    const model = find();
    this.#entries[at] = { names, model };
    return model;
  }

  /** Where the names lie. False when one of them is not plain text in memory. */
  #locate(batch: Batch): boolean {
    const { derived } = batch;
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
        const attribute = batch.attributes.goto(derived.slotRow(slot) - 1);
        if (attribute.kind !== KIND_TEXT || (attribute.flags & TEXT_JSON_ESCAPED) !== 0) return false;
        this.#offsets[index] = attribute.offset;
        this.#lengths[index] = attribute.length;
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
      for (let at = from; at < from + length; at++) hash = Math.imul(hash ^ (bytes[at] as number), FNV_PRIME);
    }
    return hash ^ (hash >>> 15);
  }

  /** The names one after the other, each after its length, so that no two lists of names look the same. */
  #copy(bytes: Buffer): Buffer {
    const parts: Uint8Array[] = [];
    for (let index = 0; index < this.#offsets.length; index++) {
      const from = this.#offsets[index] as number;
      const length = this.#lengths[index] as number;
      parts.push(Uint8Array.of(length), bytes.subarray(from, from + length));
    }
    return Buffer.concat(parts);
  }

  #isSame(names: Buffer, bytes: Uint8Array): boolean {
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
