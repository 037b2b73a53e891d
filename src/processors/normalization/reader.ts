/**
 * Reads attribute values of the current batch: as words, as strings, as numbers, and as parts of the JSON documents
 * they hold.
 */
import {
  type AttributeCursor,
  flagsOf,
  headAt,
  isScalar,
  isText,
  lengthAt,
  offsetAt,
  wordOfRow,
} from '../../pdata/attributes.ts';
import type { Tables } from '../../pdata/tables.ts';
import type { Batch } from '../../pdata/batch.ts';
import * as layout from '../../pdata/layout.ts';
import { amountOfRow, amountOfValue, countOfRow, countOfValue } from './numbers.ts';
import { valueAt, valuesAt } from '../../dialects/lookup/paths.ts';
import { trimTo } from '../../dialects/lookup/trim-to.ts';
import { parseDocument } from '../../dialects/lookup/documents.ts';
import { hasLongNumbers, type Json, jsonText, parseJson } from '../../pdata/exact-json.ts';
import type { Memory } from '../../pdata/memory.ts';
import { MAX_HEAD_BYTES } from '../../pdata/text.ts';
import type { Rule } from './rules.ts';
import type { Words } from './words.ts';

/** Longer documents are not parsed; their fields stay unavailable. */
export const MAX_DOCUMENT_BYTES = MAX_HEAD_BYTES;
/** Limits of the documents parsed for one record, in number and bytes. Fields of further documents stay unavailable. */
const MAX_DOCUMENTS = 64;
const MAX_RECORD_BYTES = 1024 * 1024;
/** No boolean word is longer. */
const MAX_TRUTH_BYTES = 16;

/** The bytes of white space and of its escapes in JSON. Only first bytes of characters begin a text. */
const BLANK_BYTES = Buffer.from('\t\n\v\f\r \\\u00a0\u1680\u2000\u3000\ufeff');
/** By byte: whether a text that begins with it may be white space only. */
export const BEGINS_BLANK = Uint8Array.from({ length: 256 }, (_, byte) => (BLANK_BYTES.includes(byte) ? 1 : 0));

export const isBlank = (text: string): boolean => text.trim() === '';

export class Reader {
  readonly #batch: Batch;
  readonly #tables: Tables;
  readonly #memory: Memory;
  readonly #cursor: AttributeCursor;
  readonly #documents = new Map<number, unknown>();
  #parsedBytes = 0;

  constructor(batch: Batch) {
    this.#batch = batch;
    this.#tables = batch.tables;
    this.#memory = batch.tables.memory;
    this.#cursor = batch.cursor();
  }

