/** The privacy policy of an attribute name, decided once per name from the content of the dialects. */
import { BODY, contentOf, type Dialect, FIELDS, type Fields, type SourceRow } from '../../dialects/dialect.ts';
import { DIALECTS } from '../../dialects/families.ts';
import { KeyIndex, type KeyMatch } from '../../dialects/lookup/key-index.ts';
import { KeyPattern } from '../../dialects/lookup/key-pattern.ts';
import { CONTENT_COLUMNS } from '../../pdata/content-columns.ts';
import { MAX_NAME_BYTES, type Tables } from '../../pdata/tables.ts';
import { MAX_SYMBOLS } from '../../pdata/layout.ts';
import type { Steps } from '../../pdata/steps.ts';
import { isCredentialKey } from './credentials.ts';
import { DialectSigns, wildcard } from './dialect-signs.ts';

// Bits of the policy of a key.
/** Never stored. */
export const POLICY_CREDENTIAL = 1;
/** Not stored where content is not captured. */
export const POLICY_CONTENT = 2;
/** Content if the record shows a sign of one of certain dialects: see `dialectsOf`. */
export const POLICY_DIALECT_CONTENT = 4;
/** Content inside a GenAI event only: bare names such as `content`. */
export const POLICY_EVENT_CONTENT = 8;
/** Kept when an event is content as a whole. */
export const POLICY_EVENT_KEPT = 16;
/** The presence or the value of the attribute is a sign of a dialect. */
export const POLICY_SIGN = 32;
/** The value of the attribute is the name of an event. */
export const POLICY_EVENT_NAME = 64;
/** The record of the attribute is about a model call. */
export const POLICY_GEN_AI = 128;

/** Counts and settings that match a general pattern of raw requests (`llm.{k}.*`). */
const USAGE_KEY = /^llm\.(?:token_count|usage|cost|latency)\.|^llm\.request\.type$/;

/** Attributes about the call, not about its content. */
const KEPT_IN_EVENTS =
  /^(?:index|finish_reason|event[._]name|gen_ai\.(?:system|provider\.name|operation\.name|request\.model|response\.(?:model|id|finish_reasons)|usage\..*))$|\.(?:id|score|distance)$/;

/** Facts whose names continue a name of content: the version of a prompt, the size of a body, the id of a document. */
const FACT_BELOW_CONTENT =
  /^(?:(?:retrieval|reranker)\.(?:(?:in|out)put_)?documents\.\d+\.document\.(?:id|score)|gen_ai\.prompt\.(?:id|name|version|template\.(?:name|version))|ai\.prompt\.format|mcp\.tool\.result\.is_error|http\.(?:request|response)\.body\.size)$/;
