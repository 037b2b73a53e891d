/**
 * The tables of one request, as processors and exporters see them. A batch is valid only within its pass: the next
 * request reuses the memory. Processors read and mark the tables; rows are encoded only at the end.
 */
import { AttributeCursor } from './attributes.ts';
import type { Context, Encoding, Signal } from './context.ts';
import { DerivedCursor } from './derived.ts';
import * as layout from './layout.ts';
import type { Memory } from './memory.ts';
import { RecordCursor } from './records.ts';
import { type RowRoom, UNBOUNDED } from './row-room.ts';
import type { Steps } from './steps.ts';
import { endOfWhole, lengthOfHead, type TextRef } from './text.ts';

/** The WASM functions over the same memory. They return texts in the header. */
export interface Kernels {
  intern(offset: number, length: number): number;
  renderJson(row: number): void;
  unescapeJson(offset: number, length: number): void;
  classifyText(offset: number, length: number): number;
  encodeNdjson(first: number): number;
  encodeCopy(first: number): number;
  encodePlainCopy(first: number): number;
  arePlain(): number;
  encodeShared(first: number): number;
  encodeOtlp(first: number): number;
  findPrefixes(from: number, end: number): number;
}

/** The part of the region of constants for texts that may change while the process runs. */
const CHANGING_CAPACITY = layout.CONSTANTS_CAPACITY / 2;
const CHANGING_BASE = layout.CONSTANTS_BASE + layout.CONSTANTS_CAPACITY - CHANGING_CAPACITY;

/** Attribute rows of one slice: a simple loop over it takes less than a millisecond. */
const SLICE_ROWS = 65536;

/** Longer texts are written in several steps. */
const LONG_TEXT = 1_048_576;

/** Runs one kernel call in steps. */
type InSteps = <Result>(call: () => Result) => Steps<Result>;

// biome-ignore lint/correctness/useYield: one step
function* atOnce<Result>(call: () => Result): Steps<Result> {
  return call();
}

/** The names of attributes in tables of dialects are shorter. A key may have the size of a body. */
export const MAX_NAME_BYTES = 1024;

/**
 * The tables in one memory. Constants and symbols live as long as the tables; everything else belongs to the current
 * request.
 */
export class Tables {
  readonly memory: Memory;
  readonly kernels: Kernels;
  /** For kernel calls that take long on a large body. No other kernel may be called before the call has ended. */
  readonly inSteps: InSteps;
  readonly #constants = new Map<string, TextRef>();
  readonly #changing = new Map<string, TextRef>();
  #changingEnd = CHANGING_BASE;
  #changingIsFull = false;
  #epoch = 0;

  constructor(memory: Memory, kernels: Kernels, inSteps: InSteps = atOnce) {
    this.memory = memory;
    this.kernels = kernels;
    this.inSteps = inSteps;
  }

  header(field: number): number {
    return this.memory.u32[(layout.HEADER_BASE + field) >>> 2] as number;
  }

  setHeader(field: number, value: number): void {
    this.memory.u32[(layout.HEADER_BASE + field) >>> 2] = value;
  }

  /**
   * Stores a text for the life of the tables: canonical words, prices, replacements. The room is limited, so only for
   * our own vocabulary.
   */
  constant(text: string): TextRef {
    const known = this.#constants.get(text);
    if (known !== undefined) return known;
    const offset = this.header(layout.HEADER_CONSTANTS) || layout.CONSTANTS_BASE;
    const length = Buffer.byteLength(text);
    if (offset + length > CHANGING_BASE) throw new Error('the region of constants is full');
    this.memory.bytes.write(text, offset);
    this.setHeader(layout.HEADER_CONSTANTS, offset + length);
    const reference = { offset, length, flags: this.kernels.classifyText(offset, length) };
    this.#constants.set(text, reference);
    return reference;
  }

