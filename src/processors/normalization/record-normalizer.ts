/**
 * Normalizes one record at a time: recognises its attributes, detects its dialect and operation, and fills its derived
 * row.
 */
import { DERIVED_CATEGORY, KIND_TEXT, SLOT_DIALECT, SLOT_OPERATION } from '../../pdata/layout.ts';
import type { Batch } from '../../pdata/batch.ts';
import { TEXT_COLUMNS, TextCursor } from '../../pdata/text-columns.ts';
import { fillAttributeColumns } from './attribute-columns.ts';
import { fillContent } from './content.ts';
import { fillFailure } from './failure.ts';
import { fillFinishReasons } from './finish-reasons.ts';
import { fillIdentity, fillPersons } from './identity.ts';
import { dialectOfRank, type KeyClass, NO_RANK, RANK_SCOPE } from './key-classes.ts';
import type { Detection } from './detection.ts';
import type { LookupTables } from './lookup-tables.ts';
import { MAX_EVENTS_READ, MessageEvents } from './message-events.ts';
import { findOperation } from './operation.ts';
import { Reader } from './reader.ts';
import { RecordView } from './record-view.ts';
import { PLACE_BITS } from './rules.ts';
import { BODY_POSITION, type KeySequence } from './key-sequence.ts';
import { setNameRow, setWord } from './slots.ts';
import { fillTimes } from './timing.ts';
import { TokenCounts } from './token-counts.ts';

/** A bit besides PLACE_BITS: the record has a body too. */
const WITH_BODY = 8;

export class RecordNormalizer {
  readonly #batch: Batch;
  readonly #lookups: LookupTables;
  readonly #view: RecordView;
  readonly #tokens: TokenCounts;
  readonly #events: MessageEvents;
  readonly #eventNames: TextCursor;
  readonly #place: number;
  #rank = NO_RANK;
  #telling = false;
  #personal = false;
  /** Dialects that use a name of the record which is too general for others. */
  readonly #ownSpecific = new Set<number>();
  #specific: ReadonlySet<number> = this.#ownSpecific;

  constructor(
    lookups: LookupTables,
    batch: Batch,
    view = new RecordView(batch, lookups, lookups.fields, new Reader(batch)),
  ) {
    this.#batch = batch;
    this.#lookups = lookups;
    this.#view = view;
    this.#tokens = new TokenCounts(this.#view);
    this.#events = new MessageEvents(this.#view);
    this.#eventNames = new TextCursor(this.#view.memory);
    this.#place = batch.signal === 'traces' ? PLACE_BITS.span : PLACE_BITS.log;
    lookups.detection.begin();
  }

  /** The best rank that the attributes of the last record gave. */
  get rank(): number {
    return this.#rank;
  }

