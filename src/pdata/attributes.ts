/** A cursor over the attribute rows of one owner. The same object serves every list of a request. */
import * as layout from './layout.ts';
import type { Memory } from './memory.ts';

const TWO_32 = 4294967296;

// Positions in `Memory.u32`, bound here: an imported constant is read and checked at each use, a constant of the module
// is inlined.
const FIRST_WORD = layout.ATTRIBUTES_BASE >>> 2;
const ROW_WORDS = layout.ATTRIBUTE_STRIDE >>> 2;
const HEAD = layout.ATTRIBUTE_KIND >>> 2;
const OFFSET = layout.ATTRIBUTE_OFFSET >>> 2;
const LENGTH = layout.ATTRIBUTE_LENGTH >>> 2;
const SCALAR = layout.ATTRIBUTE_SCALAR >>> 2;
const FLAGS_SHIFT = (layout.ATTRIBUTE_FLAGS - layout.ATTRIBUTE_KIND) * 8;
const DISPOSITION_SHIFT = (layout.ATTRIBUTE_DISPOSITION - layout.ATTRIBUTE_KIND) * 8;
const DISPOSITION = layout.ATTRIBUTE_DISPOSITION;
const TEXT = layout.KIND_TEXT;
const BYTE = 0xff;

// For code that reads a few rows of every record without the cursor: the first word of a row, and its content.
export function wordOfRow(row: number): number {
  return FIRST_WORD + row * ROW_WORDS;
}
/** KIND_…, TEXT_… flags and DISPOSITION_… in one word. */
export function headAt(u32: Uint32Array, word: number): number {
  return u32[word + HEAD] as number;
}
export function kindOf(head: number): number {
  return head & BYTE;
}
export function flagsOf(head: number): number {
  return (head >>> FLAGS_SHIFT) & BYTE;
}
export function dispositionOf(head: number): number {
  return (head >>> DISPOSITION_SHIFT) & BYTE;
}
export function isText(head: number): boolean {
  return (head & BYTE) === TEXT;
}
export function offsetAt(u32: Uint32Array, word: number): number {
  return u32[word + OFFSET] as number;
}
export function lengthAt(u32: Uint32Array, word: number): number {
  return u32[word + LENGTH] as number;
}
/** The i64 of a row. Loses digits beyond 2^53. */
export function integerAt({ i32, u32 }: Memory, word: number): number {
  return (i32[word + SCALAR + 1] as number) * TWO_32 + (u32[word + SCALAR] as number);
}
export function doubleAt({ f64 }: Memory, word: number): number {
  return f64[(word + SCALAR) >>> 1] as number;
}
/** The double that a JSON number is, of a row of KIND_NUMBER_TEXT. */
export function writtenDoubleAt({ u32, bytes }: Memory, word: number): number {
  const offset = offsetAt(u32, word);
  return Number(bytes.toString('latin1', offset, offset + lengthAt(u32, word)));
}
/** Whether a value of this kind is a number or a boolean. */
export function isScalar(kind: number): boolean {
  return isStoredInRow(kind) || kind === layout.KIND_NUMBER_TEXT;
}
/** Whether the row has the value itself, and no offset and length. */
export function isStoredInRow(kind: number): boolean {
  return kind === layout.KIND_INT || kind === layout.KIND_DOUBLE || kind === layout.KIND_BOOL;
}

/**
 * `at(first, count)` places the cursor before the first row. `next()` moves to the next row that no later duplicate
 * supersedes, and returns false at the end. Getters read the current row; `goto(row)` jumps. Row numbers stay valid for
 * the whole request.
 */
export class AttributeCursor {
  readonly #memory: Memory;
  #row = -1;
  #end = 0;
  #word = 0;

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
    this.#word = wordOfRow(row);
    return this;
  }

  next(): boolean {
    const { u32 } = this.#memory;
    while (++this.#row < this.#end) {
      this.#word = wordOfRow(this.#row);
      if (dispositionOf(headAt(u32, this.#word)) !== layout.DISPOSITION_SUPERSEDED) return true;
    }
    return false;
  }

  /**
   * As `next`, but skips rows whose key has none of these bits: for loops over all attributes of a request that need
   * few of them. Keys beyond the list, which belong to one request, have all bits.
   */
  nextWith(bitsOfKeys: Uint8Array, bits: number): boolean {
    const { u32 } = this.#memory;
    const end = wordOfRow(this.#end);
    for (let word = wordOfRow(this.#row + 1); word < end; word += ROW_WORDS) {
      if (((bitsOfKeys[u32[word] as number] ?? bits) & bits) === 0) continue;
      if (dispositionOf(headAt(u32, word)) === layout.DISPOSITION_SUPERSEDED) continue;
      this.#row = (word - FIRST_WORD) / ROW_WORDS;
      this.#word = word;
      return true;
    }
    this.#row = this.#end;
    return false;
  }

  /** The row number of the current attribute. */
  get row(): number {
    return this.#row;
  }

  /** The interned key; 0 for a log body. */
  get symbol(): number {
    return this.#memory.u32[this.#word] as number;
  }

  /** KIND_… of layout.ts. */
  get kind(): number {
    return kindOf(headAt(this.#memory.u32, this.#word));
  }

  /** TEXT_… flags of the value. */
  get flags(): number {
    return flagsOf(headAt(this.#memory.u32, this.#word));
  }

  get offset(): number {
    return offsetAt(this.#memory.u32, this.#word);
  }

  get length(): number {
    return lengthAt(this.#memory.u32, this.#word);
  }

  get disposition(): number {
    return dispositionOf(headAt(this.#memory.u32, this.#word));
  }

  set disposition(disposition: number) {
    this.#memory.u8[(this.#word << 2) + DISPOSITION] = disposition;
  }

  get kept(): boolean {
    return this.disposition === layout.DISPOSITION_KEEP;
  }

  /** The attribute is stored neither among the attributes nor in a derived column. */
  drop(): void {
    this.disposition = layout.DISPOSITION_DROP;
  }

  /**
   * The value of a scalar kind as a number; NaN for other kinds. Integers beyond 2^53 lose digits.
   */
  get number(): number {
    const kind = this.kind;
    if (kind === layout.KIND_DOUBLE) return doubleAt(this.#memory, this.#word);
    if (kind === layout.KIND_NUMBER_TEXT) return writtenDoubleAt(this.#memory, this.#word);
    return kind === layout.KIND_INT || kind === layout.KIND_BOOL ? integerAt(this.#memory, this.#word) : Number.NaN;
  }

  /** The value of KIND_INT with all its digits. */
  get integer(): bigint {
    return this.#memory.i64[(this.#word + SCALAR) >>> 1] as bigint;
  }

  /** Sets another text for the row, with the kind `kind`. */
  replace(kind: number, offset: number, length: number, flags: number): void {
    const { u8, u32 } = this.#memory;
    u8[(this.#word << 2) + layout.ATTRIBUTE_KIND] = kind;
    u8[(this.#word << 2) + layout.ATTRIBUTE_FLAGS] = flags;
    u32[this.#word + OFFSET] = offset;
    u32[this.#word + LENGTH] = length;
  }

  /** Sets another key for the row (a redacted one). */
  rename(symbol: number): void {
    this.#memory.u32[this.#word] = symbol;
  }
}
