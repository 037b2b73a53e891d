/** Writing and reading the derived row of a record: category, numbers, costs and slots. */
import * as layout from './layout.ts';
import type { Memory } from './memory.ts';
import type { Money } from './money.ts';

// Positions in the typed arrays, bound here: an imported constant is read and checked at each use, a constant of the
// module is inlined.
const COUNTER = (layout.HEADER_BASE + layout.HEADER_DERIVED) >>> 2;
const BASE = layout.DERIVED_BASE;
const STRIDE = layout.DERIVED_STRIDE;
const MASK = layout.DERIVED_MASK >>> 2;
const NUMBERS = layout.DERIVED_NUMBERS >>> 3;
const NUMBER_COUNT = layout.DERIVED_NUMBER_COUNT;
const COSTS = layout.DERIVED_COSTS >>> 3;
const COST_COUNT = layout.DERIVED_COST_COUNT;
const SLOTS = layout.DERIVED_SLOTS >>> 2;
const SLOT_WORDS = layout.SLOT_STRIDE >>> 2;
const SOURCE = layout.SLOT_SOURCE >>> 2;
const FLAGS_SHIFT = (layout.SLOT_FLAGS - layout.SLOT_SOURCE) * 8;
const ROW = layout.SLOT_ROW >>> 2;
const OFFSET = layout.SLOT_OFFSET >>> 2;
const LENGTH = layout.SLOT_LENGTH >>> 2;
const FROM_ATTRIBUTE = layout.SOURCE_ATTRIBUTE;
const FROM_TEXT = layout.SOURCE_TEXT;
const BYTE = 0xff;

const UNAVAILABLE = -(2n ** 63n);
/** The upper half of `UNAVAILABLE` in memory. */
const UNAVAILABLE_HIGH = -(2 ** 31);
const TWO_32 = 4294967296;

/**
 * A cursor over derived rows. `create()` begins a new row with all fields unavailable and returns its number + 1 (0
 * when the table is full); `goto(number + 1)` returns to it. Slots hold references: content is never copied here.
 */