  /** Forgets the documents of the last record. */
  begin(): void {
    if (this.#documents.size > 0) this.#documents.clear();
    this.#parsedBytes = 0;
  }

  at(row: number): AttributeCursor {
    return this.#cursor.goto(row);
  }

  /** Text that is not blank. */
  isText(row: number): boolean {
    const { u32 } = this.#memory;
    const word = wordOfRow(row);
    return isText(headAt(u32, word)) && lengthAt(u32, word) > 0 && !this.isBlank(row);
  }

  /** Whether a text that is not empty has white space only: senders write that when there is no name. */
  isBlank(row: number): boolean {
    const { u32, u8 } = this.#memory;
    // The first byte decides for nearly all texts.
    const first = u8[offsetAt(u32, wordOfRow(row))] as number;
    return BEGINS_BLANK[first] !== 0 && isBlank(this.text(row) ?? '');
  }

  /** The value as a string, when it is text. A text that is longer than any document that is parsed is cut. */
  text(row: number): string | null {
    return this.#batch.headOf(row);
  }

  /** The number of the word that an attribute's value is; 0: an unknown word, or no text. */
  word(words: Words, row: number): number {
    const memory = this.#memory;
    const word = wordOfRow(row);
    const head = headAt(memory.u32, word);
    if (!isText(head)) return 0;
    const offset = offsetAt(memory.u32, word);
    const length = lengthAt(memory.u32, word);
    const found = words.ofText(memory, offset, length);
    if (found !== 0 || (flagsOf(head) & layout.TEXT_JSON_ESCAPED) === 0) return found;
    return words.ofString(this.#tables.head(offset, length, flagsOf(head)));
  }

  count(rule: Rule, row: number): number {
    if (rule.paths !== null) return rule.sum ? this.#sum(rule, row) : this.#first(rule, row, countOfValue);
    const text = this.#limitedText(rule, row);
    return text === null ? countOfRow(this.#memory, row) : countOfValue(text);
  }

  amount(rule: Rule, row: number): number {
    if (rule.paths !== null) return this.#first(rule, row, amountOfValue);
    const text = this.#limitedText(rule, row);
    return text === null ? amountOfRow(this.#memory, row) : amountOfValue(text);
  }

  /** A boolean or the word for one; null: neither. */
  truth(row: number): boolean | null {
    const attribute = this.#cursor.goto(row);
    if (attribute.kind === layout.KIND_BOOL) return attribute.number !== 0;
    if (attribute.length > MAX_TRUTH_BYTES) return null;
    const text = this.text(row)?.toLowerCase();
    return text === 'true' ? true : text === 'false' ? false : null;
  }

  /** The value if it is a short text; else empty. */
  shortText(row: number): string {
    return this.sizeOf(row) > MAX_TRUTH_BYTES ? '' : (this.text(row) ?? '');
  }

  /** The first text that the rule's paths lead to and that is not blank; numbers as their text. */
  part(rule: Rule, row: number): string | null {
    for (const path of rule.paths ?? []) {
      // Senders that write every value as JSON leave some of them unquoted.
      const value = path === '$' ? (this.document(row) ?? this.text(row)) : this.value(row, path);
      if (typeof value === 'string' && !isBlank(value)) return value;
      if (typeof value === 'number') return this.partAsJson(row, path, value);
    }
    return null;
  }

  /** A part of a document as JSON text. `value` is what `value(row, path)` gave, whose numbers may have lost digits. */
  partAsJson(row: number, path: string, value: unknown): string {
    const text = this.#source(row);
    const exact = hasLongNumbers(text) ? parseJson(text) : undefined;
    return exact === undefined ? JSON.stringify(value) : jsonText(valueAt(exact, path) as Json);
  }

  value(row: number, path: string): unknown {
    return valueAt(this.document(row), path);
  }

  values(row: number, path: string): unknown[] {
    return valuesAt(this.document(row), path);
  }

  /** The value of an attribute as JSON; undefined: none. */
  document(row: number): unknown {
    const known = this.#documents.get(row);
    if (known !== undefined || this.#documents.has(row)) return known;
    if (this.#documents.size >= MAX_DOCUMENTS || this.#parsedBytes > MAX_RECORD_BYTES) return undefined;
    const document = this.#mayParse(row) ? parseDocument(this.#source(row)) : undefined;
    this.#documents.set(row, document);
    return document;
  }

  /**
   * As `document`, without keeping it, for a row that is read once. Long numbers are marked: `jsonText` writes them
   * with every digit.
   */
  parseExactly(row: number): unknown {
    if (!this.#mayParse(row)) return undefined;
    const text = this.#source(row);
    const document = parseDocument(text);
    return document === undefined || !hasLongNumbers(text) ? document : (parseJson(text) ?? document);
  }

  /** The bytes of a value in the body; a scalar counts none. */
  sizeOf(row: number): number {
    const { kind, length } = this.#cursor.goto(row);
    return isScalar(kind) ? 0 : length;
  }

  /** Counts the bytes of a document that is parsed. */
  #mayParse(row: number): boolean {
    const bytes = this.sizeOf(row);
    if (bytes > MAX_DOCUMENT_BYTES) return false;
    this.#parsedBytes += bytes;
    return true;
  }

  /** The text of a document; empty for a value that holds none. */
  #source(row: number): string {
    const { kind, offset, length, flags } = this.#cursor.goto(row);
    if (kind === layout.KIND_TEXT) return this.#batch.tables.string(offset, length, flags);
    const isRendered = kind === layout.KIND_ARRAY || kind === layout.KIND_MAP || kind === layout.KIND_JSON;
    return isRendered ? this.#batch.jsonOf(row) : '';
  }

  /** The part of a text that the rule takes; null: the rule takes the whole value, or the value is no text. */
  #limitedText(rule: Rule, row: number): string | null {
    if (rule.before === null && rule.after === null) return null;
    const text = this.text(row);
    return text === null ? null : trimTo(text, rule);
  }

  /** The values at the rule's paths; of texts the part that the rule takes. Undefined: no value. */
  *#partsOf(rule: Rule, row: number): Generator<unknown> {
    for (const path of rule.paths ?? []) {
      const value = this.value(row, path);
      yield typeof value === 'string' ? trimTo(value, rule) : value;
    }
  }

  /** NaN if there is no value, or one that is no count: a part of the sum would be missing. */
  #sum(rule: Rule, row: number): number {
    let sum = Number.NaN;
    for (const value of this.#partsOf(rule, row)) {
      if (value !== undefined) sum = (Number.isNaN(sum) ? 0 : sum) + countOfValue(value);
      if (value !== undefined && Number.isNaN(sum)) return Number.NaN;
    }
    return Number.isSafeInteger(sum) ? sum : Number.NaN;
  }

  #first(rule: Rule, row: number, read: (value: unknown) => number): number {
    for (const value of this.#partsOf(rule, row)) {
      const number = read(value);
      if (!Number.isNaN(number)) return number;
    }
    return Number.NaN;
  }
}
