/** Redacts attribute keys. Each key is checked once; rows of a key with a secret get another key. */
import type { AttributeCursor } from '../../../pdata/attributes.ts';
import { MAX_NAME_BYTES, type Tables } from '../../../pdata/tables.ts';
import { MAX_SYMBOLS, DISPOSITION_DROP } from '../../../pdata/layout.ts';
import type { Steps } from '../../../pdata/steps.ts';
import { readTextInSteps } from '../../../pdata/text.ts';
import { LONG_TEXT, type Redactor } from './redactor.ts';
import type { Candidates } from './candidates.ts';
import { UniqueKeys } from './unique-keys.ts';

/** In place of a key or an environment that cannot be redacted. */
export const UNCLEANABLE = '[redacted]';

const REPLACED = 1;
/** Symbols handled in one step. */
const STEP = 256;

export class KeyRedaction {
  readonly #redactor: Redactor;
  readonly #tables: Tables;
  /** By lasting symbol: REPLACED if its key is replaced. */
  readonly #lasting = new Uint8Array(MAX_SYMBOLS);
  readonly #keys = new Map<number, string>();
  readonly #localKeys = new Map<number, string>();
  #known = 1;

  constructor(redactor: Redactor, tables: Tables) {
    this.#redactor = redactor;
    this.#tables = tables;
  }

  /** Call it for each request, after the search over its body. */
  *update(candidates: Candidates): Steps {
    const count = this.#tables.symbolCount;
    for (; this.#known < count; this.#known++) {
      if (this.#known % STEP === 0) yield;
      const key = yield* this.#replacementOf(this.#known, candidates);
      if (key === null) continue;
      this.#lasting[this.#known] = REPLACED;
      this.#keys.set(this.#known, key);
    }
    this.#localKeys.clear();
    for (let index = 0; index < this.#tables.localSymbolCount; index++) {
      if (index % STEP === STEP - 1) yield;
      const key = yield* this.#replacementOf(MAX_SYMBOLS + index, candidates);
      if (key !== null) this.#localKeys.set(MAX_SYMBOLS + index, key);
    }
  }

  /** Whether any key was ever replaced; otherwise no row needs a check. */
  get any(): boolean {
    return this.#keys.size > 0 || this.#localKeys.size > 0;
  }

  /** Renames the rows of one owner, which `attributes` returns. A key that equals another one gets a number. */
  *rename(attributes: () => AttributeCursor): Steps {
    const rows = attributes();
    const renamed: number[] = [];
    while (rows.nextWith(this.#lasting, REPLACED)) {
      if (this.#renamed(rows.symbol) !== undefined) renamed.push(rows.row);
    }
    if (renamed.length === 0) return;
    const keys = new UniqueKeys(yield* this.#unchanged(attributes()));
    for (const [index, row] of renamed.entries()) {
      if (index % STEP === STEP - 1) yield;
      rows.goto(row);
      const text = this.#tables.scratch(keys.unique(this.#renamed(rows.symbol) ?? UNCLEANABLE));
      if (text === null) rows.disposition = DISPOSITION_DROP;
      else rows.rename(this.#tables.kernels.intern(text.offset, text.length));
    }
  }

  #renamed(symbol: number): string | undefined {
    return (symbol < MAX_SYMBOLS ? this.#keys : this.#localKeys).get(symbol);
  }

  /** The keys of the rows that are not renamed. */
  *#unchanged(rows: AttributeCursor): Steps<Set<string>> {
    const keys = new Set<string>();
    for (let index = 1; rows.next(); index++) {
      if (index % STEP === 0) yield;
      if (this.#renamed(rows.symbol) !== undefined) continue;
      const { offset, length } = this.#tables.keyTextOf(rows.symbol);
      if (length > MAX_NAME_BYTES) yield;
      keys.add(yield* readTextInSteps(this.#tables.memory, offset, length, 0));
    }
    return keys;
  }

  *#replacementOf(symbol: number, candidates: Candidates): Steps<string | null> {
    const { offset, length } = this.#tables.keyTextOf(symbol);
    const bits = candidates.at(offset, length);
    if (bits === 0) return null;
    // A key may have the size of a body.
    if (length > MAX_NAME_BYTES) yield;
    const key = yield* readTextInSteps(this.#tables.memory, offset, length, 0);
    const cleaned = length > LONG_TEXT ? yield* this.#redactor.clean(key, bits) : this.#redactor.redact(key, bits);
    return cleaned === key ? null : (cleaned ?? UNCLEANABLE);
  }
}
