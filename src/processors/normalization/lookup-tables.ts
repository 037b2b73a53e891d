/**
 * The lookup tables of the processor, built once before the first request: rules, key classes, words and the column
 * texts of our own vocabulary. They belong to the tables of one process.
 */
import type { CacheCounting } from '../../component/capabilities/cache-counting.ts';
import { FieldCandidates } from './field-candidates.ts';
import { OPERATIONS } from '../../dialects/categories.ts';
import { BODY, type Dialect, type EventPart } from '../../dialects/dialect.ts';
import { DIALECTS } from '../../dialects/families.ts';
import { NO_NAMES, PLACEHOLDERS } from '../../dialects/providers.ts';
import type { Tables } from '../../pdata/tables.ts';
import type { TextRef } from '../../pdata/text.ts';
import { CacheAccounting } from './cache-accounting.ts';
import { Detection } from './detection.ts';
import { type KeyClass, KeyClasses } from './key-classes.ts';
import { NameTable, tableOf } from './name-table.ts';
import { Providers } from './provider-names.ts';
import { compileRules, operationNumber, type Rule } from './rules.ts';
import { KeySequenceCache } from './key-sequence-cache.ts';
import { ValueMemo } from './value-memo.ts';
import { Words } from './words.ts';

/** The dialect of records that only have the names of the conventions. */
const STANDARD = 'otel';
const BACKSLASH = 0x5c;
/** No placeholder is longer. */
export const LONGEST_PLACEHOLDER = 32;

export interface MessageEvent {
  /** The role of the message, from the event name. */
  readonly role: string;
  readonly parts: ReadonlyMap<number, EventPart>;
  readonly body: EventPart | null;
}

/** What the words of one operation attribute mean. */
interface OperationWords {
  /** By word: the number of the operation. */
  readonly byWord: number[];
  readonly open: NameTable<number>;
}

export class LookupTables {
  /** Scratch space for the candidates of one record; created once, because it is large. */
  readonly fields = new FieldCandidates();
  readonly sequences = new KeySequenceCache();
  /** The dialects of the configuration come first. */
  readonly dialects: readonly Dialect[];
  /** The number of dialects that the configuration adds. */
  readonly ownCount: number;
  readonly rules: readonly Rule[];
  readonly detection: Detection;
  readonly words = new Words();
  readonly keys: KeyClasses;
  readonly providers = new Providers();
  readonly relocating: number;
  readonly standard: number;
  readonly bodyClass: KeyClass;
  readonly spanNames: readonly NameTable<number>[];
  /** By dialect: whether span names matter. Making a string of a name costs more than everything else. */
  readonly needsSpanName: readonly boolean[];
  /** Finish reasons by the bytes of the attribute value; filled at run time, with usual words only. */
  readonly usualReasons = new ValueMemo<TextRef>();
  readonly events: readonly NameTable<number>[];
  readonly cacheAccounting: readonly CacheAccounting[];
  /** Scopes whose agent spans carry the only usage of their trace. */
  readonly ownUsage: readonly NameTable<true>[];
  readonly placeholders = new Set<number>();
  /** Placeholders, and words that stand for a name that the sender does not know. */
  readonly noNames = new Set<number>();
  /** 1 for each length of a placeholder, and for each byte with which one begins, in JSON too. */
  readonly placeholderLengths = new Uint8Array(LONGEST_PLACEHOLDER + 1);
  readonly placeholderBytes = new Uint8Array(256);
  /** Empty for dialects of the configuration. */
  readonly #dialectTexts: readonly (TextRef | null)[];
  readonly #operationTexts: readonly TextRef[];
  readonly eventNameKeys: readonly number[];
  /** By the word of an event name: what its attributes mean, by symbol. */
  readonly messageEvents = new Map<number, MessageEvent>();
  readonly firstTokenEvents = new Set<number>();
  /** By dialect: the words of the events whose attributes are read like those of the span; null: none. */
  readonly readEvents: readonly (ReadonlySet<number> | null)[];
  /** By attribute; words of the configuration by dialect and attribute. */
  readonly #operations = new Map<string, OperationWords>();
  /** `#operations` by the number of the rule that reads the attribute. */
  readonly #operationsOfRule: readonly (OperationWords | null)[];

  /** How senders count cached tokens, as the user configured. */
  readonly cacheCounting: ReadonlyMap<string, CacheCounting> | undefined;

