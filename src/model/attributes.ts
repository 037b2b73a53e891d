/** A cursor over attribute rows of one owner. Reused: the same object serves every list of a request. */
import {
  ATTRIBUTE_FLAGS,
  ATTRIBUTE_KIND,
  ATTRIBUTE_LENGTH,
  ATTRIBUTE_OFFSET,
  ATTRIBUTE_SCALAR,
  ATTRIBUTE_STRIDE,
  ATTRIBUTE_SYMBOL,
  ATTRIBUTE_VERDICT,
  ATTRIBUTES_BASE,
  KIND_BOOL,
  KIND_DOUBLE,
  KIND_INT,
  VERDICT_KEEP,
  VERDICT_SUPERSEDED,
} from './layout.ts';
import type { Memory } from './memory.ts';

const TWO_32 = 4294967296;

/*
 * Beside the cursor, for code that visits a few rows of every record: a row is four words of `Memory.u32`. The first is its
 * symbol, the second, its head, holds kind, flags and verdict; offset and length or a scalar follow.
 */
export const ROW_WORDS = 4;
export const HEAD_WORD = 1;
export const OFFSET_WORD = 2;
export const LENGTH_WORD = 3;
const FLAGS_SHIFT = 8;
const VERDICT_SHIFT = 16;

/** Where the words of a row begin. */
export function wordOfRow(row: number): number {
  return (ATTRIBUTES_BASE + row * ATTRIBUTE_STRIDE) >>> 2;
}
/** KIND_…, TEXT_… flags and VERDICT_… out of the head of a row. */
export function kindOf(head: number): number {
  return head & 0xff;
}
export function flagsOf(head: number): number {
  return (head >>> FLAGS_SHIFT) & 0xff;
}
export function verdictOf(head: number): number {
  return (head >>> VERDICT_SHIFT) & 0xff;
}
/** The i64 of the row at a word. Beyond 2^53 it loses digits. */
export function integerAt({ i32, u32 }: Memory, word: number): number {
  return (i32[word + LENGTH_WORD] as number) * TWO_32 + (u32[word + OFFSET_WORD] as number);
}

/**
 * `at(first, count)` starts before the first row; `next()` moves to the next row that is not superseded by a later duplicate
 * and says whether there is one. Getters read the current row; `goto(row)` jumps. Row numbers stay valid for the whole request.
 */
export class AttributeCursor {
  readonly #memory: Memory;
  #row = -1;
  #end = 0;
  #address = 0;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  at(first: number, count: number): this {
    this.#row = first - 1;
    this.#end = first + count;
    return this;
  }

  goto(row: number): this {
    this.#row = row;
    this.#end = row + 1;
    this.#address = ATTRIBUTES_BASE + row * ATTRIBUTE_STRIDE;
    return this;
  }

  next(): boolean {
    while (++this.#row < this.#end) {
      this.#address = ATTRIBUTES_BASE + this.#row * ATTRIBUTE_STRIDE;
      if (this.#memory.u8[this.#address + ATTRIBUTE_VERDICT] !== VERDICT_SUPERSEDED) return true;
    }
    return false;
  }

  /** The row number of the current attribute. */
  get row(): number {
    return this.#row;
  }

  /** The interned key; 0 for a log body. */
  get symbol(): number {
    return this.#memory.u32[(this.#address + ATTRIBUTE_SYMBOL) >>> 2] as number;
  }

  /** KIND_… of layout.ts. */
  get kind(): number {
    return this.#memory.u8[this.#address + ATTRIBUTE_KIND] as number;
  }

  /** TEXT_… flags of the value. */
  get flags(): number {
    return this.#memory.u8[this.#address + ATTRIBUTE_FLAGS] as number;
  }

  get offset(): number {
    return this.#memory.u32[(this.#address + ATTRIBUTE_OFFSET) >>> 2] as number;
  }

  get length(): number {
    return this.#memory.u32[(this.#address + ATTRIBUTE_LENGTH) >>> 2] as number;
  }

  get verdict(): number {
    return this.#memory.u8[this.#address + ATTRIBUTE_VERDICT] as number;
  }

  set verdict(verdict: number) {
    this.#memory.u8[this.#address + ATTRIBUTE_VERDICT] = verdict;
  }

  get kept(): boolean {
    return this.verdict === VERDICT_KEEP;
  }

  /** The value of KIND_INT, KIND_DOUBLE or KIND_BOOL as a number; NaN for other kinds. Integers beyond 2^53 lose digits. */
  get number(): number {
    const kind = this.kind;
    if (kind === KIND_DOUBLE) return this.#memory.f64[(this.#address + ATTRIBUTE_SCALAR) >>> 3] as number;
    if (kind !== KIND_INT && kind !== KIND_BOOL) return Number.NaN;
    return integerAt(this.#memory, this.#address >>> 2);
  }

  /** Points the row at another text; its kind becomes `kind`. */
  replace(kind: number, offset: number, length: number, flags: number): void {
    this.#memory.u8[this.#address + ATTRIBUTE_KIND] = kind;
    this.#memory.u8[this.#address + ATTRIBUTE_FLAGS] = flags;
    this.#memory.u32[(this.#address + ATTRIBUTE_OFFSET) >>> 2] = offset;
    this.#memory.u32[(this.#address + ATTRIBUTE_LENGTH) >>> 2] = length;
  }

  /** Gives the row another key (a redacted one). */
  rename(symbol: number): void {
    this.#memory.u32[(this.#address + ATTRIBUTE_SYMBOL) >>> 2] = symbol;
  }
}
