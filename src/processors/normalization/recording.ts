/**
 * The objects that the readers of a record work on, with a log of their questions and answers. Normalization itself is
 * the same code; only `sluice explain` runs it on these.
 */
import type { Batch } from '../../pdata/batch.ts';
import type { DerivedCursor } from '../../pdata/derived.ts';
import { FieldCandidates } from './field-candidates.ts';
import type { LookupTables } from './lookup-tables.ts';
import { Reader } from './reader.ts';
import { RecordView } from './record-view.ts';
import type { Rule } from './rules.ts';

export interface Candidate {
  readonly field: number;
  readonly rule: Rule;
  readonly row: number;
}

/** A part of the derived row that was set. */
export type Part = 'slot' | 'number' | 'byte';

export interface Setting {
  readonly part: Part;
  readonly index: number;
  /** The candidate that was looked at last, if there was one since the last setting. */
  readonly last: Candidate | null;
  /** The attribute rows that the value refers to. */
  readonly rows: readonly number[];
  /** The place of a text in memory; -1 for other values. */
  readonly offset: number;
  readonly number: number;
}

export type OperationOrigin = Candidate | 'name' | 'evidence';

/** What happened to one record, in order. */
export class RecordLog {
  isActive = false;
  readonly settings: Setting[] = [];
  readonly considered = new Set<string>();
  /** Counts and amounts that were usable, by the field they were read for. */
  readonly accepted = new Map<number, { readonly candidate: Candidate; readonly value: number }>();
  /** By row and rule: the path that was read last. */
  readonly paths = new Map<string, string>();
  operation: OperationOrigin | null = null;
  #last: Candidate | null = null;
  #isEvident = false;

  begin(): void {
    this.isActive = true;
    this.settings.length = 0;
    this.considered.clear();
    this.accepted.clear();
    this.paths.clear();
    this.operation = null;
    this.#last = null;
    this.#isEvident = false;
  }

  consider(candidate: Candidate): void {
    this.#last = candidate;
    this.considered.add(keyOf(candidate));
  }

  accept(rule: Rule, row: number, value: number): void {
    if (!this.isActive || Number.isNaN(value)) return;
    this.accepted.set(rule.field, { candidate: { field: rule.field, rule, row }, value });
  }

  /** The operation is read from the attributes that the record has. */
  evident(): void {
    this.#isEvident = true;
  }

  setOperation(field: number): void {
    const last = this.#last;
    this.operation = this.#isEvident ? 'evidence' : last?.field === field ? last : 'name';
  }

  path(row: number, path: string): void {
    if (this.isActive && this.#last !== null) this.paths.set(`${this.#last.rule.number} ${row}`, path);
  }

  set(
    part: Part,
    index: number,
    { rows = [], offset = -1, number = Number.NaN }: Partial<Pick<Setting, 'rows' | 'offset' | 'number'>>,
  ): void {
    if (!this.isActive) return;
    this.settings.push({ part, index, last: this.#last, rows, offset, number });
  }
}

export const keyOf = ({ rule, row }: Candidate): string => `${rule.number} ${row}`;

export class RecordingCandidates extends FieldCandidates {
  readonly #log: RecordLog;

  constructor(log: RecordLog) {
    super();
    this.#log = log;
  }

  override ruleAt(field: number, index: number): Rule {
    this.#note(field, index);
    return super.ruleAt(field, index);
  }

  override rowAt(field: number, index: number): number {
    this.#note(field, index);
    return super.rowAt(field, index);
  }

  override plainRow(field: number): number {
    const row = super.plainRow(field);
    if (row >= 0) this.#note(field, 0);
    return row;
  }

  override get suggested(): number {
    this.#log.evident();
    return super.suggested;
  }

  /** All candidates of a field, best first, without a trace in the log. */
  of(field: number): Candidate[] {
    return Array.from({ length: this.countOf(field) }, (_, index) => this.#at(field, index));
  }

  #note(field: number, index: number): void {
    this.#log.consider(this.#at(field, index));
  }

  #at(field: number, index: number): Candidate {
    return { field, rule: super.ruleAt(field, index), row: super.rowAt(field, index) };
  }
}

class RecordingReader extends Reader {
  readonly #log: RecordLog;

  constructor(batch: Batch, log: RecordLog) {
    super(batch);
    this.#log = log;
  }

  override count(rule: Rule, row: number): number {
    const value = super.count(rule, row);
    this.#log.accept(rule, row, value);
    return value;
  }

  override amount(rule: Rule, row: number): number {
    const value = super.amount(rule, row);
    this.#log.accept(rule, row, value);
    return value;
  }

  override value(row: number, path: string): unknown {
    this.#log.path(row, path);
    return super.value(row, path);
  }

  override values(row: number, path: string): unknown[] {
    this.#log.path(row, path);
    return super.values(row, path);
  }
}

export class RecordingView extends RecordView {
  readonly #log: RecordLog;
  readonly #operationField: number;

  constructor(batch: Batch, lookups: LookupTables, parts: { readonly log: RecordLog; readonly operation: number }) {
    super(batch, lookups, new RecordingCandidates(parts.log), new RecordingReader(batch, parts.log));
    this.#log = parts.log;
    this.#operationField = parts.operation;
    observe(batch.derived, parts.log);
  }

  override setOperation(operation: number): void {
    super.setOperation(operation);
    this.#log.setOperation(this.#operationField);
  }
}

/** Logs what is written to one cursor. Other cursors are untouched. */
function observe(derived: DerivedCursor, log: RecordLog): void {
  const { setAttribute, setText, setReferences, setNumber, setByte } = derived;
  derived.setAttribute = (slot, row) => {
    log.set('slot', slot, { rows: [row] });
    setAttribute.call(derived, slot, row);
  };
  derived.setText = (slot, offset, length, flags, owner = -1) => {
    log.set('slot', slot, { rows: owner < 0 ? [] : [owner], offset });
    setText.call(derived, slot, offset, length, flags, owner);
  };
  derived.setReferences = (slot, rows) => {
    log.set('slot', slot, { rows });
    setReferences.call(derived, slot, rows);
  };
  derived.setNumber = (index, value) => {
    log.set('number', index, { number: value });
    setNumber.call(derived, index, value);
  };
  derived.setByte = (at, value) => {
    log.set('byte', at, { number: value });
    setByte.call(derived, at, value);
  };
}
