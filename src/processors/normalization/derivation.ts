/**
 * Normalizes records and reports for each where its columns come from. The log of the readers says what happened;
 * here it is put into words.
 */
import type {
  Derivation,
  Derivations,
  FilledColumn,
  LostCandidate,
  Origin,
} from '../../component/capabilities/derivations.ts';
import { OPERATIONS } from '../../dialects/categories.ts';
import { BODY, FIELDS } from '../../dialects/dialect.ts';
import type { Batch } from '../../pdata/batch.ts';
import { STATUS_ERROR } from '../../pdata/columns.ts';
import * as layout from '../../pdata/layout.ts';
import { DialectEvidence } from './dialect-evidence.ts';
import { columnOf, columnOfField, fieldsOfColumn, isCount } from './filled-columns.ts';
import { NO_RANK } from './key-classes.ts';
import type { LookupTables } from './lookup-tables.ts';
import { type Candidate, keyOf, RecordingCandidates, RecordingView, RecordLog, type Setting } from './recording.ts';
import { RecordNormalizer } from './record-normalizer.ts';
import { fieldNumber, operationNumber } from './rules.ts';

const OPERATION = fieldNumber('operation');
/** Longer values are cut in reasons. */
const MAX_SHOWN = 60;

/** Values that a column does not hold. */
const EMPTY: ReadonlySet<string> = new Set(['', 'null', '{}', '[]', '""']);
export class DerivingNormalizer extends RecordNormalizer {
  readonly #log: RecordLog;
  readonly #recording: RecordingView;
  readonly #batch: Batch;
  readonly #lookups: LookupTables;
  readonly #derivations: Derivations;
  readonly #signs: DialectEvidence;

  constructor(lookups: LookupTables, batch: Batch, derivations: Derivations) {
    const log = new RecordLog();
    const view = new RecordingView(batch, lookups, { log, operation: OPERATION });
    super(lookups, batch, view);
    this.#log = log;
    this.#recording = view;
    this.#batch = batch;
    this.#lookups = lookups;
    this.#derivations = derivations;
    this.#signs = new DialectEvidence(batch, lookups, view.reader);
  }

  override normalize(record: number): void {
    this.#log.begin();
    super.normalize(record);
    this.#log.isActive = false;
    this.#derivations.derived(this.#derivation(record));
  }

  #derivation(record: number): Derivation {
    const { dialect } = this.#recording;
    const isDerived = this.#batch.records.goto(record).derived > 0;
    const winners = new Map<string, Candidate>();
    const filled = isDerived ? this.#filled(record, winners) : [];
    const used = this.#usedRows(winners, filled);
    const lost = isDerived ? this.#lost(winners, filled, used) : [];
    return {
      record,
      dialect: dialect < 0 ? null : (this.#lookups.dialects[dialect]?.id ?? null),
      evidence: dialect < 0 ? null : this.#signs.of(record, dialect, this.rank),
      filled: filled.map(({ rows: _, ...column }) => column),
      lost,
      leftOver: this.#leftOver(record, used, lost),
    };
  }

  #filled(record: number, winners: Map<string, Candidate>): (FilledColumn & { readonly rows: readonly number[] })[] {
    const columns = new Map<string, FilledColumn & { readonly rows: readonly number[] }>();
    for (const setting of this.#log.settings) {
      const column = columnOf(setting);
      if (column === null || (setting.part !== 'slot' && Number.isNaN(setting.number))) continue;
      if (setting.part === 'byte' && setting.number === 0) continue;
      const winner = this.#winner(column, setting);
      if (winner === null) winners.delete(column);
      else winners.set(column, winner);
      const origin = winner === null ? this.#otherOrigin(record, column, setting) : this.#originOf(column, winner);
      const rows = [...setting.rows, ...(winner === null ? [] : [winner.row])];
      columns.set(column, { ...origin, note: this.#noteOf(column, setting, winner), rows });
    }
    return [...columns.values()];
  }

  /** The candidate that gave the value of a setting; null: it does not come from a listed attribute. */
  #winner(column: string, setting: Setting): Candidate | null {
    if (column === 'operation' && setting.rows.length === 0) {
      const { operation } = this.#log;
      return operation === null || typeof operation === 'string' ? null : operation;
    }
    const fields = fieldsOfColumn(column);
    if (isCount(column)) {
      for (const field of fields) {
        const found = this.#log.accepted.get(field);
        if (found !== undefined) return found.candidate;
      }
      return null;
    }
    const { last, rows } = setting;
    if (last === null || !fields.includes(last.field)) return null;
    if (rows.length > 0 && !last.rule.flattened && !rows.includes(last.row)) return null;
    if (setting.part === 'byte') return null;
    return this.#isRecordName(setting) ? null : last;
  }

