/** Reads attribute values of the current batch: as words, as strings, as numbers, and as parts of the JSON documents they hold. */
import {
  type AttributeCursor,
  flagsOf,
  headAt,
  isText,
  lengthAt,
  offsetAt,
  wordOfRow,
} from '../../model/attributes.ts';
import type { Batch, Tables } from '../../model/batch.ts';
import {
  KIND_ARRAY,
  KIND_BOOL,
  KIND_INT,
  KIND_JSON,
  KIND_MAP,
  KIND_NUMBER_TEXT,
  KIND_TEXT,
  TEXT_JSON_ESCAPED,
} from '../../model/layout.ts';
import { amountOfRow, amountOfValue, countOfRow, countOfValue } from './numbers.ts';
import { valueAt, valuesAt } from '../../dialects/paths.ts';
import { parseDocument } from '../../dialects/documents.ts';
import type { Memory } from '../../model/memory.ts';
import type { Rule } from './rules.ts';
import type { Words } from './words.ts';

/** A longer document is not parsed: its fields stay unavailable. */
export const MAX_DOCUMENT_BYTES = 256 * 1024;
/** Documents of one record that are remembered while it is read. */
const MAX_DOCUMENTS = 16;

export class Reader {
  readonly #batch: Batch;
  readonly #tables: Tables;
  readonly #memory: Memory;
  readonly #cursor: AttributeCursor;
  readonly #documents = new Map<number, unknown>();

  constructor(batch: Batch) {
    this.#batch = batch;
    this.#tables = batch.tables;
    this.#memory = batch.tables.memory;
    this.#cursor = batch.cursor();
  }

  /** Forgets the documents of the last record. */
  begin(): void {
    if (this.#documents.size > 0) this.#documents.clear();
  }

  at(row: number): AttributeCursor {
    return this.#cursor.goto(row);
  }

  /** Non-empty text. */
  isText(row: number): boolean {
    const { u32 } = this.#memory;
    const word = wordOfRow(row);
    return isText(headAt(u32, word)) && lengthAt(u32, word) > 0;
  }

  /** The value as a string, when it is text. */
  text(row: number): string | null {
    return this.#batch.textOf(row);
  }

  /** The number of the word an attribute is; 0: text that is no word of ours, or no text. */
  word(words: Words, row: number): number {
    const memory = this.#memory;
    const word = wordOfRow(row);
    const head = headAt(memory.u32, word);
    if (!isText(head)) return 0;
    const offset = offsetAt(memory.u32, word);
    const length = lengthAt(memory.u32, word);
    const found = words.ofText(memory, offset, length);
    if (found !== 0 || (flagsOf(head) & TEXT_JSON_ESCAPED) === 0) return found;
    return words.ofString(this.#tables.string(offset, length, flagsOf(head)));
  }

  count(rule: Rule, row: number): number {
    return rule.paths === null ? countOfRow(this.#memory, row) : this.#first(rule.paths, row, countOfValue);
  }

  amount(rule: Rule, row: number): number {
    return rule.paths === null ? amountOfRow(this.#memory, row) : this.#first(rule.paths, row, amountOfValue);
  }

  /** True, false, or null: a boolean, or the word of one. */
  truth(row: number): boolean | null {
    const attribute = this.#cursor.goto(row);
    if (attribute.kind === KIND_BOOL) return attribute.number !== 0;
    const text = this.text(row)?.toLowerCase();
    return text === 'true' ? true : text === 'false' ? false : null;
  }

  /** The first non-empty text that the rule's paths lead to; numbers as their text. */
  part(rule: Rule, row: number): string | null {
    for (const path of rule.paths ?? []) {
      // Senders that quote every value forget it here and there.
      const value = path === '$' ? (this.document(row) ?? this.text(row)) : this.value(row, path);
      if (typeof value === 'string' && value.length > 0) return value;
      if (typeof value === 'number') return String(value);
    }
    return null;
  }

  value(row: number, path: string): unknown {
    return valueAt(this.document(row), path);
  }

  values(row: number, path: string): unknown[] {
    return valuesAt(this.document(row), path);
  }

  /** The JSON value an attribute is or holds; undefined when there is none. */
  document(row: number): unknown {
    if (this.#documents.has(row)) return this.#documents.get(row);
    const document = this.#parse(row);
    if (this.#documents.size < MAX_DOCUMENTS) this.#documents.set(row, document);
    return document;
  }

  #parse(row: number): unknown {
    const attribute = this.#cursor.goto(row);
    const { kind, length } = attribute;
    if (length > MAX_DOCUMENT_BYTES && kind !== KIND_INT) return undefined;
    if (kind === KIND_TEXT) {
      return parseDocument(this.#batch.tables.string(attribute.offset, length, attribute.flags));
    }
    if (kind === KIND_ARRAY || kind === KIND_MAP || kind === KIND_JSON || kind === KIND_NUMBER_TEXT) {
      return parseDocument(this.#batch.jsonOf(row));
    }
    return undefined;
  }

  #first(paths: readonly string[], row: number, read: (value: unknown) => number): number {
    for (const path of paths) {
      const number = read(this.value(row, path));
      if (!Number.isNaN(number)) return number;
    }
    return Number.NaN;
  }
}