  /** Called when a request begins: removes the texts of `changing` when there is no room for more. */
  begin(): void {
    if (!this.#changingIsFull) return;
    this.#changingIsFull = false;
    this.#changing.clear();
    this.#changingEnd = CHANGING_BASE;
    this.#epoch++;
  }

  /** Texts of `changing` are valid while this value is unchanged. It does not change within a request. */
  get epoch(): number {
    return this.#epoch;
  }

  /**
   * Stores a text of ours that may change with the configuration or a stored setting, for example the price that was
   * used. Null: no room now.
   */
  changing(text: string): TextRef | null {
    const known = this.#changing.get(text);
    if (known !== undefined) return known;
    const offset = this.#changingEnd;
    const length = Buffer.byteLength(text);
    if (offset + length > layout.CONSTANTS_BASE + layout.CONSTANTS_CAPACITY) {
      this.#changingIsFull = true;
      return null;
    }
    this.memory.bytes.write(text, offset);
    this.#changingEnd = offset + length;
    const reference = { offset, length, flags: this.kernels.classifyText(offset, length) };
    this.#changing.set(text, reference);
    return reference;
  }

  /** Interns a key permanently; called at the start, for every key that a processor knows by name. */
  symbol(key: string): number {
    const text = this.constant(key);
    return this.kernels.intern(text.offset, text.length);
  }

  /**
   * The highest symbol in use + 1, persistent symbols only. Symbols from MAX_SYMBOLS on belong to the current request.
   */
  get symbolCount(): number {
    return this.header(layout.HEADER_SYMBOLS) + 1;
  }

  get localSymbolCount(): number {
    return this.header(layout.HEADER_LOCAL_SYMBOLS);
  }

  keyOf(symbol: number): string {
    const { offset, length } = this.keyTextOf(symbol);
    return this.memory.bytes.toString('utf8', offset, offset + length);
  }

  /** The key as a name that a table of attributes may list; null when it is longer than any of them. */
  nameOf(symbol: number): string | null {
    return this.keyTextOf(symbol).length > MAX_NAME_BYTES ? null : this.keyOf(symbol);
  }

  /** The location of the key of a symbol. */
  keyTextOf(symbol: number): Omit<TextRef, 'flags'> {
    const word = (layout.SYMBOLS_BASE + symbol * layout.SYMBOL_STRIDE) >>> 2;
    const { u32 } = this.memory;
    return {
      offset: u32[word + (layout.SYMBOL_OFFSET >>> 2)] as number,
      length: u32[word + (layout.SYMBOL_LENGTH >>> 2)] as number,
    };
  }

  /** Decodes a text to a string. Expensive: only for the few values that are needed as strings. */
  string(offset: number, length: number, flags: number): string {
    if ((flags & layout.TEXT_JSON_ESCAPED) === 0) return this.memory.bytes.toString('utf8', offset, offset + length);
    this.kernels.unescapeJson(offset, length);
    const plain = this.header(layout.HEADER_TEXT_OFFSET);
    return this.memory.bytes.toString('utf8', plain, plain + this.header(layout.HEADER_TEXT_LENGTH));
  }

  /** The same for a text in which a name, a word or a number is expected: a long text is cut. */
  head(offset: number, length: number, flags: number): string {
    return this.string(offset, lengthOfHead(this.memory, offset, length, flags), flags);
  }

  /**
   * Writes a computed text into scratch. Null when scratch is full: the caller then leaves the field unavailable or
   * drops the value.
   */
  scratch(text: string): TextRef | null {
    const offset = this.header(layout.HEADER_SCRATCH);
    const room = layout.SCRATCH_BASE + layout.SCRATCH_CAPACITY - offset;
    const length = Buffer.byteLength(text);
    if (length > room) return null;
    this.memory.bytes.write(text, offset);
    this.setHeader(layout.HEADER_SCRATCH, offset + length);
    return { offset, length, flags: this.kernels.classifyText(offset, length) };
  }

  /** The same for texts of any length. */
  *scratchInSteps(text: string): Steps<TextRef | null> {
    if (text.length <= LONG_TEXT) return this.scratch(text);
    const length = Buffer.byteLength(text);
    yield;
    const offset = this.header(layout.HEADER_SCRATCH);
    if (length > layout.SCRATCH_BASE + layout.SCRATCH_CAPACITY - offset) return null;
    let to = offset;
    for (let at = 0; at < text.length; ) {
      const end = endOfWhole(text, Math.min(at + LONG_TEXT, text.length));
      to += this.memory.bytes.write(text.slice(at, end), to);
      at = end;
      yield;
    }
    this.setHeader(layout.HEADER_SCRATCH, offset + length);
    return { offset, length, flags: this.kernels.classifyText(offset, length) };
  }

  /** The text that the last kernel call returned. */
  returned(): TextRef {
    return {
      offset: this.header(layout.HEADER_TEXT_OFFSET),
      length: this.header(layout.HEADER_TEXT_LENGTH),
      flags: this.header(layout.HEADER_TEXT_FLAGS),
    };
  }
}

export class Batch {
  readonly signal: Signal;
  readonly encoding: Encoding;
  readonly context: Context;
  readonly tables: Tables;
  /** Shared cursors: a caller must not keep one across a call that may use the same one. */
  readonly records: RecordCursor;
  readonly attributes: AttributeCursor;
  readonly derived: DerivedCursor;
  readonly #value: AttributeCursor;
  /** Whether a processor has set a text. It is then not part of the body. */
  hasSetTexts = false;
  /** The row budget that the next exporter's encoder reserves from. The pipeline sets it. */
  rowRoom: RowRoom = UNBOUNDED;

