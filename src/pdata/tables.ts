/** The tables in one memory: their header, the symbols of keys, and texts that are not part of the body. */
import * as layout from './layout.ts';
import type { Memory } from './memory.ts';
import type { Steps } from './steps.ts';
import { endOfWhole, lengthOfHead, type TextRef } from './text.ts';

/** The WASM functions over the same memory. They return texts in the header. */
export interface Kernels {
  intern(offset: number, length: number): number;
  renderJson(row: number): void;
  unescapeJson(offset: number, length: number): void;
  classifyText(offset: number, length: number): number;
  encodeNdjson(first: number): number;
  encodeCopy(first: number): number;
  encodePlainCopy(first: number): number;
  arePlain(): number;
  encodeShared(first: number): number;
  encodeOtlp(first: number): number;
  findPrefixes(from: number, end: number): number;
}

/** The part of the region of constants for texts that may change while the process runs. */
const CHANGING_CAPACITY = layout.CONSTANTS_CAPACITY / 2;
const CHANGING_BASE = layout.CONSTANTS_BASE + layout.CONSTANTS_CAPACITY - CHANGING_CAPACITY;

/** Longer texts are written in several steps. */
const LONG_TEXT = 1_048_576;

/** Runs one kernel call in steps. */
type InSteps = <Result>(call: () => Result) => Steps<Result>;

/** The names of attributes in tables of dialects are shorter. A key may have the size of a body. */
export const MAX_NAME_BYTES = 1024;

/**
 * The tables in one memory. Constants and symbols live as long as the tables; everything else belongs to the current
 * request.
 */
export class Tables {
  readonly memory: Memory;
  readonly kernels: Kernels;
  /** For kernel calls that take long on a large body. No other kernel may be called before the call has ended. */
  readonly inSteps: InSteps;
  readonly #constants = new Map<string, TextRef>();
  readonly #changing = new Map<string, TextRef>();
  #changingEnd = CHANGING_BASE;
  #changingIsFull = false;
  #epoch = 0;

  constructor(memory: Memory, kernels: Kernels, inSteps: InSteps) {
    this.memory = memory;
    this.kernels = kernels;
    this.inSteps = inSteps;
  }

  header(field: number): number {
    return this.memory.u32[(layout.HEADER_BASE + field) >>> 2] as number;
  }

  setHeader(field: number, value: number): void {
    this.memory.u32[(layout.HEADER_BASE + field) >>> 2] = value;
  }

  /**
   * Stores a text for the life of the tables: canonical words, prices, replacements. The room is limited, so only for
   * our own vocabulary.
   */
  constant(text: string): TextRef {
    const known = this.#constants.get(text);
    if (known !== undefined) return known;
    const offset = this.header(layout.HEADER_CONSTANTS) || layout.CONSTANTS_BASE;
    const length = Buffer.byteLength(text);
    if (offset + length > CHANGING_BASE) throw new Error('the region of constants is full');
    this.memory.bytes.write(text, offset);
    this.setHeader(layout.HEADER_CONSTANTS, offset + length);
    const reference = { offset, length, flags: this.kernels.classifyText(offset, length) };
    this.#constants.set(text, reference);
    return reference;
  }

