/**
 * The class of each attribute key: classified once in the life of the process, then found by array index. Keys that
 * live for one request only (the symbol table is full) are classified for that request.
 */
import type { Dialect } from '../../dialects/dialect.ts';
import { KeyIndex } from '../../dialects/lookup/key-index.ts';
import type { Tables } from '../../pdata/tables.ts';
import { MAX_SYMBOLS } from '../../pdata/layout.ts';
import type { Steps } from '../../pdata/steps.ts';
import { operationNumber, type Rule } from './rules.ts';
import type { Words } from './words.ts';

/** Ranks of the signs of a dialect: the lowest wins; among signs of one kind, the dialect that is listed first. */
const RANK_MARKER = 1;
export const RANK_SCOPE = 1_000;
const RANK_HINT = 2_000;
export const RANK_SERVICE = 3_000;
export const NO_RANK = 9_999;

export function dialectOfRank(rank: number): number {
  return rank >= RANK_SCOPE ? rank % RANK_SCOPE : rank - RANK_MARKER;
}

/** A marker or hint; `value` null: any value of the attribute will do. */
interface Sign {
  readonly value: string | null;
  readonly rank: number;
}

export interface KeyClass {
  readonly rules: readonly Rule[];
  /** By the index of a rule: the order of a flattened key among its siblings. */
  readonly orders: readonly number[];
  /** The best rank that the key alone gives, whatever its value. */
  readonly rank: number;
  /** Ranks that a certain value gives, by the number of its word. */
  readonly signs: readonly { readonly word: number; readonly rank: number }[];
  /** Dialects that use the key although it is too general for others. */
  readonly only: readonly number[];
  /** The key proves a record about AI: other telemetry does not use the name. */
  readonly telling: boolean;
  /** The operation that a span with this key has, if nothing else states it; 0: none. */
  readonly suggests: number;
  /** The key names a user or a conversation; those columns are filled on every record. */
  readonly personal: boolean;
}

const NOTHING: KeyClass = {
  rules: [],
  orders: [],
  rank: NO_RANK,
  signs: [],
  only: [],
  telling: false,
  suggests: 0,
  personal: false,
};

/** Keys handled in one step. */
const STEP = 128;

export class KeyClasses {
  readonly #rules = new KeyIndex<Rule>();
  readonly #signs = new KeyIndex<Sign>();
  readonly #suggestions = new KeyIndex<number>();
  /** 0: not classified; 1: no class; n: `#classes[n]`. */
  readonly #numbers = new Uint16Array(MAX_SYMBOLS);
  readonly #classes: KeyClass[] = [NOTHING, NOTHING];
  readonly #local = new Map<number, KeyClass>();
  /** The first lasting symbol that is not classified. */
  #next = 1;

  readonly #words: Words;

  constructor(rules: readonly Rule[], dialects: readonly Dialect[], words: Words) {
    this.#words = words;
    for (const rule of rules) this.#rules.add(rule.attribute, rule);
    for (const [index, { markers, hints, suggests }] of dialects.entries()) {
      for (const [attribute, operation] of Object.entries(suggests ?? {})) {
        this.#suggestions.add(attribute, operationNumber(operation));
      }
      for (const marker of markers ?? []) this.#addSign(marker, RANK_MARKER + index);
      for (const hint of hints ?? []) this.#addSign(hint, RANK_HINT + index);
    }
  }

  /**
   * Forgets the keys of the last request and classifies the new ones of this request, ahead and in steps, because one
   * record may have tens of thousands of them.
   */
  *begin(tables: Tables): Steps {
    if (this.#local.size > 0) this.#local.clear();
    for (; this.#next < tables.symbolCount; this.#next++) {
      this.of(tables, this.#next);
      if (this.#next % STEP === 0) yield;
    }
    for (let index = 0; index < tables.localSymbolCount; index++) {
      this.of(tables, MAX_SYMBOLS + index);
      if (index % STEP === STEP - 1) yield;
    }
  }

  /** Null: the key has no class. */
  of(tables: Tables, symbol: number): KeyClass | null {
    if (symbol >= MAX_SYMBOLS) return this.#ofLocal(tables, symbol);
    const number = this.#numbers[symbol] as number;
    if (number === 1) return null;
    return number === 0 ? this.#classify(tables, symbol) : (this.#classes[number] as KeyClass);
  }

  /** The class of any name, also of `(body)`, which is no key. */
  ofName(name: string): KeyClass {
    const found = this.#rules.find(name);
    const signs = this.#signs.find(name).map(({ entry }) => entry);
    const rules = found.map(({ entry }) => entry);
    const suggests = this.#suggestions.find(name)[0]?.entry ?? 0;
    const plain = signs.filter(({ value }) => value === null).map(({ rank }) => rank);
    return {
      rules,
      orders: found.map(({ order }) => order),
      rank: Math.min(NO_RANK, ...plain),
      signs: signs.flatMap(({ value, rank }) => (value === null ? [] : [{ word: this.#words.add(value), rank }])),
      only: [...new Set(rules.flatMap(({ only }) => [...(only ?? [])]))],
      telling: suggests !== 0 || rules.some((rule) => rule.general === null && rule.only === null),
      suggests,
      personal: rules.some((rule) => rule.general === 'person'),
    };
  }

  #classify(tables: Tables, symbol: number): KeyClass | null {
    const found = this.#known(tables.nameOf(symbol));
    if (found === null) {
      this.#numbers[symbol] = 1;
      return null;
    }
    this.#numbers[symbol] = this.#classes.length;
    this.#classes.push(found);
    return found;
  }

  #ofLocal(tables: Tables, symbol: number): KeyClass | null {
    const known = this.#local.get(symbol);
    if (known !== undefined) return known === NOTHING ? null : known;
    const found = this.#known(tables.nameOf(symbol));
    this.#local.set(symbol, found ?? NOTHING);
    return found;
  }

  #known(name: string | null): KeyClass | null {
    if (name === null) return null;
    const found = this.ofName(name);
    return found.rules.length === 0 && found.rank === NO_RANK && found.signs.length === 0 && !found.telling
      ? null
      : found;
  }

  #addSign(sign: string, rank: number): void {
    const [attribute = '', value] = sign.split('=');
    this.#signs.add(attribute, { value: value ?? null, rank });
  }
}