  constructor(tables: Tables, signal: Signal, encoding: Encoding, context: Context) {
    tables.begin();
    this.tables = tables;
    this.signal = signal;
    this.encoding = encoding;
    this.context = context;
    this.records = new RecordCursor(tables.memory);
    this.attributes = new AttributeCursor(tables.memory);
    this.derived = new DerivedCursor(tables.memory);
    this.#value = new AttributeCursor(tables.memory);
  }

  /** Spans, log records or data points. A metric without points counts only in `metricCount`. */
  get recordCount(): number {
    return this.tables.header(layout.HEADER_RECORDS);
  }
  get attributeCount(): number {
    return this.tables.header(layout.HEADER_ATTRIBUTES);
  }
  get eventCount(): number {
    return this.tables.header(layout.HEADER_EVENTS);
  }
  get linkCount(): number {
    return this.tables.header(layout.HEADER_LINKS);
  }
  get resourceCount(): number {
    return this.tables.header(layout.HEADER_RESOURCES);
  }
  get scopeCount(): number {
    return this.tables.header(layout.HEADER_SCOPES);
  }
  get metricCount(): number {
    return this.tables.header(layout.HEADER_METRICS);
  }

  /** A new attribute cursor, for code that needs two at once. */
  cursor(): AttributeCursor {
    return new AttributeCursor(this.tables.memory);
  }

  /**
   * All attributes of the request, of all owners, and the log bodies, in slices of one step. All slices use the same
   * separate cursor.
   */
  *attributeSlices(): Generator<AttributeCursor, void, void> {
    const cursor = this.cursor();
    const count = this.attributeCount;
    for (let first = 0; first < count; first += SLICE_ROWS) yield cursor.at(first, Math.min(count - first, SLICE_ROWS));
  }

  /** The value of a text attribute row as a string, else null. Does not move the shared cursor. */
  textOf(row: number): string | null {
    const attribute = this.#value.goto(row);
    if (attribute.kind !== layout.KIND_TEXT) return null;
    return this.tables.string(attribute.offset, attribute.length, attribute.flags);
  }

  /** The same, cut to MAX_HEAD_BYTES: for values in which a name, a word or a number is expected. */
  headOf(row: number): string | null {
    const attribute = this.#value.goto(row);
    if (attribute.kind !== layout.KIND_TEXT) return null;
    return this.tables.head(attribute.offset, attribute.length, attribute.flags);
  }

  /** The text of a slot of the current derived row; null when it is empty or not a plain text. */
  slotText(slot: number): string | null {
    const source = this.derived.slotSource(slot);
    if (source === layout.SOURCE_ATTRIBUTE) return this.textOf(this.derived.slotRow(slot) - 1);
    if (source !== layout.SOURCE_TEXT) return null;
    return this.tables.string(
      this.derived.slotOffset(slot),
      this.derived.slotLength(slot),
      this.derived.slotFlags(slot),
    );
  }

  /** The value of an attribute row as JSON text (rendered into scratch). */
  jsonOf(row: number): string {
    this.tables.kernels.renderJson(row);
    const text = this.tables.returned();
    return this.tables.memory.bytes.toString('utf8', text.offset, text.offset + text.length);
  }

  /** The shared cursor over one resource's attributes. */
  resourceAttributes(resource: number): AttributeCursor {
    const row = layout.RESOURCES_BASE + resource * layout.RESOURCE_STRIDE;
    return this.attributes.at(
      this.#u32(row + layout.RESOURCE_ATTRIBUTES_FIRST),
      this.#u32(row + layout.RESOURCE_ATTRIBUTES_COUNT),
    );
  }