  /** Called when a request begins: removes the texts of `changing` when there is no room for more. */
  begin(): void {
    if (!this.#changingIsFull) return;
    this.#changingIsFull = false;
    this.#changing.clear();
    this.#changingEnd = CHANGING_BASE;
    this.#epoch++;
  }

  /** Texts of `changing` are valid while this value is unchanged. It does not change within a request. */
  get epoch(): number {
    return this.#epoch;
  }

  /**
   * Stores a text of ours that may change with the configuration or a stored setting, for example the price that was
   * used. Null: no room now.
   */
  changing(text: string): TextRef | null {
    const known = this.#changing.get(text);
    if (known !== undefined) return known;
    const offset = this.#changingEnd;
    const length = Buffer.byteLength(text);
    if (offset + length > layout.CONSTANTS_BASE + layout.CONSTANTS_CAPACITY) {
      this.#changingIsFull = true;
      return null;
    }
    this.memory.bytes.write(text, offset);
    this.#changingEnd = offset + length;
    const reference = { offset, length, flags: this.kernels.classifyText(offset, length) };
    this.#changing.set(text, reference);
    return reference;
  }

  /** Interns a key permanently; called at the start, for every key that a processor knows by name. */
  symbol(key: string): number {
    const text = this.constant(key);
    return this.kernels.intern(text.offset, text.length);
  }

  /**
   * The highest symbol in use + 1, persistent symbols only. Symbols from MAX_SYMBOLS on belong to the current request.
   */
  get symbolCount(): number {
    return this.header(layout.HEADER_SYMBOLS) + 1;
  }

  get localSymbolCount(): number {
    return this.header(layout.HEADER_LOCAL_SYMBOLS);
  }

  keyOf(symbol: number): string {
    const { offset, length } = this.keyTextOf(symbol);
    return this.memory.bytes.toString('utf8', offset, offset + length);
  }

  /** The key as a name that a table of attributes may list; null when it is longer than any of them. */
  nameOf(symbol: number): string | null {
    return this.keyTextOf(symbol).length > MAX_NAME_BYTES ? null : this.keyOf(symbol);
  }

  /** The location of the key of a symbol. */
  keyTextOf(symbol: number): Omit<TextRef, 'flags'> {
    const word = (layout.SYMBOLS_BASE + symbol * layout.SYMBOL_STRIDE) >>> 2;
    const { u32 } = this.memory;
    return {
      offset: u32[word + (layout.SYMBOL_OFFSET >>> 2)] as number,
      length: u32[word + (layout.SYMBOL_LENGTH >>> 2)] as number,
    };
  }

  /** Decodes a text to a string. Expensive: only for the few values that are needed as strings. */
  string(offset: number, length: number, flags: number): string {
    if ((flags & layout.TEXT_JSON_ESCAPED) === 0) return this.memory.bytes.toString('utf8', offset, offset + length);
    this.kernels.unescapeJson(offset, length);
    const plain = this.header(layout.HEADER_TEXT_OFFSET);
    return this.memory.bytes.toString('utf8', plain, plain + this.header(layout.HEADER_TEXT_LENGTH));
  }

  /** As `string`, for a text in which a name, a word or a number is expected: a long text is cut. */
  head(offset: number, length: number, flags: number): string {
    return this.string(offset, lengthOfHead(this.memory, offset, length, flags), flags);
  }

  /**
   * Writes a computed text into scratch. Null when scratch is full: the caller then leaves the field unavailable or
   * drops the value.
   */
  scratch(text: string): TextRef | null {
    const offset = this.header(layout.HEADER_SCRATCH);
    const room = layout.SCRATCH_BASE + layout.SCRATCH_CAPACITY - offset;
    const length = Buffer.byteLength(text);
    if (length > room) return null;
    this.memory.bytes.write(text, offset);
    this.setHeader(layout.HEADER_SCRATCH, offset + length);
    return { offset, length, flags: this.kernels.classifyText(offset, length) };
  }

  /** Sets the columns that are the same for every row of the request. */
  stamp(project: TextRef, receivedAt: bigint): void {
    this.setHeader(layout.HEADER_PROJECT_OFFSET, project.offset);
    this.setHeader(layout.HEADER_PROJECT_LENGTH, project.length);
    this.memory.i64[(layout.HEADER_BASE + layout.HEADER_RECEIVED_AT) >>> 3] = receivedAt;
  }

  /** As `scratch`, for texts of any length. */
  *scratchInSteps(text: string): Steps<TextRef | null> {
    if (text.length <= LONG_TEXT) return this.scratch(text);
    const length = Buffer.byteLength(text);
    yield;
    const offset = this.header(layout.HEADER_SCRATCH);
    if (length > layout.SCRATCH_BASE + layout.SCRATCH_CAPACITY - offset) return null;
    let to = offset;
    for (let at = 0; at < text.length; ) {
      const end = endOfWhole(text, Math.min(at + LONG_TEXT, text.length));
      to += this.memory.bytes.write(text.slice(at, end), to);
      at = end;
      yield;
    }
    this.setHeader(layout.HEADER_SCRATCH, offset + length);
    return { offset, length, flags: this.kernels.classifyText(offset, length) };
  }

  /** The text that the last kernel call returned. */
  returned(): TextRef {
    return {
      offset: this.header(layout.HEADER_TEXT_OFFSET),
      length: this.header(layout.HEADER_TEXT_LENGTH),
      flags: this.header(layout.HEADER_TEXT_FLAGS),
    };
  }
}
