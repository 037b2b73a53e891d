/** Attribute keys are texts too: each is looked at once, and rows of a key that holds a secret get another key. */
import type { Batch, Tables } from '../../../pdata/batch.ts';
import {
  ATTRIBUTE_STRIDE,
  ATTRIBUTE_SYMBOL,
  ATTRIBUTE_VERDICT,
  ATTRIBUTES_BASE,
  MAX_SYMBOLS,
  SYMBOL_LENGTH,
  SYMBOL_OFFSET,
  SYMBOL_STRIDE,
  SYMBOLS_BASE,
  VERDICT_DROP,
  VERDICT_SUPERSEDED,
} from '../../../pdata/layout.ts';
import type { Steps } from '../../../pdata/steps.ts';
import { unique } from './json-text.ts';
import type { Redactor } from './redactor.ts';
import type { Suspects } from './suspects.ts';

/** Instead of a key or an environment that can not be cleaned. */
export const UNCLEANABLE = '[redacted]';

/** Symbols handled in one step. */
const STEP = 256;

export class KeyRedaction {
  readonly #redactor: Redactor;
  readonly #tables: Tables;
  /** 1: the key of this lasting symbol is replaced. */
  readonly #lasting = new Uint8Array(MAX_SYMBOLS);
  readonly #keys = new Map<number, string>();
  readonly #localKeys = new Map<number, string>();
  #known = 1;

  constructor(redactor: Redactor, tables: Tables) {
    this.#redactor = redactor;
    this.#tables = tables;
  }

  /** To be called for each request, after its body was looked over. */
  *update(suspects: Suspects): Steps {
    const count = this.#tables.symbolCount;
    for (; this.#known < count; this.#known++) {
      if (this.#known % STEP === 0) yield;
      const key = this.#replacementOf(this.#known, suspects);
      if (key === null) continue;
      this.#lasting[this.#known] = 1;
      this.#keys.set(this.#known, key);
    }
    this.#localKeys.clear();
    for (let index = 0; index < this.#tables.localSymbolCount; index++) {
      if (index % STEP === STEP - 1) yield;
      const key = this.#replacementOf(MAX_SYMBOLS + index, suspects);
      if (key !== null) this.#localKeys.set(MAX_SYMBOLS + index, key);
    }
  }

  /** Whether any key ever was replaced: otherwise there is no need to look at the rows. */
  get any(): boolean {
    return this.#keys.size > 0 || this.#localKeys.size > 0;
  }

  /** Renames the rows of one owner. Two keys that become the same are told apart by a number. */
  rename(batch: Batch, first: number, count: number): void {
    const { u32, u8 } = this.#tables.memory;
    let taken: Map<string, number> | null = null;
    for (let row = first; row < first + count; row++) {
      const at = ATTRIBUTES_BASE + row * ATTRIBUTE_STRIDE;
      const symbol = u32[(at + ATTRIBUTE_SYMBOL) >>> 2] as number;
      if (symbol < MAX_SYMBOLS ? this.#lasting[symbol] === 0 : !this.#localKeys.has(symbol)) continue;
      if (u8[at + ATTRIBUTE_VERDICT] === VERDICT_SUPERSEDED) continue;
      taken ??= new Map();
      const key = unique(this.#keys.get(symbol) ?? this.#localKeys.get(symbol) ?? UNCLEANABLE, taken);
      const text = this.#tables.scratch(key);
      const attribute = batch.attributes.goto(row);
      if (text === null) attribute.verdict = VERDICT_DROP;
      else attribute.rename(this.#tables.kernels.intern(text.offset, text.length));
    }
  }

  #replacementOf(symbol: number, suspects: Suspects): string | null {
    const { u32 } = this.#tables.memory;
    const word = (SYMBOLS_BASE + symbol * SYMBOL_STRIDE) >>> 2;
    const bits = suspects.at(u32[word + (SYMBOL_OFFSET >>> 2)] as number, u32[word + (SYMBOL_LENGTH >>> 2)] as number);
    if (bits === 0) return null;
    const key = this.#tables.keyOf(symbol);
    const cleaned = this.#redactor.redact(key, bits);
    return cleaned === key ? null : (cleaned ?? UNCLEANABLE);
  }
}
