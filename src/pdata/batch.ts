/**
 * The tables of one request, as processors and exporters see them. A batch is valid only within its pass: the next
 * request reuses the memory. Processors read and mark the tables; rows are encoded only at the end.
 */
import { AttributeCursor } from './attributes.ts';
import type { Context, Encoding, Signal } from './context.ts';
import { DerivedCursor } from './derived.ts';
import * as layout from './layout.ts';
import { RecordCursor } from './records.ts';
import { type RowRoom, UNBOUNDED } from './row-room.ts';
import type { Tables } from './tables.ts';
import type { TextRef } from './text.ts';

/** Attribute rows of one slice: a simple loop over it takes less than a millisecond. */
const SLICE_ROWS = 65536;

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

  /** As `textOf`, cut to MAX_HEAD_BYTES: for values in which a name, a word or a number is expected. */
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
    return this.#attributesOf(
      layout.RESOURCES_BASE + resource * layout.RESOURCE_STRIDE + layout.RESOURCE_ATTRIBUTES_FIRST,
    );
  }

  scopeAttributes(scope: number): AttributeCursor {
    return this.#attributesOf(layout.SCOPES_BASE + scope * layout.SCOPE_STRIDE + layout.SCOPE_ATTRIBUTES_FIRST);
  }

  /** Span event or exemplar. */
  eventAttributes(event: number): AttributeCursor {
    return this.#attributesOf(layout.EVENTS_BASE + event * layout.EVENT_STRIDE + layout.EVENT_ATTRIBUTES_FIRST);
  }

  recordAttributes(record: number): AttributeCursor {
    const { attributesFirst, attributesCount } = this.records.goto(record);
    return this.attributes.at(attributesFirst, attributesCount);
  }

  linkAttributes(link: number): AttributeCursor {
    return this.#attributesOf(layout.LINKS_BASE + link * layout.LINK_STRIDE + layout.LINK_ATTRIBUTES_FIRST);
  }

  metricAttributes(metric: number): AttributeCursor {
    return this.#attributesOf(layout.METRICS_BASE + metric * layout.METRIC_STRIDE + layout.METRIC_ATTRIBUTES_FIRST);
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

  /** The number of attributes follows the row of the first one. */
  #attributesOf(address: number): AttributeCursor {
    return this.attributes.at(this.#u32(address), this.#u32(address + 4));
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
