/**
 * Applies the rules to every text of a batch that will be stored. A replaced text is written to scratch and its row
 * refers to it, so later stages cannot read the old text. When scratch is full, the value is dropped.
 */
import { type AttributeCursor, isScalar } from '../../../pdata/attributes.ts';
import type { Tables } from '../../../pdata/tables.ts';
import type { Batch } from '../../../pdata/batch.ts';
import * as layout from '../../../pdata/layout.ts';
import { environmentNamed } from '../../../pdata/environment.ts';
import type { Steps } from '../../../pdata/steps.ts';
import { readTextInSteps, type TextRef } from '../../../pdata/text.ts';
import { TEXT_COLUMNS, type TextColumn, TextCursor } from '../../../pdata/text-columns.ts';
import { Rejection } from '../../../errors.ts';
import { renderJson } from '../../../pdata/render-json.ts';
import { type JsonReplacer, redactJson } from './json-text.ts';
import { KeyRedaction, UNCLEANABLE } from './key-redaction.ts';
import { EVERY_RULE, LONG_TEXT, type Redactor } from './redactor.ts';
import { Candidates } from './candidates.ts';
import type { Hints } from './hints.ts';

/** Rows and their owners handled in one step when there is nothing to redact. */
const ROWS_STEP = 4096;
const OWNERS_STEP = 256;

export class BatchRedaction {
  readonly #redactor: Redactor;
  readonly #tables: Tables;
  readonly #candidates: Candidates;
  readonly #keys: KeyRedaction;

  constructor(hints: Hints, tables: Tables) {
    const { redactor } = hints;
    this.#redactor = redactor;
    this.#tables = tables;
    this.#candidates = new Candidates(hints);
    this.#keys = new KeyRedaction(redactor, tables);
  }