  #isRecordName({ offset }: Setting): boolean {
    return offset >= 0 && offset === this.#batch.records.nameOffset;
  }

  #originOf(column: string, { rule, row }: Candidate): Origin {
    const path =
      rule.paths === null ? null : rule.sum ? rule.paths.join(' + ') : this.#pathOf(rule.number, row, rule.paths);
    const dialect = this.#lookups.dialects[rule.dialect]?.id ?? null;
    // The keys of a flattened list are shown as their pattern.
    const source = rule.flattened ? rule.attribute : this.#place(row);
    return { column, source, isAttribute: true, path, dialect };
  }

  #pathOf(rule: number, row: number, paths: readonly string[]): string {
    const last = this.#log.paths.get(`${rule} ${row}`);
    return last !== undefined && paths.includes(last) ? last : (paths[0] ?? '$');
  }

  #otherOrigin(record: number, column: string, setting: Setting): Origin {
    const [row] = setting.rows;
    if (row !== undefined) {
      const source = setting.rows.length > 1 ? `${this.#place(row)} and others` : this.#place(row);
      return { column, source, isAttribute: this.#isOwn(record, row), path: null, dialect: null };
    }
    return { column, source: this.#words(record, column, setting), isAttribute: false, path: null, dialect: null };
  }

  /** What a value comes from that no attribute gave. */
  #words(record: number, column: string, setting: Setting): string {
    const isSpan = this.#batch.signal === 'traces';
    if (column === 'dialect') return 'the signs of the record';
    if (this.#isRecordName(setting)) return 'the name of the span';
    if (column === 'operation' || column === 'category') {
      if (this.#log.operation === 'name') return isSpan ? 'the name of the span' : 'the name of the event';
      return this.#log.operation === 'evidence' ? 'the attributes that the record has' : 'the operation';
    }
    if (column === 'latency_ms') return 'start and end of the span';
    if (column === 'total_tokens') return 'the sum of input and output';
    if (column === 'usage_scope') return 'the category and the attributes of the usage';
    if (column === 'is_error') {
      const failed = isSpan && this.#batch.records.goto(record).status === STATUS_ERROR;
      return failed ? 'the status of the span' : 'the attributes about failures, or their absence';
    }
    return isSpan ? 'the events of the span' : 'the record';
  }

  #noteOf(column: string, setting: Setting, winner: Candidate | null): string | null {
    const rows = winner === null || winner.rule.flattened ? setting.rows : [winner.row, ...setting.rows];
    const { reader } = this.#recording;
    if (setting.part === 'slot' && rows.length > 0) {
      const dropped = rows.every((row) => reader.at(row).disposition === layout.DISPOSITION_DROP);
      if (dropped) return 'privacy dropped the value, so the column is null';
      return EMPTY.has(this.#batch.jsonOf(rows[0] ?? 0)) ? 'it is empty, so the column is null' : null;
    }
    const sent = winner === null ? undefined : this.#log.accepted.get(winner.field)?.value;
    if (!isCount(column) || sent === undefined) return null;
    if (sent === setting.number) {
      const cached = this.#numberOf('cache_read_tokens') + this.#numberOf('cache_write_tokens');
      if (column === 'input_tokens' && cached > 0) return `as sent, with the ${cached} cached tokens`;
      const reasoning = this.#numberOf('reasoning_tokens');
      return column === 'output_tokens' && reasoning > 0 ? `as sent, with the ${reasoning} reasoning tokens` : null;
    }
    if (column === 'input_tokens') return `${sent} as sent, without the cached tokens, which are added`;
    if (column === 'output_tokens') return `${sent} as sent, without the reasoning tokens, which are added`;
    return column === 'total_tokens' ? `${sent} as sent, which is less than the sum` : `${sent} as sent`;
  }

  /** The number that was written to a column; 0: none. */
  #numberOf(column: string): number {
    const setting = this.#log.settings.find((each) => columnOf(each) === column);
    return setting === undefined || Number.isNaN(setting.number) ? 0 : setting.number;
  }

  #lost(
    winners: ReadonlyMap<string, Candidate>,
    filled: readonly FilledColumn[],
    usedRows: ReadonlySet<number>,
  ): LostCandidate[] {
    const { fields } = this.#recording;
    if (!(fields instanceof RecordingCandidates)) return [];
    const used = new Set([...winners.values(), ...this.#acceptedParts()].map(keyOf));
    return FIELDS.flatMap((name, field) => {
      const column = columnOfField(name);
      const winner = filled.find((each) => each.column === column);
      return fields
        .of(field)
        .filter((candidate) => !used.has(keyOf(candidate)))
        .filter((candidate) => !this.#isSame(candidate, winners.get(column)))
        .filter((candidate) => !usedRows.has(candidate.row) || this.#isPresent(candidate))
        .map((candidate) => ({
          ...this.#originOf(column, candidate),
          reason: this.#reason(column, candidate, winner?.source ?? null),
        }));
    });
  }

  /** Tables of several dialects list the same attribute. */
  #isSame({ rule, row }: Candidate, winner: Candidate | undefined): boolean {
    return winner?.row === row && winner.rule.paths?.join() === rule.paths?.join();
  }

  /** Whether a document has one of the paths. Each form of a document is a candidate of its own. */
  #isPresent({ rule, row }: Candidate): boolean {
    const { reader } = this.#recording;
    return rule.paths === null || rule.paths.some((path) => (reader.value(row, path) ?? null) !== null);
  }

  /** Counts that are parts of others have no setting of their own. */
  #acceptedParts(): Candidate[] {
    return [...this.#log.accepted.values()].map(({ candidate }) => candidate);
  }

  #reason(column: string, candidate: Candidate, winner: string | null): string {
    const { rule, row } = candidate;
    const view = this.#recording;
    if (!view.applies(rule)) {
      const words = OPERATIONS.filter((operation) => (rule.when & (1 << operationNumber(operation))) !== 0);
      return `it is read for ${words.join(', ')} only`;
    }
    const isLater = winner !== null && isCount(column) && !Number.isNaN(view.reader.count(rule, row));
    if (isLater || !this.#log.considered.has(keyOf(candidate)))
      return winner === null ? 'it is not read on this record' : `${winner} comes first`;
    const { kind, disposition, length } = view.reader.at(row);
    if (disposition === layout.DISPOSITION_DROP) return 'privacy dropped it';
    if (view.used.has(row)) return 'it fills another column';
    const shown = this.#shown(row);
    if (isCount(column)) return `${shown} has no whole number that is not negative and below 2^53`;
    if (kind === layout.KIND_TEXT && length === 0) return 'it is empty';
    if (rule.either) return `${shown} is the name of the other model: a dated name is the one that answered`;
    return rule.paths === null ? `${shown} is not usable` : `${shown} has no usable value at ${rule.paths.join(', ')}`;
  }

  #shown(row: number): string {
    const text = this.#batch.textOf(row);
    const whole = text === null ? this.#batch.jsonOf(row) : JSON.stringify(text);
    return whole.length > MAX_SHOWN ? `${whole.slice(0, MAX_SHOWN)}…` : whole;
  }

  #usedRows(
    winners: ReadonlyMap<string, Candidate>,
    filled: readonly { readonly rows: readonly number[] }[],
  ): ReadonlySet<number> {
    const { fields } = this.#recording;
    const candidates = [...winners.values(), ...this.#acceptedParts()];
    return new Set([
      ...filled.flatMap(({ rows }) => rows),
      ...candidates.flatMap(({ rule, row }) => (rule.flattened ? fields.family(rule) : [row])),
    ]);
  }

  #leftOver(record: number, used: ReadonlySet<number>, lost: readonly LostCandidate[]): Derivation['leftOver'] {
    const rows = this.#batch.recordAttributes(record);
    const left: { readonly attribute: string; readonly symbol: number; readonly dropped: boolean }[] = [];
    while (rows.next()) {
      if (used.has(rows.row)) continue;
      const dropped = rows.disposition === layout.DISPOSITION_DROP;
      left.push({ attribute: this.#batch.tables.keyOf(rows.symbol), symbol: rows.symbol, dropped });
    }
    return left.map(({ attribute, symbol, dropped }) => ({
      attribute,
      note: dropped ? 'dropped by privacy' : this.#noteOfKey(attribute, symbol, lost),
    }));
  }

  #noteOfKey(attribute: string, symbol: number, lost: readonly LostCandidate[]): string | null {
    const columns = lost.filter(({ source }) => source === attribute).map(({ column }) => column);
    if (columns.length > 0) return `a candidate of ${[...new Set(columns)].join(', ')}`;
    const known = this.#lookups.keys.of(this.#batch.tables, symbol);
    if (known === null) return null;
    const ids = known.only.flatMap((index) => this.#lookups.dialects[index]?.id ?? []);
    if (ids.length > 0) return `read in records of ${ids.join(', ')}`;
    return known.rank !== NO_RANK || known.signs.length > 0 ? 'a sign of a dialect' : null;
  }

  #isOwn(record: number, row: number): boolean {
    const { attributesFirst, attributesCount } = this.#batch.records.goto(record);
    return row >= attributesFirst && row < attributesFirst + attributesCount;
  }

  /** The name of an attribute; with its event where it belongs to one. */
  #place(row: number): string {
    const { record } = this.#recording;
    const { body, eventsFirst, eventsCount } = this.#batch.records.goto(record);
    if (row === body - 1 && this.#batch.signal === 'logs') return BODY;
    if (this.#isOwn(record, row)) return this.#batch.tables.keyOf(this.#recording.reader.at(row).symbol);
    for (let event = eventsFirst; event < eventsFirst + eventsCount; event++) {
      const rows = this.#batch.eventAttributes(event);
      let found = -1;
      while (rows.next()) if (rows.row === row) found = rows.symbol;
      if (found >= 0) return `${this.#batch.tables.keyOf(found)} of the event ${this.#batch.eventName(event)}`;
    }
    return '(another attribute)';
  }
}