  normalize(record: number): void {
    this.#view.begin(record, this.#place);
    this.#collect();
    const readsEvents = this.#place === PLACE_BITS.span && this.#collectEvents();
    this.#detect();
    if (this.#view.dialect < 0 && !this.#personal) return;
    const { derived, records } = this.#batch;
    const row = derived.create();
    if (row === 0) return;
    records.goto(record).derived = row;
    this.#view.fields.sort(this.#view.dialect, readsEvents ? this.#place | PLACE_BITS.span_event : this.#place);
    fillPersons(this.#view);
    if (this.#view.dialect >= 0) this.#fill();
  }

  #fill(): void {
    const view = this.#view;
    const { derived } = view;
    const dialect = this.#lookups.dialectText(view.dialect, view.batch.tables);
    if (dialect !== null) setWord(view, SLOT_DIALECT, dialect);
    const name = this.#needsName() ? this.#name() : null;
    view.logName = this.#place === PLACE_BITS.log ? name : null;
    const ownWord = findOperation(view, name);
    derived.setByte(DERIVED_CATEGORY, view.category);
    if (ownWord >= 0) setNameRow(view, SLOT_OPERATION, ownWord);
    else if (view.operation > 0) setWord(view, SLOT_OPERATION, this.#lookups.operationText(view.operation));
    fillAttributeColumns(view);
    fillIdentity(view);
    this.#tokens.fill();
    fillTimes(view);
    this.#events.read();
    fillFinishReasons(view);
    const { exceptionsAreFailures: ends } = this.#lookups.dialects[view.dialect] ?? {};
    fillFailure(view, this.#events.exceptionRow, ends === true && this.#isNamed(view.dialect));
    fillContent(view);
    this.#events.fill();
  }

  /** Classifies the keys of the record; nearly always its key sequence is in the cache. */
  #collect(): void {
    const { tables, records } = this.#batch;
    const { fields } = this.#view;
    const { sequences } = this.#lookups;
    const { attributesFirst, attributesCount, body } = records.goto(this.#view.record);
    const hasBody = this.#place === PLACE_BITS.log && body > 0;
    const sequence = sequences.find(
      tables,
      attributesFirst,
      attributesCount,
      hasBody ? this.#place | WITH_BODY : this.#place,
    );
    if (sequence !== null) {
      fields.beginWith(sequence, attributesFirst, body - 1);
      this.#take(sequence, attributesFirst);
      return;
    }
    fields.begin(attributesFirst, body - 1);
    this.#classify(attributesFirst, attributesCount, attributesFirst);
    if (hasBody) fields.add(BODY_POSITION, this.#lookups.bodyClass);
    sequences.note(fields);
  }

  /** Adds the attributes of events to those of the span, for scopes that report calls so. Returns whether it did. */
  #collectEvents(): boolean {
    const { records, tables } = this.#batch;
    const { detection, keys, readEvents, words } = this.#lookups;
    const { scope, attributesFirst, attributesCount, eventsFirst, eventsCount } = records.goto(this.#view.record);
    if (eventsCount === 0) return false;
    const rank = detection.rankOfScope(this.#batch, scope);
    const read = rank === NO_RANK ? null : (readEvents[dialectOfRank(rank)] ?? null);
    if (read === null) return false;
    // Rows are counted from the first row of the batch: those of the events have no fixed place after the span's.
    this.#view.fields.begin(0, -1);
    this.#classify(attributesFirst, attributesCount, 0);
    for (let event = eventsFirst; event < eventsFirst + Math.min(eventsCount, MAX_EVENTS_READ); event++) {
      const { offset, length } = this.#eventNames.goto(TEXT_COLUMNS.eventName, event);
      if (!read.has(words.ofText(tables.memory, offset, length))) continue;
      const rows = this.#batch.eventAttributes(event);
      while (rows.next()) {
        const found = keys.of(tables, rows.symbol);
        if (found !== null) this.#note(0, rows.row, found);
      }
    }
    return true;
  }

  #take(sequence: KeySequence, firstRow: number): void {
    this.#rank = sequence.rank;
    this.#telling = sequence.telling;
    this.#personal = sequence.personal;
    this.#specific = sequence.specific;
    for (let each = 0; each < sequence.signed.length; each++) {
      const index = sequence.signed[each] as number;
      this.#noteSigns(firstRow + (sequence.positions[index] as number), sequence.classes[index] as KeyClass);
    }
  }

  /** Positions are counted from the row `from`. */
  #classify(firstRow: number, count: number, from: number): void {
    this.#rank = NO_RANK;
    this.#telling = false;
    this.#personal = false;
    if (this.#ownSpecific.size > 0) this.#ownSpecific.clear();
    this.#specific = this.#ownSpecific;
    const { tables } = this.#batch;
    const { keys } = this.#lookups;
    const rows = this.#batch.attributes.at(firstRow, count);
    while (rows.next()) {
      const found = keys.of(tables, rows.symbol);
      if (found !== null) this.#note(from, rows.row - from, found);
    }
  }

  #note(firstRow: number, position: number, found: KeyClass): void {
    this.#view.fields.add(position, found);
    if (found.rank < this.#rank) this.#rank = found.rank;
    if (found.telling) this.#telling = true;
    if (found.personal) this.#personal = true;
    for (let index = 0; index < found.only.length; index++) this.#ownSpecific.add(found.only[index] as number);
    if (found.signs.length > 0) this.#noteSigns(firstRow + position, found);
  }

  #noteSigns(row: number, { signs }: KeyClass): void {
    const word = this.#view.reader.word(this.#lookups.words, row);
    for (let index = 0; index < signs.length; index++) {
      const sign = signs[index] as KeyClass['signs'][number];
      if (sign.word === word && sign.rank < this.#rank) this.#rank = sign.rank;
    }
  }

  /** A record has a dialect if a key proves that it is about AI, or if its scope sends nothing else. */
  #detect(): void {
    const { records } = this.#batch;
    const { detection, standard } = this.#lookups;
    records.goto(this.#view.record);
    const { scope, resource } = records;
    const scopeRank = detection.rankOfScope(this.#batch, scope);
    if (detection.own !== null && this.#detectOwn(detection.own, scope, resource)) return;
    if (this.#isRelocated()) {
      this.#view.dialect = this.#lookups.relocating;
      return;
    }
    let rank = Math.min(this.#rank, scopeRank);
    if (rank === NO_RANK) rank = detection.rankOfService(this.#batch, resource);
    if (rank === NO_RANK) {
      if (this.#telling || this.#isMessage()) this.#view.dialect = standard;
    } else if (rank < RANK_SCOPE || this.#telling || this.#saysOwn(dialectOfRank(rank))) {
      this.#view.dialect = dialectOfRank(rank);
    }
  }

  /**
   * The dialects of the configuration precede all others: a marker decides alone, a scope or service together with an
   * attribute or a name of the dialect.
   */
  #detectOwn(detection: Detection, scope: number, resource: number): boolean {
    const marked = this.#rank < RANK_SCOPE ? dialectOfRank(this.#rank) : this.#lookups.ownCount;
    if (marked < this.#lookups.ownCount) {
      this.#view.dialect = marked;
      return true;
    }
    for (const rank of [detection.rankOfScope(this.#batch, scope), detection.rankOfService(this.#batch, resource)]) {
      if (rank === NO_RANK || !this.#saysOwn(dialectOfRank(rank))) continue;
      this.#view.dialect = dialectOfRank(rank);
      return true;
    }
    return false;
  }

  /** A log record with the messages of a span; its event name is the scope name of the span. */
  #isRelocated(): boolean {
    const { body } = this.#batch.records;
    if (this.#place !== PLACE_BITS.log || body === 0) return false;
    const { scopeName } = this.#lookups.detection;
    if (scopeName === '' || this.#name() !== scopeName) return false;
    const { reader } = this.#view;
    return ['input.messages', 'output.messages'].some((path) => reader.value(body - 1, path) !== undefined);
  }

  /** A log record with a message may have no other sign than its event name. */
  #isMessage(): boolean {
    if (this.#place !== PLACE_BITS.log) return false;
    const name = this.#name();
    const { words, messageEvents } = this.#lookups;
    return name?.startsWith('gen_ai.') === true && messageEvents.has(words.ofString(name));
  }

  /**
   * Whether the record belongs to the dialect that its scope or service suggests: not all their records are about AI.
   */
  #saysOwn(dialect: number): boolean {
    return this.#specific.has(dialect) || this.#isNamed(dialect);
  }

  /** Whether the dialect has the name of the record. */
  #isNamed(dialect: number): boolean {
    const { spanNames, events } = this.#lookups;
    const names = this.#place === PLACE_BITS.log ? events[dialect] : spanNames[dialect];
    if (names === undefined || names.isEmpty) return false;
    const name = this.#name();
    return name !== null && names.find(name) !== undefined;
  }

  #needsName(): boolean {
    return this.#place === PLACE_BITS.log || this.#lookups.needsSpanName[this.#view.dialect] === true;
  }

  #name(): string | null {
    const { tables, records } = this.#batch;
    records.goto(this.#view.record);
    const { nameOffset, nameLength, nameFlags } = records;
    if (nameLength > 0) return tables.head(nameOffset, nameLength, nameFlags);
    return this.#place === PLACE_BITS.log ? this.#eventName() : null;
  }

  /** Older SDKs send the event name of a log record as an attribute. */
  #eventName(): string | null {
    const { attributes, records } = this.#batch;
    attributes.at(records.attributesFirst, records.attributesCount);
    while (attributes.next()) {
      if (this.#lookups.eventNameKeys.includes(attributes.symbol) && attributes.kind === KIND_TEXT) {
        return this.#batch.headOf(attributes.row);
      }
    }
    return null;
  }
}