  *run(batch: Batch): Steps {
    yield* this.#candidates.scan(this.#tables, this.#tables.header(layout.HEADER_INPUT_LENGTH));
    yield* this.#keys.update(this.#candidates);
    for (let resource = 0; resource < batch.resourceCount; resource++) {
      yield* this.#redactEnvironment(batch, resource);
      if (resource % OWNERS_STEP === OWNERS_STEP - 1) yield;
    }
    if (this.#candidates.any || this.#redactor.numberRules !== 0 || batch.hasSetTexts) yield* this.#redactTables(batch);
    if (this.#keys.any) yield* this.#renameKeys(batch);
  }

  /**
   * The environment is in lower case, where a pattern may not match. So the rules also run on the attribute it came
   * from, and a replacement there replaces the environment.
   */
  *#redactEnvironment(batch: Batch, resource: number): Steps {
    const environment = batch.environmentOf(resource);
    let cleaned = this.#redactor.redact(environment);
    const rows = batch.resourceAttributes(resource);
    while (rows.next()) {
      if (rows.symbol !== layout.SYMBOL_ENVIRONMENT_NAME && rows.symbol !== layout.SYMBOL_ENVIRONMENT) continue;
      if (rows.kind !== layout.KIND_TEXT || this.#candidates.at(rows.offset, rows.length) === 0) continue;
      const source = yield* readTextInSteps(this.#tables.memory, rows.offset, rows.length, rows.flags);
      if (environmentNamed(source) !== environment) continue;
      const other = yield* this.#clean(source, EVERY_RULE);
      if (other !== source) cleaned = other === null ? null : environmentNamed(other);
    }
    if (cleaned === environment) return;
    const written = this.#tables.scratch(cleaned ?? UNCLEANABLE);
    if (written === null) throw new Rejection('body_too_large', { hint: 'too many resources' });
    batch.setEnvironment(resource, written);
  }

  *#redactTables(batch: Batch): Steps {
    yield* this.#redactAttributes(batch);
    const columns = TEXT_COLUMNS;
    if (batch.signal === 'traces')
      yield* this.#redactTexts(batch.recordCount, columns.recordName, columns.recordState, columns.recordMessage);
    else if (batch.signal === 'logs')
      yield* this.#redactTexts(batch.recordCount, columns.recordName, columns.recordState);
    yield* this.#redactTexts(batch.scopeCount, columns.scopeName, columns.scopeVersion);
    yield* this.#redactTexts(batch.eventCount, columns.eventName);
    yield* this.#redactTexts(batch.linkCount, columns.linkState);
    yield* this.#redactTexts(batch.metricCount, columns.metricName, columns.metricDescription, columns.metricUnit);
  }

  *#redactTexts(count: number, ...columns: readonly TextColumn[]): Steps {
    const text = new TextCursor(this.#tables.memory);
    for (let row = 0; row < count; row++) {
      if (row % ROWS_STEP === ROWS_STEP - 1) yield;
      for (const column of columns) {
        const { offset, length } = text.goto(column, row);
        const bits = this.#candidates.at(offset, length);
        if (bits === 0) continue;
        const string = yield* readTextInSteps(this.#tables.memory, offset, length, text.flags);
        const cleaned = yield* this.#clean(string, bits);
        if (cleaned !== string) text.replace(cleaned === null ? null : yield* this.#tables.scratchInSteps(cleaned));
      }
    }
  }

  *#redactAttributes(batch: Batch): Steps {
    const row = batch.cursor().at(0, batch.attributeCount);
    const numbers = this.#redactor.numberRules;
    // No hint can match the binary numbers of protobuf.
    const nestedNumbers = batch.encoding === 'protobuf' ? numbers : 0;
    while (row.next()) {
      const { kind } = row;
      // Most rows need no generator, and creating one costs more than their check.
      if (kind === layout.KIND_TEXT) {
        const bits = this.#candidates.at(row.offset, row.length);
        if (bits !== 0) yield* this.#redactText(row, bits);
      } else if (kind === layout.KIND_ARRAY || kind === layout.KIND_MAP) {
        const bits = this.#candidates.at(row.offset, row.length) | nestedNumbers;
        if (bits !== 0) yield* this.#redactNested(row, bits);
      } else if (numbers !== 0) {
        const written = this.#decimal(row);
        if (written !== '') yield* this.#redactNumber(row, written);
      }
      if (row.row % ROWS_STEP === ROWS_STEP - 1) yield;
    }
  }

  /** A long text takes many steps, a short one takes one. */
  *#clean(text: string, bits: number): Steps<string | null> {
    if (text.length > LONG_TEXT) {
      yield;
      return yield* this.#redactor.clean(text, bits);
    }
    const cleaned = this.#redactor.redact(text, bits);
    yield;
    return cleaned;
  }

  *#redactText(row: AttributeCursor, bits: number): Steps {
    const text = yield* readTextInSteps(this.#tables.memory, row.offset, row.length, row.flags);
    const cleaned = yield* this.#clean(text, bits);
    if (cleaned !== text) yield* this.#write(row, layout.KIND_TEXT, cleaned);
  }

  /** Renders the value as JSON and redacts each string. A changed value stays JSON. */
  *#redactNested(row: AttributeCursor, bits: number): Steps {
    const json = yield* renderJson(this.#tables, row.row);
    const cleaned = json === null ? null : yield* redactJson(json, this.#replacer(bits));
    yield;
    if (cleaned !== json || cleaned === null) yield* this.#write(row, layout.KIND_JSON, cleaned);
  }

  #replacer(bits: number): JsonReplacer {
    const numbers = bits & this.#redactor.numberRules;
    return {
      text: (value) => this.#redactor.redact(value, bits),
      longText: (value) => this.#clean(value, bits),
      number: (written) => (numbers === 0 ? written : this.#redactWritten(written, numbers)),
    };
  }

  /** A safe integer is checked as plain digits: an exponent or a fraction of zeros would hide some. */
  #redactWritten(written: string, bits: number): string | null {
    const value = Number(written);
    if (!this.#redactor.mayFind(value)) return written;
    const digits = Number.isSafeInteger(value) ? String(value) : written;
    const cleaned = this.#redactor.redact(digits, bits);
    return cleaned === digits ? written : cleaned;
  }

  *#redactNumber(row: AttributeCursor, written: string): Steps {
    const cleaned = this.#redactor.redact(written, this.#redactor.numberRules);
    if (cleaned !== written) yield* this.#write(row, layout.KIND_TEXT, cleaned);
  }

  /** The digits of a number that a rule may find; empty for anything else. */
  #decimal(row: AttributeCursor): string {
    const { kind } = row;
    if (!isScalar(kind) || kind === layout.KIND_BOOL || !this.#redactor.mayFind(row.number)) return '';
    return String(kind === layout.KIND_INT ? row.integer : row.number);
  }

  /** Null: the value cannot be redacted. It is dropped and emptied, so that no later stage reads it. */
  *#write(row: AttributeCursor, kind: number, text: string | null): Steps {
    const written: TextRef | null = text === null ? null : yield* this.#tables.scratchInSteps(text);
    if (written !== null) {
      row.replace(kind, written.offset, written.length, written.flags);
      return;
    }
    row.replace(layout.KIND_NONE, 0, 0, 0);
    row.disposition = layout.DISPOSITION_DROP;
  }

  *#renameKeys(batch: Batch): Steps {
    const owners: readonly (readonly [count: number, attributesOf: (row: number) => AttributeCursor])[] = [
      [batch.recordCount, (record) => batch.recordAttributes(record)],
      [batch.eventCount, (event) => batch.eventAttributes(event)],
      [batch.linkCount, (link) => batch.linkAttributes(link)],
      [batch.resourceCount, (resource) => batch.resourceAttributes(resource)],
      [batch.scopeCount, (scope) => batch.scopeAttributes(scope)],
      [batch.metricCount, (metric) => batch.metricAttributes(metric)],
    ];
    for (const [count, attributesOf] of owners)
      for (let row = 0; row < count; row++) {
        if (row % OWNERS_STEP === OWNERS_STEP - 1) yield;
        yield* this.#keys.rename(() => attributesOf(row));
      }
  }
}
