/**
 * Takes content out of a batch: marks every attribute, event and log body that may not be stored. Values stay in the tables, so
 * that later stages can still count tokens inside them; nothing marked here is ever printed.
 */
import type { AttributeCursor } from '../../pdata/attributes.ts';
import type { Batch, Tables } from '../../pdata/batch.ts';
import {
  EVENT_NAME_FLAGS,
  EVENT_NAME_LENGTH,
  EVENT_NAME_OFFSET,
  EVENT_STRIDE,
  EVENTS_BASE,
  RECORD_NAME_FLAGS,
  RECORD_NAME_LENGTH,
  RECORD_NAME_OFFSET,
  SCOPE_NAME_FLAGS,
  SCOPE_NAME_LENGTH,
  SCOPE_NAME_OFFSET,
  SCOPE_STRIDE,
  SCOPES_BASE,
  ATTRIBUTE_STRIDE,
  ATTRIBUTE_SYMBOL,
  ATTRIBUTE_VERDICT,
  ATTRIBUTES_BASE,
  KIND_ARRAY,
  KIND_BOOL,
  KIND_DOUBLE,
  KIND_INT,
  KIND_MAP,
  KIND_TEXT,
  LINK_ATTRIBUTES_COUNT,
  LINK_ATTRIBUTES_FIRST,
  LINK_STRIDE,
  LINKS_BASE,
  METRIC_ATTRIBUTES_COUNT,
  METRIC_ATTRIBUTES_FIRST,
  METRIC_STRIDE,
  METRICS_BASE,
  SYMBOL_SERVICE_NAME,
  VERDICT_DROP,
  VERDICT_SUPERSEDED,
} from '../../pdata/layout.ts';
import {
  type ContentLists,
  isGenAiEvent,
  POLICY_CONTENT,
  POLICY_CREDENTIAL,
  POLICY_DIALECT_CONTENT,
  POLICY_EVENT_CONTENT,
  POLICY_EVENT_KEPT,
  POLICY_EVENT_NAME,
  POLICY_EVIDENCE,
  POLICY_GEN_AI,
  type SymbolPolicies,
} from './content-policy.ts';
import type { Steps } from '../../pdata/steps.ts';
import { readText } from './text.ts';

/** Log lines with which Spring AI and Semantic Kernel write whole prompts, answers and arguments. */
const CONTENT_LINE =
  /^(?:Chat Model Prompt Content:|Chat Model Completion:|Vector Store Content:|Calling \S+ function with args:)/;
/** Bytes of a log body that are looked at for such a beginning. */
const LINE_HEAD = 256;
/** Command-line agents whose log bodies repeat what their attributes say. */
const TALKING_AGENTS = ['claude-code', 'codex', 'gemini-cli', 'qwen-code'];
/** Names of events, scopes and services beyond this many bytes are not looked at. */
const MAX_NAME = 1024;
const TASK_SCOPE = /^opentelemetry\.instrumentation\.crewai/;
const TASK_NAME = /\.task$/;
const TASK_NAME_INSTEAD = 'crewai.task';
const SDK_NAME = 'telemetry.sdk.name';
/** Not yet looked at. */
const UNKNOWN = -1;

/** Marks credentials, in one loop over all rows: this is all that happens to a request whose content may be stored. */
export function* dropCredentials(batch: Batch, policies: SymbolPolicies): Steps {
  for (let first = 0; first < batch.attributeCount; first += ROWS_STEP) {
    if (first > 0) yield;
    dropCredentialRows(batch, policies, first, Math.min(batch.attributeCount - first, ROWS_STEP));
  }
}

function dropCredentialRows(batch: Batch, policies: SymbolPolicies, first: number, count: number): void {
  const { u32, u8 } = batch.tables.memory;
  const lasting = policies.lasting;
  // By words, because this is done for every row of every request.
  let word = ((ATTRIBUTES_BASE + ATTRIBUTE_SYMBOL) >>> 2) + first * ROW_WORDS;
  const end = word + count * ROW_WORDS;
  for (; word < end; word += ROW_WORDS) {
    const symbol = u32[word] as number;
    // Symbols of one request only lie beyond the table of lasting ones.
    const policy = lasting[symbol] ?? policies.of(symbol);
    if ((policy & POLICY_CREDENTIAL) === 0) continue;
    const verdict = (word << 2) - ATTRIBUTE_SYMBOL + ATTRIBUTE_VERDICT;
    if (u8[verdict] !== VERDICT_SUPERSEDED) u8[verdict] = VERDICT_DROP;
  }
}