  /** `own`: the dialects of the configuration. */
  constructor(tables: Tables, cacheCounting: ReadonlyMap<string, CacheCounting> | undefined, own: readonly Dialect[]) {
    const dialects = [...own, ...DIALECTS];
    this.dialects = dialects;
    this.ownCount = own.length;
    this.rules = compileRules(dialects);
    this.detection = new Detection(dialects, own.length);
    this.keys = new KeyClasses(this.rules, dialects, this.words);
    this.relocating = dialects.findIndex(({ relocatesMessages }) => relocatesMessages === true);
    this.standard = dialects.findIndex(({ id }) => id === STANDARD);
    this.bodyClass = this.keys.ofName(BODY);
    this.cacheCounting = cacheCounting;
    this.detection.prepare((key) => tables.symbol(key));
    this.eventNameKeys = ['event.name', 'event_name'].map((key) => tables.symbol(key));
    this.#dialectTexts = dialects.map(({ id, own }) => (own === true ? null : tables.constant(id)));
    this.#operationTexts = OPERATIONS.map((operation) => tables.constant(operation));
    this.spanNames = dialects.map(({ spanNames }) => namesOf(spanNames));
    this.needsSpanName = this.spanNames.map((names) => !names.isEmpty);
    this.events = dialects.map(({ events }) => namesOf(events));
    for (const placeholder of [...PLACEHOLDERS, ...NO_NAMES]) {
      const word = this.words.add(placeholder);
      this.noNames.add(word);
      if (!NO_NAMES.includes(placeholder)) this.placeholders.add(word);
      this.placeholderLengths[Buffer.byteLength(placeholder)] = 1;
      this.placeholderBytes[placeholder.charCodeAt(0)] = 1;
    }
    this.placeholderBytes[BACKSLASH] = 1;
    this.cacheAccounting = dialects.map(({ cachedTokens }) => new CacheAccounting(cachedTokens ?? []));
    this.ownUsage = dialects.map(({ ownUsageScopes }) => tableOf(ownUsageScopes ?? []));
    for (const [index, { operations, own }] of dialects.entries()) {
      for (const [attribute, values] of Object.entries(operations ?? {}))
        this.#addOperations(own === true ? ownWords(index, attribute) : attribute, values);
    }
    this.#operationsOfRule = this.rules.map((rule) => {
      const place = rule.own ? ownWords(rule.dialect, rule.attribute) : rule.attribute;
      return this.#operations.get(place) ?? null;
    });
    for (const { messageEvents, firstTokenEvents } of dialects) {
      for (const [name, parts] of Object.entries(messageEvents ?? {})) this.#addMessageEvent(tables, name, parts);
      for (const name of firstTokenEvents ?? []) this.firstTokenEvents.add(this.words.add(name));
    }
    this.readEvents = dialects.map(({ readsEvents }) =>
      readsEvents === undefined ? null : new Set(readsEvents.map((name) => this.words.add(name))),
    );
    this.providers.prepare(tables);
  }

  /** Null: the tables have no room for the name. Names of the configuration change with it and are no constants. */
  dialectText(dialect: number, tables: Tables): TextRef | null {
    const known = this.#dialectTexts[dialect] as TextRef | null;
    if (known !== null) return known;
    const { id } = this.dialects[dialect] as Dialect;
    return tables.changing(id) ?? tables.scratch(id);
  }

  operationText(operation: number): TextRef {
    return this.#operationTexts[operation - 1] as TextRef;
  }

  /** The operation of a word in the attribute of a rule; 0: none. */
  operationOfWord(rule: Rule, word: number): number {
    return this.#operationsOfRule[rule.number]?.byWord[word] ?? 0;
  }

  /** As `operationOfWord`, for a string, which may also match a name with `*`. */
  operationOfString(rule: Rule, value: string): number {
    const table = this.#operationsOfRule[rule.number] ?? null;
    if (table === null) return 0;
    return table.byWord[this.words.ofString(value)] || table.open.find(value) || 0;
  }

  /** Whether an attribute has words with `*`, for which a string is needed. */
  hasOpenWords(rule: Rule): boolean {
    return this.#operationsOfRule[rule.number]?.open.isEmpty === false;
  }

  #addMessageEvent(tables: Tables, name: string, parts: Readonly<Record<string, EventPart>>): void {
    const attributes = Object.entries(parts).filter(([attribute]) => attribute !== BODY);
    this.messageEvents.set(this.words.add(name), {
      role: name.split('.').at(-2) ?? name,
      parts: new Map(attributes.map(([attribute, part]) => [tables.symbol(attribute), part])),
      body: parts[BODY] ?? null,
    });
  }

  #addOperations(attribute: string, values: NonNullable<Dialect['operations']>[string]): void {
    const table = this.#operations.get(attribute) ?? { byWord: [], open: new NameTable<number>() };
    this.#operations.set(attribute, table);
    for (const [value, operation] of Object.entries(values)) {
      if (value.includes('*')) table.open.add(value, operationNumber(operation));
      else setAt(table.byWord, this.words.add(value), operationNumber(operation));
    }
  }
}

/** Where the words of an attribute are kept that one dialect of the configuration names. */
const ownWords = (dialect: number, attribute: string): string => `${dialect} ${attribute}`;

/** Sets an element and puts zeros before it, so that the array has no holes. */
function setAt(numbers: number[], index: number, value: number): void {
  while (numbers.length <= index) numbers.push(0);
  numbers[index] = value;
}

function namesOf(names: Dialect['spanNames']): NameTable<number> {
  const table = new NameTable<number>();
  for (const [name, operation] of Object.entries(names ?? {})) table.add(name, operationNumber(operation));
  return table;
}