  scopeAttributes(scope: number): AttributeCursor {
    const row = layout.SCOPES_BASE + scope * layout.SCOPE_STRIDE;
    return this.attributes.at(
      this.#u32(row + layout.SCOPE_ATTRIBUTES_FIRST),
      this.#u32(row + layout.SCOPE_ATTRIBUTES_COUNT),
    );
  }

  /** Span event or exemplar. */
  eventAttributes(event: number): AttributeCursor {
    const row = layout.EVENTS_BASE + event * layout.EVENT_STRIDE;
    return this.attributes.at(
      this.#u32(row + layout.EVENT_ATTRIBUTES_FIRST),
      this.#u32(row + layout.EVENT_ATTRIBUTES_COUNT),
    );
  }

  recordAttributes(record: number): AttributeCursor {
    const { attributesFirst, attributesCount } = this.records.goto(record);
    return this.attributes.at(attributesFirst, attributesCount);
  }

  linkAttributes(link: number): AttributeCursor {
    const row = layout.LINKS_BASE + link * layout.LINK_STRIDE;
    return this.attributes.at(
      this.#u32(row + layout.LINK_ATTRIBUTES_FIRST),
      this.#u32(row + layout.LINK_ATTRIBUTES_COUNT),
    );
  }

  metricAttributes(metric: number): AttributeCursor {
    const row = layout.METRICS_BASE + metric * layout.METRIC_STRIDE;
    return this.attributes.at(
      this.#u32(row + layout.METRIC_ATTRIBUTES_FIRST),
      this.#u32(row + layout.METRIC_ATTRIBUTES_COUNT),
    );
  }

  /** The two words of the nanoseconds of a span event or exemplar. */
  eventTime(event: number): readonly [low: number, high: number] {
    const row = layout.EVENTS_BASE + event * layout.EVENT_STRIDE + layout.EVENT_TIME;
    return [this.#u32(row), this.#u32(row + 4)];
  }

  setEnvironment(resource: number, environment: TextRef): void {
    const row = layout.RESOURCES_BASE + resource * layout.RESOURCE_STRIDE;
    this.#setU32(row + layout.RESOURCE_ENVIRONMENT_OFFSET, environment.offset);
    this.#setU32(row + layout.RESOURCE_ENVIRONMENT_LENGTH, environment.length);
    this.tables.memory.u8[row + layout.RESOURCE_ENVIRONMENT_FLAGS] = environment.flags;
  }

  environmentOf(resource: number): string {
    const row = layout.RESOURCES_BASE + resource * layout.RESOURCE_STRIDE;
    return this.#text(row + layout.RESOURCE_ENVIRONMENT_OFFSET, row + layout.RESOURCE_ENVIRONMENT_FLAGS);
  }

  /** Whether the content of this resource's records may be stored; set by the privacy processor. */
  captureOf(resource: number): boolean {
    return (
      this.tables.memory.u8[layout.RESOURCES_BASE + resource * layout.RESOURCE_STRIDE + layout.RESOURCE_CAPTURE] === 1
    );
  }
  setCapture(resource: number, capture: boolean): void {
    this.tables.memory.u8[layout.RESOURCES_BASE + resource * layout.RESOURCE_STRIDE + layout.RESOURCE_CAPTURE] = capture
      ? 1
      : 0;
  }

  /** Names are cut to MAX_HEAD_BYTES. */
  scopeName(scope: number): string {
    const row = layout.SCOPES_BASE + scope * layout.SCOPE_STRIDE;
    return this.#text(row + layout.SCOPE_NAME_OFFSET, row + layout.SCOPE_NAME_FLAGS);
  }
  eventName(event: number): string {
    const row = layout.EVENTS_BASE + event * layout.EVENT_STRIDE;
    return this.#text(row + layout.EVENT_NAME_OFFSET, row + layout.EVENT_NAME_FLAGS);
  }

  /** The length of a text follows its offset. */
  #text(offset: number, flags: number): string {
    return this.tables.head(this.#u32(offset), this.#u32(offset + 4), this.tables.memory.u8[flags] as number);
  }

  #u32(address: number): number {
    return this.tables.memory.u32[address >>> 2] as number;
  }
  #setU32(address: number, value: number): void {
    this.tables.memory.u32[address >>> 2] = value;
  }
}