const ROW_WORDS = ATTRIBUTE_STRIDE >>> 2;
/** Rows and records handled in one step. */
const ROWS_STEP = 65536;
const RECORDS_STEP = 32;

/** Works on one batch; made anew for each request that has something to remove. */
export class ContentRemoval {
  readonly #batch: Batch;
  readonly #tables: Tables;
  readonly #lists: ContentLists;
  readonly #policies: SymbolPolicies;
  readonly #attributes: AttributeCursor;
  readonly #scopeSigns: Int32Array;
  readonly #resourceSigns: Int32Array;
  /** The signs with which shared attributes were last looked at. */
  readonly #scopesDone: Int32Array;
  readonly #resourcesDone: Int32Array;
  readonly #talkingAgents: number;
  /** Names are read once a scope: a long one may have many records. */
  readonly #scopeNames = new Map<number, string>();

  constructor(batch: Batch, lists: ContentLists, policies: SymbolPolicies) {
    this.#batch = batch;
    this.#tables = batch.tables;
    this.#lists = lists;
    this.#policies = policies;
    this.#attributes = batch.cursor();
    this.#scopeSigns = new Int32Array(batch.scopeCount).fill(UNKNOWN);
    this.#resourceSigns = new Int32Array(batch.resourceCount).fill(UNKNOWN);
    this.#scopesDone = new Int32Array(batch.scopeCount).fill(UNKNOWN);
    this.#resourcesDone = new Int32Array(batch.resourceCount).fill(UNKNOWN);
    this.#talkingAgents = lists.evidence.mask(TALKING_AGENTS);
  }

  /** Removes content from everything that belongs to resources whose content may not be stored. */
  *run(): Steps {
    const batch = this.#batch;
    for (let index = 0; index < batch.recordCount; index++) {
      if (index % RECORDS_STEP === RECORDS_STEP - 1) yield;
      const record = batch.records.goto(index);
      if (!batch.captureOf(record.resource)) this.#removeFrom(index);
    }
  }

  #removeFrom(index: number): void {
    const record = this.#batch.records.goto(index);
    const { resource, scope, attributesFirst, attributesCount } = record;
    const shared = this.#signsOfResource(resource) | this.#signsOfScope(scope);
    const own = this.#signsOf(attributesFirst, attributesCount);
    const signs = shared | own.signs | this.#lists.evidence.ofKey(this.#nameOf(index));
    this.#removeFromShared(resource, scope, signs);
    if ((own.policies & REMOVABLE) !== 0)
      this.#removeRows(attributesFirst, attributesCount, signs, this.#isEventRecord(index, own.eventName));
    if (this.#batch.signal === 'traces') this.#removeFromSpan(index, signs);
    else if (this.#batch.signal === 'logs') this.#removeFromLog(index, signs, own);
    else this.#removeFromPoint(index, signs);
  }

  #removeFromSpan(index: number, signs: number): void {
    this.#removeName(index);
    const { eventsFirst, eventsCount, linksFirst, linksCount } = this.#batch.records.goto(index);
    for (let event = eventsFirst; event < eventsFirst + eventsCount; event++) this.#removeFromEvent(event, signs);
    for (let link = linksFirst; link < linksFirst + linksCount; link++) {
      const at = LINKS_BASE + link * LINK_STRIDE;
      this.#removeRows(this.#u32(at + LINK_ATTRIBUTES_FIRST), this.#u32(at + LINK_ATTRIBUTES_COUNT), signs, false);
    }
  }