/** Where a name may end and the path within its value begin: `gen_ai.input.messages[0].content`. */
const PATH_BEGIN = /[.[]/g;
/** A longer index than the patterns of lists match. */
const LONG_INDEX = /\.\d{7,}(?=\.|$)/g;

/** Attributes that name the event of a log record: the older convention, and what OpenLIT and LiteLLM write. */
const EVENT_NAME_KEYS: ReadonlySet<string> = new Set(['event.name', 'event_name']);
const GEN_AI_PREFIX = 'gen_ai.';
const EVERY_EVENT = '*';
/** The event of an exception. Messages of errors are stored. */
const EXCEPTION = 'exception';
const idOf = ({ id }: Dialect): string => id;

interface Listed {
  /** Bits of the dialects of which the record must show a sign; 0: the name alone is enough. */
  readonly dialects: number;
  readonly eventsOnly: boolean;
}

/** The lists of all dialects, by attribute name and event name. Built once, at start. */
export class ContentLists {
  readonly signs: DialectSigns;
  readonly #attributes = new KeyIndex<Listed>();
  /** Names, without patterns, that are content in every record. */
  readonly #names = new Set<string>();
  #longestName = 0;
  readonly #events = new KeyIndex<Listed>();
  /** Bits of the dialects all of whose events are content. */
  #allEvents = 0;
  /** Facts about a call that a dialect reads from events. */
  readonly #factsInEvents = new Set<string>();
  /** Attributes that fill columns without content. */
  readonly #facts = new Set<string>();
  readonly #secrets = new KeyIndex<true>();
  readonly #scopes: readonly RegExp[];

  /** Bits of the dialects of the configuration whose log bodies are content. */
  readonly ownBodies: number;

  /** `own`: the dialects of the configuration. */
  constructor(own: readonly Dialect[] = []) {
    const dialects = [...own, ...DIALECTS];
    const all = dialects.flatMap(contentOf);
    const always = new Set(all.flatMap(({ only, attributes = [] }) => (only === undefined ? attributes : [])));
    // A name that is content in every record needs no sign of a dialect.
    const rows = all.filter(
      ({ only, attributes }) => only === undefined || !attributes?.every((name) => always.has(name)),
    );
    const bodies = own.filter((dialect) => contentOf(dialect).some(({ attributes }) => attributes?.includes(BODY)));
    this.signs = new DialectSigns(dialects, new Set([...rows.flatMap(({ only = [] }) => only), ...bodies.map(idOf)]));
    this.ownBodies = this.signs.mask(bodies.map(idOf));
    this.#scopes = dialects.flatMap((dialect) => dialect.scopes ?? []).map(wildcard);
    for (const { secret = false, only = [], attributes = [], inEvents = [], events = [] } of rows) {
      const listed = { dialects: this.signs.mask(only), eventsOnly: false };
      if (secret) for (const attribute of attributes) this.#secrets.add(attribute, true);
      else for (const attribute of attributes) this.#addAttribute(attribute, listed);
      for (const attribute of inEvents) this.#attributes.add(attribute, { ...listed, eventsOnly: true });
      for (const event of events)
        if (event === EVERY_EVENT) this.#allEvents |= listed.dialects;
        else this.#events.add(event, listed);
    }
    for (const { attribute, on } of dialects.flatMap(({ fields = {} }) => factsIn(fields))) {
      this.#facts.add(attribute);
      if (on === 'span_event') this.#factsInEvents.add(attribute);
    }
  }

  policyOf(key: string): number {
    let policy = EVENT_NAME_KEYS.has(key) ? POLICY_EVENT_NAME : 0;
    if (isCredentialKey(key) || this.#secrets.find(key).length > 0) policy |= POLICY_CREDENTIAL;
    if (!FACT_BELOW_CONTENT.test(key)) {
      for (const { entry } of this.#find(key)) policy |= policyOfEntry(entry, key);
      if (this.#isBelowContent(key)) policy |= POLICY_CONTENT;
    }
    if (this.signs.ofKey(key) !== 0 || this.signs.hasValues(key)) policy |= POLICY_SIGN;
    if (KEPT_IN_EVENTS.test(key) || this.#factsInEvents.has(key)) policy |= POLICY_EVENT_KEPT;
    if (key.startsWith(GEN_AI_PREFIX)) policy |= POLICY_GEN_AI;
    return policy;
  }

  /** The dialects under which this name is content. */
  dialectsOf(key: string): number {
    return this.#find(key).reduce((mask, { entry }) => mask | entry.dialects, 0);
  }

  #addAttribute(attribute: string, listed: Listed): void {
    this.#attributes.add(attribute, listed);
    if (listed.dialects !== 0 || listed.eventsOnly || KeyPattern.isPattern(attribute)) return;
    this.#names.add(attribute);
    this.#longestName = Math.max(this.#longestName, attribute.length);
  }

  #find(key: string): readonly KeyMatch<Listed>[] {
    return this.#attributes.find(key.replace(LONG_INDEX, '.0'));
  }

  /** Whether the key names a part of a value that is content: some senders and Collectors write a map as many keys. */
  #isBelowContent(key: string): boolean {
    if (this.#facts.has(key)) return false;
    for (const { index } of key.slice(0, this.#longestName + 1).matchAll(PATH_BEGIN))
      if (this.#names.has(key.slice(0, index))) return true;
    return false;
  }

  /** Whether an event of this name is content as a whole, for a record that shows signs of `dialects`. */
  isContentEvent(name: string, dialects: number): boolean {
    if ((this.#allEvents & dialects) !== 0 && name !== EXCEPTION) return true;
    return this.#events.find(name).some(({ entry }) => entry.dialects === 0 || (entry.dialects & dialects) !== 0);
  }

  /**
   * Whether an event name is a scope name: some instrumentations move the messages of spans to log records named so.
   */
  isScopeName(name: string): boolean {
    return this.#scopes.some((scope) => scope.test(name));
  }
}

/** The attributes that fill columns without content. */
function factsIn(fields: Fields): readonly SourceRow[] {
  return FIELDS.filter((field) => !CONTENT_FIELDS.has(field))
    .flatMap((field) => fields[field] ?? [])
    .map((source) => (typeof source === 'string' ? { attribute: source } : source))
    .filter(({ paths }) => paths === undefined);
}
const CONTENT_FIELDS: ReadonlySet<string> = new Set(CONTENT_COLUMNS);

function policyOfEntry(entry: Listed, key: string): number {
  if (entry.dialects !== 0) return USAGE_KEY.test(key) ? 0 : POLICY_DIALECT_CONTENT;
  return entry.eventsOnly ? POLICY_EVENT_CONTENT : POLICY_CONTENT;
}

/** Whether a name belongs to the events of the semantic conventions. */
export const isGenAiEvent = (name: string): boolean => name.startsWith(GEN_AI_PREFIX);

/** Further facts of keys that are signs of dialects, or content in some dialects only. */
export interface KeyFacts {
  /** Dialects of which the presence of the key is a sign. */
  readonly signs: number;
  /** Its value may be a sign too. */
  readonly hasValues: boolean;
  /** Dialects under which it is content. */
  readonly dialects: number;
}

export interface NestedPolicy {
  readonly policy: number;
  /** Dialects under which it is content. */
  readonly dialects: number;
}

const NO_FACTS: KeyFacts = { signs: 0, hasValues: false, dialects: 0 };

/** Symbols handled in one step. */
const STEP = 128;
/** Names inside values whose policy is remembered; at the limit they are forgotten. */
const MAX_NESTED_NAMES = 4096;

/** The policies of the symbols of one set of tables, filled for new symbols before each batch is read. */
export class SymbolPolicies {
  readonly #lists: ContentLists;
  readonly #tables: Tables;
  readonly #lasting = new Uint8Array(MAX_SYMBOLS);
  readonly #facts = new Map<number, KeyFacts>();
  #known = 1;
  /** Symbols of the current request, from MAX_SYMBOLS on. */
  #local = new Uint8Array(0);
  #localFacts = new Map<number, KeyFacts>();
  readonly #nested = new Map<string, NestedPolicy>();

  constructor(lists: ContentLists, tables: Tables) {
    this.#lists = lists;
    this.#tables = tables;
  }

  /** Call it for each request before `of`. */
  *update(): Steps {
    const count = this.#tables.symbolCount;
    for (; this.#known < count; this.#known++) {
      this.#lasting[this.#known] = this.#learn(this.#known, this.#facts);
      if (this.#known % STEP === 0) yield;
    }
    const locals = this.#tables.localSymbolCount;
    if (this.#localFacts.size > 0) this.#localFacts = new Map();
    if (locals > this.#local.length) this.#local = new Uint8Array(locals);
    for (let index = 0; index < locals; index++) {
      this.#local[index] = this.#learn(MAX_SYMBOLS + index, this.#localFacts);
      if (index % STEP === STEP - 1) yield;
    }
  }

  /** For loops over many rows: the policies of lasting symbols by number; all others through `of`. */
  get lasting(): Uint8Array {
    return this.#lasting;
  }

  of(symbol: number): number {
    return (symbol < MAX_SYMBOLS ? this.#lasting[symbol] : this.#local[symbol - MAX_SYMBOLS]) as number;
  }

  factsOf(symbol: number): KeyFacts {
    return (symbol < MAX_SYMBOLS ? this.#facts : this.#localFacts).get(symbol) ?? NO_FACTS;
  }

  /** The policy of a key of a map inside a value. */
  ofNested(name: string): NestedPolicy {
    const known = this.#nested.get(name);
    if (known !== undefined) return known;
    if (this.#nested.size >= MAX_NESTED_NAMES) this.#nested.clear();
    const policy = Buffer.byteLength(name) > MAX_NAME_BYTES ? POLICY_CONTENT : this.#lists.policyOf(name);
    const dialects = (policy & POLICY_DIALECT_CONTENT) === 0 ? 0 : this.#lists.dialectsOf(name);
    const found = { policy, dialects };
    this.#nested.set(name, found);
    return found;
  }

  #learn(symbol: number, facts: Map<number, KeyFacts>): number {
    const key = this.#tables.nameOf(symbol);
    if (key === null) return this.#policyOfLong(symbol);
    const policy = this.#lists.policyOf(key);
    if ((policy & (POLICY_SIGN | POLICY_DIALECT_CONTENT)) !== 0) {
      const { signs } = this.#lists;
      const dialects = this.#lists.dialectsOf(key);
      facts.set(symbol, { signs: signs.ofKey(key), hasValues: signs.hasValues(key), dialects });
    }
    return policy;
  }

  /** A key that is longer than every name is text itself. Its head and its end show whether it names a credential. */
  #policyOfLong(symbol: number): number {
    const { offset, length } = this.#tables.keyTextOf(symbol);
    const { bytes } = this.#tables.memory;
    const end = offset + length;
    const head = this.#lists.policyOf(bytes.toString('utf8', offset, offset + MAX_NAME_BYTES));
    const tail = this.#lists.policyOf(bytes.toString('utf8', end - MAX_NAME_BYTES, end));
    return POLICY_CONTENT | (head & POLICY_GEN_AI) | ((head | tail) & POLICY_CREDENTIAL);
  }
}
