/**
 * Messages outside the attributes of their record: span events with one message each, and log records whose body is the
 * message. Also read from events: exceptions, and the arrival of the first token.
 */
import type { EventPart } from '../../dialects/dialect.ts';
import type { AttributeCursor } from '../../pdata/attributes.ts';
import { CATEGORIES } from '../../pdata/columns.ts';
import { type Json, jsonText } from '../../pdata/exact-json.ts';
import * as layout from '../../pdata/layout.ts';
import { TEXT_COLUMNS, TextCursor } from '../../pdata/text-columns.ts';
import { setReasons, wordsOf } from './finish-reasons.ts';
import type { MessageEvent } from './lookup-tables.ts';
import { MAX_DOCUMENT_BYTES } from './reader.ts';
import type { RecordView } from './record-view.ts';

/** Messages with more bytes than this are not joined to a list. */
const MAX_LIST_BYTES = 2 * MAX_DOCUMENT_BYTES;
/** Further events of a span are ignored. */
export const MAX_EVENTS_READ = 4096;
const TOOL_STEP = CATEGORIES.indexOf('tool_step');
const RETRIEVALS: readonly number[] = (['retrieval', 'memory'] as const).map((name) => CATEGORIES.indexOf(name));
const SLOTS: Readonly<Record<string, readonly [plain: number, tool: number, retrieval: number]>> = {
  input: [layout.SLOT_INPUT_CONTENT, layout.SLOT_TOOL_ARGUMENTS, layout.SLOT_RETRIEVAL_QUERY],
  output: [layout.SLOT_OUTPUT_CONTENT, layout.SLOT_TOOL_RESULT, layout.SLOT_RETRIEVAL_DOCUMENTS],
  system: [layout.SLOT_SYSTEM_INSTRUCTIONS, layout.SLOT_SYSTEM_INSTRUCTIONS, layout.SLOT_SYSTEM_INSTRUCTIONS],
};

interface Message {
  readonly part: EventPart;
  readonly role: string;
  readonly row: number;
}

export class MessageEvents {
  readonly #view: RecordView;
  readonly #cursor: AttributeCursor;
  readonly #names: TextCursor;
  readonly #messages: Message[] = [];
  #exceptionRow = -1;

  constructor(view: RecordView) {
    this.#view = view;
    this.#cursor = view.batch.cursor();
    this.#names = new TextCursor(view.memory);
  }

  /** The row of an exception's type, or -1. */
  get exceptionRow(): number {
    return this.#exceptionRow;
  }

  /** Collects the record's messages; sets the time to the first token where no attribute did. */
  read(): void {
    if (this.#messages.length > 0) this.#messages.length = 0;
    this.#exceptionRow = -1;
    if (this.#view.batch.signal === 'traces') this.#readSpanEvents();
    else this.#readLog();
  }

  /** Fills the slots that no attribute has filled. */
  fill(): void {
    if (this.#messages.length === 0) return;
    for (const part of ['input', 'output', 'system'] as const) {
      const messages = this.#messages.filter((message) => message.part === part);
      if (messages.length > 0) this.#fillSlot(this.#slotOf(part), messages);
    }
    if (!this.#view.batch.derived.hasSlot(layout.SLOT_FINISH_REASONS)) this.#fillFinishReasons();
  }

  #readSpanEvents(): void {
    const { batch, lookups, record } = this.#view;
    const { eventsFirst, eventsCount } = batch.records.goto(record);
    const last = eventsFirst + Math.min(eventsCount, MAX_EVENTS_READ);
    const { memory } = this.#view;
    for (let event = eventsFirst; event < last; event++) {
      const { offset, length } = this.#names.goto(TEXT_COLUMNS.eventName, event);
      const name = lookups.words.ofText(memory, offset, length);
      if (name === 0) continue;
      if (lookups.firstTokenEvents.has(name)) this.#noteFirstToken(event);
      const message = lookups.messageEvents.get(name);
      if (message === undefined) continue;
      const attributes = batch.eventAttributes(event);
      while (attributes.next()) this.#note(message, attributes.symbol, attributes.row);
    }
  }

  #readLog(): void {
    const { batch, lookups, record, logName } = this.#view;
    const message = logName === null ? undefined : lookups.messageEvents.get(lookups.words.ofString(logName));
    if (message === undefined) return;
    const { attributesFirst, attributesCount, body } = batch.records.goto(record);
    const attributes = this.#cursor.at(attributesFirst, attributesCount);
    while (attributes.next()) this.#note(message, attributes.symbol, attributes.row);
    if (message.body !== null && body > 0)
      this.#messages.push({ part: message.body, role: message.role, row: body - 1 });
  }

  #note({ parts, role }: MessageEvent, symbol: number, row: number): void {
    const part = parts.get(symbol);
    if (part === 'error_type') this.#exceptionRow = row;
    else if (part !== undefined) this.#messages.push({ part, role, row });
  }

  #noteFirstToken(event: number): void {
    const { batch, record } = this.#view;
    if (!Number.isNaN(batch.derived.number(layout.NUMBER_TIME_TO_FIRST_TOKEN_MS))) return;
    const milliseconds = batch.records.goto(record).millisecondsTo(...batch.eventTime(event));
    batch.derived.setNumber(layout.NUMBER_TIME_TO_FIRST_TOKEN_MS, milliseconds);
  }

  #slotOf(part: 'input' | 'output' | 'system'): number {
    const { category } = this.#view;
    return (SLOTS[part] as readonly number[])[
      category === TOOL_STEP ? 1 : RETRIEVALS.includes(category) ? 2 : 0
    ] as number;
  }

  #fillSlot(slot: number, messages: readonly Message[]): void {
    const { derived } = this.#view.batch;
    if (derived.hasSlot(slot)) return;
    const [first] = messages;
    if (first === undefined) return;
    if (messages.length === 1 || !this.#fillList(slot, messages)) derived.setAttribute(slot, first.row);
  }

  /**
   * Several messages as one list, without those that may not be stored. The first message that is left owns the list.
   */
  #fillList(slot: number, messages: readonly Message[]): boolean {
    const { batch, reader } = this.#view;
    const kept = messages.filter(({ row }) => reader.at(row).disposition !== layout.DISPOSITION_DROP);
    const [owner] = kept;
    if (owner === undefined) return false;
    const bytes = kept.reduce((sum, { row }) => sum + reader.sizeOf(row), 0);
    if (bytes > MAX_LIST_BYTES) return false;
    const isDocuments = slot === layout.SLOT_RETRIEVAL_DOCUMENTS;
    const list = kept.map(({ role, row }) => ({
      ...(isDocuments ? {} : { role }),
      content: reader.parseExactly(row) ?? reader.text(row),
    }));
    const json = jsonText(list as Json);
    if (json.length > MAX_DOCUMENT_BYTES) return false;
    const text = batch.tables.scratch(json);
    if (text === null) return false;
    batch.derived.setText(slot, text.offset, text.length, text.flags, owner.row);
    return true;
  }

  #fillFinishReasons(): void {
    const { reader } = this.#view;
    const reasons = this.#messages.flatMap(({ part, row }) => {
      if (part === 'finish_reason') return wordsOf(reader.text(row));
      return part === 'output' ? wordsOf(reader.value(row, 'finish_reason')) : [];
    });
    setReasons(this.#view, reasons);
  }
}