  /** One instrumentation calls its spans by the whole task. */
  #removeName(index: number): void {
    const { address, scope, nameLength } = this.#batch.records.goto(index);
    if (!TASK_SCOPE.test(this.#scopeName(scope))) return;
    if (nameLength <= MAX_NAME && !TASK_NAME.test(this.#nameOf(index))) return;
    const { offset, length, flags } = this.#tables.constant(TASK_NAME_INSTEAD);
    const { u32, u8 } = this.#tables.memory;
    u32[(address + RECORD_NAME_OFFSET) >>> 2] = offset;
    u32[(address + RECORD_NAME_LENGTH) >>> 2] = length;
    u8[address + RECORD_NAME_FLAGS] = flags;
  }

  #removeFromEvent(event: number, signs: number): void {
    const at = EVENTS_BASE + event * EVENT_STRIDE;
    const name = this.#nameAt(at + EVENT_NAME_OFFSET, at + EVENT_NAME_LENGTH, at + EVENT_NAME_FLAGS);
    const rows = this.#batch.eventAttributes(event);
    if (!this.#lists.isContentEvent(name, signs)) {
      while (rows.next()) this.#removeRow(rows, signs, isGenAiEvent(name));
      return;
    }
    while (rows.next()) {
      const kept = (this.#policies.of(rows.symbol) & POLICY_EVENT_KEPT) !== 0 || isScalar(rows.kind);
      if (kept) this.#removeRow(rows, signs, true);
      else rows.verdict = VERDICT_DROP;
    }
  }

  #removeFromPoint(index: number, signs: number): void {
    const { eventsFirst, eventsCount, metric } = this.#batch.records.goto(index);
    for (let exemplar = eventsFirst; exemplar < eventsFirst + eventsCount; exemplar++) {
      const rows = this.#batch.eventAttributes(exemplar);
      while (rows.next()) this.#removeRow(rows, signs, false);
    }
    const at = METRICS_BASE + metric * METRIC_STRIDE;
    this.#removeRows(this.#u32(at + METRIC_ATTRIBUTES_FIRST), this.#u32(at + METRIC_ATTRIBUTES_COUNT), signs, false);
  }

  #removeFromLog(index: number, signs: number, own: RecordSigns): void {
    const { body } = this.#batch.records.goto(index);
    if (body === 0) return;
    const row = this.#attributes.goto(body - 1);
    if (this.#isContentBody(row, index, signs, own)) row.verdict = VERDICT_DROP;
  }

  #isContentBody(row: AttributeCursor, index: number, signs: number, own: RecordSigns): boolean {
    if ((signs & this.#talkingAgents) !== 0) return true;
    if ((own.policies & POLICY_GEN_AI) !== 0 && (row.kind === KIND_MAP || row.kind === KIND_ARRAY)) return true;
    const { scope } = this.#batch.records.goto(index);
    const names = [this.#nameOf(index), own.eventName].filter((name) => name !== '');
    for (const name of names) {
      if (isGenAiEvent(name) || this.#lists.isContentEvent(name, signs)) return true;
      if (name === this.#scopeName(scope) || this.#lists.isScopeName(name)) return true;
    }
    if (row.kind !== KIND_TEXT) return false;
    return CONTENT_LINE.test(readText(this.#tables.memory, row.offset, Math.min(row.length, LINE_HEAD), 0));
  }

  /** Whether bare names such as `content` mean content here: in records that are themselves GenAI events. */
  #isEventRecord(index: number, eventName: string): boolean {
    if (this.#batch.signal !== 'logs') return false;
    return isGenAiEvent(eventName) || isGenAiEvent(this.#nameOf(index));
  }

  #removeRows(first: number, count: number, signs: number, inEvent: boolean): void {
    const rows = this.#attributes.at(first, count);
    while (rows.next()) this.#removeRow(rows, signs, inEvent);
  }

  #removeRow(row: AttributeCursor, signs: number, inEvent: boolean): void {
    const policy = this.#policies.of(row.symbol);
    if ((policy & REMOVABLE) === 0) return;
    if (
      (policy & (POLICY_CONTENT | POLICY_CREDENTIAL)) !== 0 ||
      (inEvent && (policy & POLICY_EVENT_CONTENT) !== 0) ||
      ((policy & POLICY_DIALECT_CONTENT) !== 0 && (this.#policies.factsOf(row.symbol).dialects & signs) !== 0)
    )
      row.verdict = VERDICT_DROP;
  }

  /** What a list of attributes says about its record. */
  #signsOf(first: number, count: number): RecordSigns {
    const found = { signs: 0, eventName: '', policies: 0 };
    for (let row = first; row < first + count; row++) {
      const at = ATTRIBUTES_BASE + row * ATTRIBUTE_STRIDE;
      const policy = this.#policies.of(this.#u32(at + ATTRIBUTE_SYMBOL));
      found.policies |= policy;
      if ((policy & (POLICY_EVIDENCE | POLICY_EVENT_NAME)) === 0) continue;
      const attribute = this.#attributes.goto(row);
      if (attribute.verdict === VERDICT_SUPERSEDED) continue;
      if ((policy & POLICY_EVENT_NAME) !== 0) found.eventName = this.#textAt(attribute);
      if ((policy & POLICY_EVIDENCE) !== 0) found.signs |= this.#signsOfRow(attribute);
    }
    found.signs |= found.eventName === '' ? 0 : this.#lists.evidence.ofKey(found.eventName);
    return found;
  }

  #signsOfRow(row: AttributeCursor): number {
    const { signs, hasValues } = this.#policies.factsOf(row.symbol);
    if (!hasValues) return signs;
    return signs | this.#lists.evidence.ofValue(this.#tables.keyOf(row.symbol), this.#textAt(row));
  }

  #signsOfResource(resource: number): number {
    const known = this.#resourceSigns[resource] as number;
    if (known !== UNKNOWN) return known;
    let signs = 0;
    const rows = this.#batch.resourceAttributes(resource);
    while (rows.next()) {
      const policy = this.#policies.of(rows.symbol);
      if ((policy & POLICY_EVIDENCE) !== 0) signs |= this.#signsOfRow(rows);
      const isService = rows.symbol === SYMBOL_SERVICE_NAME || this.#tables.keyOf(rows.symbol) === SDK_NAME;
      if (isService) signs |= this.#lists.evidence.ofService(this.#textAt(rows));
    }
    this.#resourceSigns[resource] = signs;
    return signs;
  }

  #signsOfScope(scope: number): number {
    const known = this.#scopeSigns[scope] as number;
    if (known !== UNKNOWN) return known;
    const signs = this.#lists.evidence.ofScope(this.#scopeName(scope));
    this.#scopeSigns[scope] = signs;
    return signs;
  }

  /** What a record shows also tells of the resource and scope it came with. */
  #removeFromShared(resource: number, scope: number, signs: number): void {
    if (isNews(this.#resourcesDone, resource, signs)) {
      const rows = this.#batch.resourceAttributes(resource);
      while (rows.next()) this.#removeRow(rows, signs, false);
    }
    if (isNews(this.#scopesDone, scope, signs)) {
      const rows = this.#batch.scopeAttributes(scope);
      while (rows.next()) this.#removeRow(rows, signs, false);
    }
  }

  /** Span name or event name. */
  #nameOf(index: number): string {
    const { address } = this.#batch.records.goto(index);
    return this.#nameAt(address + RECORD_NAME_OFFSET, address + RECORD_NAME_LENGTH, address + RECORD_NAME_FLAGS);
  }

  #scopeName(scope: number): string {
    const known = this.#scopeNames.get(scope);
    if (known !== undefined) return known;
    const at = SCOPES_BASE + scope * SCOPE_STRIDE;
    const name = this.#nameAt(at + SCOPE_NAME_OFFSET, at + SCOPE_NAME_LENGTH, at + SCOPE_NAME_FLAGS);
    this.#scopeNames.set(scope, name);
    return name;
  }

  /** A name too long to be known to anybody is as good as none. */
  #nameAt(offset: number, length: number, flags: number): string {
    const size = this.#u32(length);
    if (size === 0 || size > MAX_NAME) return '';
    return readText(this.#tables.memory, this.#u32(offset), size, this.#tables.memory.u8[flags] as number);
  }

  #textAt(row: AttributeCursor): string {
    if (row.kind !== KIND_TEXT || row.length > MAX_NAME) return '';
    return readText(this.#tables.memory, row.offset, row.length, row.flags);
  }

  #u32(address: number): number {
    return this.#tables.memory.u32[address >>> 2] as number;
  }
}

/** Adds signs to those an owner was looked at with; false when it was looked at with all of them before. */
function isNews(done: Int32Array, owner: number, signs: number): boolean {
  const before = done[owner] as number;
  if (before !== UNKNOWN && (signs & ~before) === 0) return false;
  done[owner] = before === UNKNOWN ? signs : before | signs;
  return true;
}

interface RecordSigns {
  readonly signs: number;
  readonly eventName: string;
  /** Of all attributes together. */
  readonly policies: number;
}

const REMOVABLE = POLICY_CONTENT | POLICY_CREDENTIAL | POLICY_DIALECT_CONTENT | POLICY_EVENT_CONTENT;

/** Counts and scores tell nothing of what was said. */
const isScalar = (kind: number): boolean => kind === KIND_INT || kind === KIND_DOUBLE || kind === KIND_BOOL;
