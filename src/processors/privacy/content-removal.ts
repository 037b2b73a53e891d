/**
 * Removes content from a batch: drops every attribute, event and log body that may not be stored. Values stay in the
 * tables, so that later stages can read token counts inside them; a dropped value is never written.
 */
import { type AttributeCursor, isScalar } from '../../pdata/attributes.ts';
import type { Tables } from '../../pdata/tables.ts';
import type { Batch } from '../../pdata/batch.ts';
import * as layout from '../../pdata/layout.ts';
import { renderJson } from '../../pdata/render-json.ts';
import { readText } from '../../pdata/text.ts';
import { TEXT_COLUMNS, type TextColumn, TextCursor } from '../../pdata/text-columns.ts';
import {
  type ContentLists,
  isGenAiEvent,
  type NestedPolicy,
  POLICY_CONTENT,
  POLICY_CREDENTIAL,
  POLICY_DIALECT_CONTENT,
  POLICY_EVENT_CONTENT,
  POLICY_EVENT_KEPT,
  POLICY_EVENT_NAME,
  POLICY_SIGN,
  POLICY_GEN_AI,
  type SymbolPolicies,
} from './content-policy.ts';
import { hasKey } from './nested-keys.ts';
import type { Steps } from '../../pdata/steps.ts';

/** Log lines with which Spring AI and Semantic Kernel write whole prompts, answers and arguments. */
const CONTENT_LINE =
  /^(?:(?:Chat|Image) (?:Model|Client) (?:Prompt Content|Completion)|Vector Store [A-Z][\w ]+|Calling \S+ function with args):/;
/** Bytes of a log body in which such a line is searched for. */
const LINE_HEAD = 256;
/** Command-line agents whose log bodies repeat what their attributes say. */
const TALKING_AGENTS = ['claude-code', 'codex', 'gemini-cli', 'qwen-code'];
/** Longer names of events, scopes and services are ignored. */
const MAX_NAME = 1024;
const TASK_SCOPE = /^opentelemetry\.instrumentation\.crewai/;
const TASK_NAME = /\.task$/;
const TASK_NAME_INSTEAD = 'crewai.task';
const SDK_NAME = 'telemetry.sdk.name';
/** Not read yet. */
const UNKNOWN = -1;

/** Drops credentials. A request whose content may be stored needs this one loop over all rows and nothing else. */
export function* dropCredentials(batch: Batch, policies: SymbolPolicies): Steps {
  for (let first = 0; first < batch.attributeCount; first += ROWS_STEP) {
    if (first > 0) yield;
    const rows = batch.attributes.at(first, Math.min(batch.attributeCount - first, ROWS_STEP));
    while (rows.nextWith(policies.lasting, POLICY_CREDENTIAL))
      if ((policies.of(rows.symbol) & POLICY_CREDENTIAL) !== 0) rows.disposition = layout.DISPOSITION_DROP;
  }
}

/** Rows and records handled in one step. */
const ROWS_STEP = 65536;
const RECORDS_STEP = 32;

/** For one batch, if any of its content may not be stored. */
export class ContentRemoval {
  readonly #batch: Batch;
  readonly #tables: Tables;
  readonly #lists: ContentLists;
  readonly #policies: SymbolPolicies;
  readonly #bodies: AttributeCursor;
  readonly #texts: TextCursor;
  readonly #scopeSigns: Int32Array;
  readonly #resourceSigns: Int32Array;
  /** The signs with which shared attributes were checked last. */
  readonly #scopesDone: Int32Array;
  readonly #resourcesDone: Int32Array;
  /** Signs of dialects whose log bodies are content. */
  readonly #bodySigns: number;
  /** A scope name is read once: it may be long and have many records. */
  readonly #scopeNames = new Map<number, string>();
  /** Kept values in which content may be nested. */
  #nested: NestedValue[] = [];

