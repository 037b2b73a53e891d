/**
 * A cache of prices by the bytes of the provider and model names. Applications call a few models, and making three
 * strings for each call costs more than pricing it.
 */
import { flagsOf, headAt, isText, lengthAt, offsetAt, wordOfRow } from '../../pdata/attributes.ts';
import type { Batch, Tables } from '../../pdata/batch.ts';
import { ByteTable } from '../../pdata/byte-table.ts';
import { SOURCE_ATTRIBUTE, SOURCE_TEXT, TEXT_JSON_ESCAPED } from '../../pdata/layout.ts';
import type { TextRef } from '../../pdata/text.ts';
import type { PricedModel } from './priced-model.ts';

/** A sender of more names than this clears the cache each time it is full. */
const MAX_ENTRIES = 256;
/** Longer names are not cached. The length of a name fits into the byte before it. */
const MAX_NAME_BYTES = 255;
/** All keys have this form. */
const NAMES = 0;

/** A price with its audit texts in the tables. */
class RecentPrice {
  readonly model: PricedModel | null;
  /** By their number. */
  readonly #audits: (TextRef | undefined)[] = [];

  constructor(model: PricedModel | null) {
    this.model = model;
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
  readonly #prices = new ByteTable<RecentPrice>(MAX_ENTRIES);
  /** The last names in order, each with its length before it, so that different lists have different bytes. */
  readonly #names: Uint8Array;
  /** Bytes of the last names; -1: they are not cached. */
  #length = -1;
  #tables: Tables | null = null;
  #epoch = 0;

  /** `slots`: the derived slots whose texts decide the price. */
  constructor(slots: readonly number[]) {
    this.#slots = slots;
    this.#names = new Uint8Array(slots.length * (MAX_NAME_BYTES + 1));
  }

  /** Call it for each batch before `find`: audit texts belong to the tables. */
  begin(tables: Tables): void {
    if (tables === this.#tables && tables.epoch === this.#epoch) return;
    this.#tables = tables;
    this.#epoch = tables.epoch;
    this.#prices.clear();
  }

  /** The price of the batch's current derived row; undefined: its names are not cached. */
  find(batch: Batch): RecentPrice | undefined {
    // The names are copied, because finding their price may overwrite texts.
    this.#length = this.#copyNames(batch);
    return this.#length < 0 ? undefined : this.#prices.get(NAMES, this.#names, 0, this.#length);
  }

  /** Caches the price of the names for which `find` was undefined. */
  note(model: PricedModel | null): RecentPrice {
    const price = new RecentPrice(model);
    if (this.#length < 0) return price;
    if (this.#prices.isFull) this.#prices.clear();
    this.#prices.add(NAMES, this.#names, 0, this.#length, price);
    return price;
  }

  /** The bytes of the names; -1 when one of them is not plain text in memory. */
  #copyNames({ derived, tables }: Batch): number {
    const { u8, u32 } = tables.memory;
    let end = 0;
    for (let index = 0; index < this.#slots.length; index++) {
      const slot = this.#slots[index] as number;
      const source = derived.slotSource(slot);
      let offset = 0;
      let length = 0;
      if (source === SOURCE_TEXT) {
        if ((derived.slotFlags(slot) & TEXT_JSON_ESCAPED) !== 0) return -1;
        offset = derived.slotOffset(slot);
        length = derived.slotLength(slot);
      } else if (source === SOURCE_ATTRIBUTE) {
        const word = wordOfRow(derived.slotRow(slot) - 1);
        const head = headAt(u32, word);
        if (!isText(head) || (flagsOf(head) & TEXT_JSON_ESCAPED) !== 0) return -1;
        offset = offsetAt(u32, word);
        length = lengthAt(u32, word);
      }
      if (length > MAX_NAME_BYTES) return -1;
      this.#names[end++] = length;
      for (let at = offset; at < offset + length; at++) this.#names[end++] = u8[at] as number;
    }
    return end;
  }
}