export class DerivedCursor {
  readonly #memory: Memory;
  #address = 0;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  create(): number {
    const { u32, f64 } = this.#memory;
    const row = u32[COUNTER] as number;
    if (row >= layout.MAX_DERIVED) return 0;
    u32[COUNTER] = row + 1;
    this.goto(row + 1);
    // Plain loops: for this few elements a call of `fill` costs more.
    const numbers = (this.#address >>> 3) + NUMBERS;
    for (let word = (this.#address >>> 2) + MASK; word < numbers * 2; word++) u32[word] = 0;
    for (let index = 0; index < NUMBER_COUNT; index++) f64[numbers + index] = Number.NaN;
    const costs = (this.#address >>> 2) + COSTS * 2;
    for (let index = 0; index < COST_COUNT; index++) {
      u32[costs + index * 2] = 0;
      u32[costs + index * 2 + 1] = UNAVAILABLE_HIGH;
    }
    return row + 1;
  }

  get count(): number {
    return this.#memory.u32[COUNTER] as number;
  }

  goto(derived: number): this {
    this.#address = BASE + (derived - 1) * STRIDE;
    return this;
  }

  /**
   * The number of a word, or 0 null, 1 false, 2 true. `at` is one of the byte fields of layout.ts, for example
   * DERIVED_CATEGORY.
   */
  byte(at: number): number {
    return this.#memory.u8[this.#address + at] as number;
  }
  setByte(at: number, value: number): void {
    this.#memory.u8[this.#address + at] = value;
  }

  /** NaN: unavailable. `index` is a NUMBER_… of layout.ts. */
  number(index: number): number {
    return this.#memory.f64[(this.#address >>> 3) + NUMBERS + index] as number;
  }
  setNumber(index: number, value: number): void {
    this.#memory.f64[(this.#address >>> 3) + NUMBERS + index] = value;
  }

  /** Null: unavailable. `index` is a COST_… of layout.ts. */
  cost(index: number): Money | null {
    const money = this.#memory.i64[(this.#address >>> 3) + COSTS + index] as bigint;
    return money === UNAVAILABLE ? null : money;
  }
  /** As `cost`, without a bigint, for sums that may lose digits. NaN: unavailable. */
  approximateCost(index: number): number {
    const { i32, u32 } = this.#memory;
    const word = (this.#address >>> 2) + (COSTS + index) * 2;
    const [low, high] = [u32[word] as number, i32[word + 1] as number];
    return low === 0 && high === UNAVAILABLE_HIGH ? Number.NaN : high * TWO_32 + low;
  }
  /** Money may be a safe non-negative integer: creating a bigint costs more than all the arithmetic before. */
  setCost(index: number, money: Money | number | null): void {
    if (typeof money !== 'number') {
      this.#memory.i64[(this.#address >>> 3) + COSTS + index] = money ?? UNAVAILABLE;
      return;
    }
    const { u32 } = this.#memory;
    const word = (this.#address >>> 2) + (COSTS + index) * 2;
    u32[word] = money % TWO_32;
    u32[word + 1] = Math.floor(money / TWO_32);
  }

  hasSlot(slot: number): boolean {
    return ((this.#memory.u32[(this.#address >>> 2) + MASK] as number) & (1 << slot)) !== 0;
  }

  /** SOURCE_… of a slot; SOURCE_NONE when it is not filled. */
  slotSource(slot: number): number {
    return this.hasSlot(slot) ? (this.#memory.u32[this.#slotWord(slot) + SOURCE] as number) & BYTE : layout.SOURCE_NONE;
  }
  /** The attribute row + 1 of a slot's text; 0 none. */
  slotRow(slot: number): number {
    return this.#memory.u32[this.#slotWord(slot) + ROW] as number;
  }
  slotFlags(slot: number): number {
    return ((this.#memory.u32[this.#slotWord(slot) + SOURCE] as number) >>> FLAGS_SHIFT) & BYTE;
  }
  slotOffset(slot: number): number {
    return this.#memory.u32[this.#slotWord(slot) + OFFSET] as number;
  }
  slotLength(slot: number): number {
    return this.#memory.u32[this.#slotWord(slot) + LENGTH] as number;
  }

  /** The slot is the whole value of an attribute row. */
  setAttribute(slot: number, row: number): void {
    this.#setSlot(slot, FROM_ATTRIBUTE, 0, row + 1, 0, 0);
  }

  /** The slot is a text in memory; `ownerRow` is the attribute that contains it, or -1. */
  setText(slot: number, offset: number, length: number, flags: number, ownerRow = -1): void {
    this.#setSlot(slot, FROM_TEXT, flags, ownerRow + 1, offset, length);
  }

  /** The slot is several attribute rows, in the given order. Ignored when the references of the request are used up. */
  setReferences(slot: number, rows: readonly number[]): void {
    const counter = (layout.HEADER_BASE + layout.HEADER_REFERENCES) >>> 2;
    const first = this.#memory.u32[counter] as number;
    if (first + rows.length > layout.MAX_REFERENCES) return;
    const base = layout.REFERENCES_BASE >>> 2;
    for (let index = 0; index < rows.length; index++) this.#memory.u32[base + first + index] = rows[index] as number;
    this.#memory.u32[counter] = first + rows.length;
    this.#setSlot(slot, layout.SOURCE_REFERENCES, 0, 0, first, rows.length);
  }

  #slotWord(slot: number): number {
    return (this.#address >>> 2) + SLOTS + slot * SLOT_WORDS;
  }

  #setSlot(slot: number, source: number, flags: number, row: number, offset: number, length: number): void {
    const { u32 } = this.#memory;
    const at = this.#slotWord(slot);
    u32[at + SOURCE] = source | (flags << FLAGS_SHIFT);
    u32[at + ROW] = row;
    u32[at + OFFSET] = offset;
    u32[at + LENGTH] = length;
    const mask = (this.#address >>> 2) + MASK;
    u32[mask] = (u32[mask] as number) | (1 << slot);
  }
}