  constructor(batch: Batch, lists: ContentLists, policies: SymbolPolicies) {
    this.#batch = batch;
    this.#tables = batch.tables;
    this.#lists = lists;
    this.#policies = policies;
    this.#bodies = batch.cursor();
    this.#texts = new TextCursor(batch.tables.memory);
    this.#scopeSigns = new Int32Array(batch.scopeCount).fill(UNKNOWN);
    this.#resourceSigns = new Int32Array(batch.resourceCount).fill(UNKNOWN);
    this.#scopesDone = new Int32Array(batch.scopeCount).fill(UNKNOWN);
    this.#resourcesDone = new Int32Array(batch.resourceCount).fill(UNKNOWN);
    this.#bodySigns = lists.signs.mask(TALKING_AGENTS) | lists.ownBodies;
  }

  /** Removes content from everything that belongs to resources whose content may not be stored. */
  *run(): Steps {
    const batch = this.#batch;
    for (let index = 0; index < batch.recordCount; index++) {
      if (index % RECORDS_STEP === RECORDS_STEP - 1) yield;
      const record = batch.records.goto(index);
      if (batch.captureOf(record.resource)) continue;
      const signs = this.#removeFrom(index);
      if (record.eventsCount + record.linksCount > 0) yield* this.#removeFromParts(index, signs);
      if (this.#nested.length > 0) yield* this.#removeNested();
    }
  }

  /** Everything but events, exemplars and links. Returns the signs of the record. */
  #removeFrom(index: number): number {
    const record = this.#batch.records.goto(index);
    const { resource, scope } = record;
    const shared = this.#signsOfResource(resource) | this.#signsOfScope(scope);
    const own = this.#signsOf(this.#batch.recordAttributes(index));
    const signs = shared | own.signs | this.#lists.signs.ofKey(this.#nameOf(index));
    this.#removeFromShared(resource, scope, signs);
    if ((own.policies & REMOVABLE) !== 0 || own.hasNested)
      this.#removeRows(this.#batch.recordAttributes(index), signs, this.#isEventRecord(index, signs, own));
    if (this.#batch.signal === 'traces') this.#removeName(index);
    else if (this.#batch.signal === 'logs') this.#removeFromLog(index, signs, own);
    else this.#removeRows(this.#batch.metricAttributes(record.metric), signs, false);
    return signs;
  }

  /** The events or exemplars, and the links. One record may have those of a whole body. */
  *#removeFromParts(index: number, signs: number): Steps {
    const { eventsFirst, eventsCount, linksFirst, linksCount } = this.#batch.records.goto(index);
    for (let event = eventsFirst; event < eventsFirst + eventsCount; event++) {
      if (event % RECORDS_STEP === RECORDS_STEP - 1) yield;
      if (this.#batch.signal === 'traces') this.#removeFromEvent(event, signs);
      else this.#removeRows(this.#batch.eventAttributes(event), signs, false);
    }
    for (let link = linksFirst; link < linksFirst + linksCount; link++) {
      if (link % RECORDS_STEP === RECORDS_STEP - 1) yield;
      this.#removeRows(this.#batch.linkAttributes(link), signs, false);
    }
  }

  /** One instrumentation names its spans with the text of the task. */
  #removeName(index: number): void {
    const { scope, nameLength } = this.#batch.records.goto(index);
    if (!TASK_SCOPE.test(this.#scopeName(scope))) return;
    if (nameLength <= MAX_NAME && !TASK_NAME.test(this.#nameOf(index))) return;
    this.#texts.goto(TEXT_COLUMNS.recordName, index).replace(this.#tables.constant(TASK_NAME_INSTEAD));
  }

  #removeFromEvent(event: number, signs: number): void {
    const name = this.#nameAt(TEXT_COLUMNS.eventName, event);
    const rows = this.#batch.eventAttributes(event);
    if (!this.#lists.isContentEvent(name, signs)) {
      this.#removeRows(rows, signs, isGenAiEvent(name));
      return;
    }
    while (rows.next()) {
      // Counts and scores are no content.
      const kept = (this.#policies.of(rows.symbol) & POLICY_EVENT_KEPT) !== 0 || isScalar(rows.kind);
      if (kept) this.#removeRow(rows, signs, true);
      else rows.disposition = layout.DISPOSITION_DROP;
    }
  }

  #removeFromLog(index: number, signs: number, own: RecordSigns): void {
    const { body } = this.#batch.records.goto(index);
    if (body === 0) return;
    const row = this.#bodies.goto(body - 1);
    if (this.#isContentBody(row, index, signs, own)) row.disposition = layout.DISPOSITION_DROP;
    else this.#noteNested(row, signs, false);
  }

  #noteNested(row: AttributeCursor, signs: number, inEvent: boolean): void {
    if (isNested(row.kind) && row.kept) this.#nested.push({ row: row.row, signs, inEvent });
  }

  /** Drops each value that has content below one of its keys. */
  *#removeNested(): Steps {
    const values = this.#nested;
    this.#nested = [];
    for (const { row, signs, inEvent } of values) {
      const json = yield* renderJson(this.#tables, row);
      const { symbol } = this.#bodies.goto(row);
      const name = symbol === 0 ? '' : (this.#tables.nameOf(symbol) ?? '');
      const isContent = (key: string): boolean => isRemoved(this.#policies.ofNested(key), signs, inEvent);
      const found = json === null || (yield* hasKey(json, name, isContent));
      if (found) this.#bodies.goto(row).drop();
    }
  }

  #isContentBody(row: AttributeCursor, index: number, signs: number, own: RecordSigns): boolean {
    if ((signs & this.#bodySigns) !== 0) return true;
    if ((own.policies & POLICY_GEN_AI) !== 0 && (row.kind === layout.KIND_MAP || row.kind === layout.KIND_ARRAY))
      return true;
    const { scope } = this.#batch.records.goto(index);
    for (const name of this.#eventNames(index, own)) {
      if (isGenAiEvent(name) || this.#lists.isContentEvent(name, signs)) return true;
      if (name === this.#scopeName(scope) || this.#lists.isScopeName(name)) return true;
    }
    if (row.kind !== layout.KIND_TEXT) return false;
    return CONTENT_LINE.test(readText(this.#tables.memory, row.offset, Math.min(row.length, LINE_HEAD), 0));
  }

  /** By the name of the record, and by attributes. */
  #eventNames(index: number, own: RecordSigns): readonly string[] {
    return [this.#nameOf(index), ...own.eventNames].filter((name) => name !== '');
  }

  /** Whether bare names such as `content` mean content here: in records that are themselves GenAI events. */
  #isEventRecord(index: number, signs: number, own: RecordSigns): boolean {
    if (this.#batch.signal !== 'logs') return false;
    return this.#eventNames(index, own).some((name) => isGenAiEvent(name) || this.#lists.isContentEvent(name, signs));
  }

  #removeRows(rows: AttributeCursor, signs: number, inEvent: boolean): void {
    while (rows.next()) this.#removeRow(rows, signs, inEvent);
  }

  #removeRow(row: AttributeCursor, signs: number, inEvent: boolean): void {
    const policy = this.#policies.of(row.symbol);
    if ((policy & REMOVABLE) !== 0) {
      const { dialects } = this.#policies.factsOf(row.symbol);
      if (isRemoved({ policy, dialects }, signs, inEvent)) row.drop();
    }
    this.#noteNested(row, signs, inEvent);
  }

  /** The signs, event names and policies of a record's attributes. */
  #signsOf(rows: AttributeCursor): RecordSigns {
    const found = { signs: 0, eventNames: [] as string[], policies: 0, hasNested: false };
    while (rows.next()) {
      const policy = this.#policies.of(rows.symbol);
      found.policies |= policy;
      if (isNested(rows.kind)) found.hasNested = true;
      if ((policy & POLICY_EVENT_NAME) !== 0) found.eventNames.push(this.#textAt(rows));
      if ((policy & POLICY_SIGN) !== 0) found.signs |= this.#signsOfRow(rows);
    }
    for (const name of found.eventNames) found.signs |= name === '' ? 0 : this.#lists.signs.ofKey(name);
    return found;
  }

  #signsOfRow(row: AttributeCursor): number {
    const { signs, hasValues } = this.#policies.factsOf(row.symbol);
    if (!hasValues) return signs;
    return signs | this.#lists.signs.ofValue(this.#tables.keyOf(row.symbol), this.#textAt(row));
  }

  #signsOfResource(resource: number): number {
    const known = this.#resourceSigns[resource] as number;
    if (known !== UNKNOWN) return known;
    let signs = 0;
    const rows = this.#batch.resourceAttributes(resource);
    while (rows.next()) {
      const policy = this.#policies.of(rows.symbol);
      if ((policy & POLICY_SIGN) !== 0) signs |= this.#signsOfRow(rows);
      const isService = rows.symbol === layout.SYMBOL_SERVICE_NAME || this.#tables.keyOf(rows.symbol) === SDK_NAME;
      if (isService) signs |= this.#lists.signs.ofService(this.#textAt(rows));
    }
    this.#resourceSigns[resource] = signs;
    return signs;
  }

  #signsOfScope(scope: number): number {
    const known = this.#scopeSigns[scope] as number;
    if (known !== UNKNOWN) return known;
    const signs = this.#lists.signs.ofScope(this.#scopeName(scope));
    this.#scopeSigns[scope] = signs;
    return signs;
  }

  /** The signs of a record count for its resource and scope too. */
  #removeFromShared(resource: number, scope: number, signs: number): void {
    if (isNews(this.#resourcesDone, resource, signs))
      this.#removeRows(this.#batch.resourceAttributes(resource), signs, false);
    if (isNews(this.#scopesDone, scope, signs)) this.#removeRows(this.#batch.scopeAttributes(scope), signs, false);
  }

  /** Span name or event name. */
  #nameOf(index: number): string {
    return this.#nameAt(TEXT_COLUMNS.recordName, index);
  }

  #scopeName(scope: number): string {
    const known = this.#scopeNames.get(scope);
    if (known !== undefined) return known;
    const name = this.#nameAt(TEXT_COLUMNS.scopeName, scope);
    this.#scopeNames.set(scope, name);
    return name;
  }

  /** Empty for a name that is too long to be on any list. */
  #nameAt(column: TextColumn, row: number): string {
    const text = this.#texts.goto(column, row);
    return text.length === 0 || text.length > MAX_NAME ? '' : text.string;
  }

  #textAt(row: AttributeCursor): string {
    if (row.kind !== layout.KIND_TEXT || row.length > MAX_NAME) return '';
    return readText(this.#tables.memory, row.offset, row.length, row.flags);
  }
}

/** Adds signs to those with which an owner was checked; false when it was checked with all of them before. */
function isNews(done: Int32Array, owner: number, signs: number): boolean {
  const before = done[owner] as number;
  if (before !== UNKNOWN && (signs & ~before) === 0) return false;
  done[owner] = before === UNKNOWN ? signs : before | signs;
  return true;
}

interface RecordSigns {
  readonly signs: number;
  /** The names of events that attributes state. */
  readonly eventNames: readonly string[];
  /** The policies of all attributes together. */
  readonly policies: number;
  /** Whether a value is a map or a list. */
  readonly hasNested: boolean;
}

interface NestedValue {
  readonly row: number;
  readonly signs: number;
  readonly inEvent: boolean;
}

const REMOVABLE = POLICY_CONTENT | POLICY_CREDENTIAL | POLICY_DIALECT_CONTENT | POLICY_EVENT_CONTENT;

function isRemoved({ policy, dialects }: NestedPolicy, signs: number, inEvent: boolean): boolean {
  if ((policy & (POLICY_CONTENT | POLICY_CREDENTIAL)) !== 0) return true;
  if (inEvent && (policy & POLICY_EVENT_CONTENT) !== 0) return true;
  return (policy & POLICY_DIALECT_CONTENT) !== 0 && (dialects & signs) !== 0;
}

const isNested = (kind: number): boolean => kind === layout.KIND_MAP || kind === layout.KIND_ARRAY;
