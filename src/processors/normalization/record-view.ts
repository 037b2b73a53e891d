/** What the readers of one record share: its position, candidates, dialect and operation. */
import { dispositionOf, headAt, wordOfRow } from '../../pdata/attributes.ts';
import type { Batch } from '../../pdata/batch.ts';
import { STATUS_ERROR } from '../../pdata/columns.ts';
import type { DerivedCursor } from '../../pdata/derived.ts';
import { DISPOSITION_DROP } from '../../pdata/layout.ts';
import type { Memory } from '../../pdata/memory.ts';
import type { FieldCandidates } from './field-candidates.ts';
import type { LookupTables } from './lookup-tables.ts';
import type { Reader } from './reader.ts';
import { RowSet } from './row-set.ts';
import { OPERATION_CATEGORY, type Rule } from './rules.ts';

export class RecordView {
  readonly batch: Batch;
  readonly memory: Memory;
  readonly placeholderLengths: Uint8Array;
  /** The derived row that is being filled. */
  readonly derived: DerivedCursor;
  readonly lookups: LookupTables;
  readonly fields: FieldCandidates;
  readonly reader: Reader;
  record = 0;
  place = 0;
  /** Index of the dialect; -1: none. */
  dialect = -1;
  /** 0: none. */
  operation = 0;
  category = 0;
  provider = 0;
  /** The event name of a log record, from its field or an attribute. */
  logName: string | null = null;
  /** Rows that fill a slot already; each row fills one slot at most. */
  readonly used = new RowSet();

  constructor(batch: Batch, lookups: LookupTables, fields: FieldCandidates, reader: Reader) {
    this.batch = batch;
    this.memory = batch.tables.memory;
    this.placeholderLengths = lookups.placeholderLengths;
    this.derived = batch.derived;
    this.lookups = lookups;
    this.fields = fields;
    this.reader = reader;
  }

  begin(record: number, place: number): void {
    this.record = record;
    this.place = place;
    this.dialect = -1;
    this.operation = 0;
    this.category = 0;
    this.provider = 0;
    this.used.clear();
    this.reader.begin();
  }

  setOperation(operation: number): void {
    this.operation = operation;
    this.category = OPERATION_CATEGORY[operation] ?? 0;
  }

  /** Whether the status of a span is an error. */
  get hasErrorStatus(): boolean {
    return this.batch.signal === 'traces' && this.batch.records.goto(this.record).status === STATUS_ERROR;
  }

  /**
   * Whether a rule of the configuration may not read text here: privacy dropped the attribute, and the rule could copy
   * its text into another column. Counts and durations may still be read.
   */
  withholds(rule: Rule, row: number): boolean {
    return rule.own && dispositionOf(headAt(this.memory.u32, wordOfRow(row))) === DISPOSITION_DROP;
  }

  /** Whether a rule holds for the operation of the record. */
  applies(rule: Rule): boolean {
    return rule.when === 0 || (rule.when & (1 << this.operation)) !== 0;
  }
}
