/** A cursor over the records of a batch: spans, log records or data points, whose rows share one layout. */
import * as layout from './layout.ts';
import type { Memory } from './memory.ts';

// The columns that are read for every record, bound here: an imported constant is read and checked at each use, a
// constant of the module is inlined.
const BASE = layout.RECORDS_BASE;
const STRIDE = layout.RECORD_STRIDE;
const ATTRIBUTES_FIRST = layout.RECORD_ATTRIBUTES_FIRST;
const ATTRIBUTES_COUNT = layout.RECORD_ATTRIBUTES_COUNT;
const DERIVED = layout.RECORD_DERIVED;
const SCOPE = layout.RECORD_SCOPE;
const RESOURCE = layout.RECORD_RESOURCE;
const STATUS = layout.RECORD_STATUS;
const EVENTS_FIRST = layout.RECORD_EVENTS_FIRST;
const EVENTS_COUNT = layout.RECORD_EVENTS_COUNT;
const BODY = layout.RECORD_BODY;
const START = layout.RECORD_START;
const END = layout.RECORD_END;
const TWO_32 = 4294967296;
const NANOSECONDS_PER_MILLISECOND = 1_000_000;
const MS_IN_2_32 = Math.floor(TWO_32 / NANOSECONDS_PER_MILLISECOND);
const NS_BEYOND_MS_IN_2_32 = TWO_32 % NANOSECONDS_PER_MILLISECOND;

/** `goto(index)` moves to a record; the getters read it. Texts are (offset, length, flags), as in `TextRef`. */
export class RecordCursor {
  readonly #memory: Memory;
  #address = BASE;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  goto(index: number): this {
    this.#address = BASE + index * STRIDE;
    return this;
  }

  /** Address of the row, for the few loops that read its words directly (ids). */
  get address(): number {
    return this.#address;
  }

  /** Span start, log time or point start; nanoseconds. */
  get startNs(): bigint {
    return this.#memory.u64[(this.#address + START) >>> 3] as bigint;
  }

  /** Span end (0 unknown), observed time or point time; nanoseconds. */
  get endNs(): bigint {
    return this.#memory.u64[(this.#address + END) >>> 3] as bigint;
  }

  /** `startNs` and `endNs` as doubles: exact enough for dates and durations, and much cheaper. */
  get startApproximateNs(): number {
    return this.#double(START);
  }
  get endApproximateNs(): number {
    return this.#double(END);
  }

  /** `startNs` and `endNs` in whole milliseconds, rounded down, which a double cannot tell; NaN: not known (0). */
  get startMs(): number {
    return this.#wholeMs(START);
  }
  get endMs(): number {
    return this.#wholeMs(END);
  }

  /** Milliseconds from the start to an instant, given as the two words of its nanoseconds; never negative. */
  millisecondsTo(low: number, high: number): number {
    const word = (this.#address + START) >>> 2;
    const highest = high - (this.#memory.u32[word + 1] as number);
    return Math.max(0, highest * TWO_32 + low - (this.#memory.u32[word] as number)) / NANOSECONDS_PER_MILLISECOND;
  }
  /** From the start to the end; NaN when the end is unknown. */
  get durationMs(): number {
    const word = (this.#address + END) >>> 2;
    const low = this.#memory.u32[word] as number;
    const high = this.#memory.u32[word + 1] as number;
    return low === 0 && high === 0 ? Number.NaN : this.millisecondsTo(low, high);
  }

  /** Lower-case hex. */
  get traceId(): string {
    const at = this.#address + layout.RECORD_TRACE_ID;
    return this.#memory.bytes.toString('hex', at, at + 16);
  }

  get spanId(): string {
    const at = this.#address + layout.RECORD_SPAN_ID;
    return this.#memory.bytes.toString('hex', at, at + 8);
  }

  get parentSpanId(): string {
    const at = this.#address + layout.RECORD_PARENT_SPAN_ID;
    return this.#memory.bytes.toString('hex', at, at + 8);
  }

  /** First attribute row. */
  get attributesFirst(): number {
    return this.#memory.u32[(this.#address + ATTRIBUTES_FIRST) >>> 2] as number;
  }

  get attributesCount(): number {
    return this.#memory.u32[(this.#address + ATTRIBUTES_COUNT) >>> 2] as number;
  }

  get resource(): number {
    return this.#memory.u32[(this.#address + RESOURCE) >>> 2] as number;
  }

  get scope(): number {
    return this.#memory.u32[(this.#address + SCOPE) >>> 2] as number;
  }

  /** Derived row + 1; 0 none. The argument of `batch.derived.goto`. */
  get derived(): number {
    return this.#memory.u32[(this.#address + DERIVED) >>> 2] as number;
  }
  set derived(derived: number) {
    this.#memory.u32[(this.#address + DERIVED) >>> 2] = derived;
  }

  /** Span name, log event_name. */
  get nameOffset(): number {
    return this.#memory.u32[(this.#address + layout.RECORD_NAME_OFFSET) >>> 2] as number;
  }

  get nameLength(): number {
    return this.#memory.u32[(this.#address + layout.RECORD_NAME_LENGTH) >>> 2] as number;
  }

  get nameFlags(): number {
    return this.#memory.u8[this.#address + layout.RECORD_NAME_FLAGS] as number;
  }

  /** Span kind, severity number, or value kind of a point. */
  get kind(): number {
    return this.#memory.u8[this.#address + layout.RECORD_KIND] as number;
  }

  /** 0 unset, 1 ok, 2 error. */
  get status(): number {
    return this.#memory.u8[this.#address + STATUS] as number;
  }

  get eventsFirst(): number {
    return this.#memory.u32[(this.#address + EVENTS_FIRST) >>> 2] as number;
  }

  get eventsCount(): number {
    return this.#memory.u32[(this.#address + EVENTS_COUNT) >>> 2] as number;
  }

  get linksFirst(): number {
    return this.#memory.u32[(this.#address + layout.RECORD_LINKS_FIRST) >>> 2] as number;
  }

  get linksCount(): number {
    return this.#memory.u32[(this.#address + layout.RECORD_LINKS_COUNT) >>> 2] as number;
  }

  /** Logs: attribute row + 1 of the body; 0 none. */
  get body(): number {
    return this.#memory.u32[(this.#address + BODY) >>> 2] as number;
  }

  /** Points: the metric row. */
  get metric(): number {
    return this.#memory.u32[(this.#address + layout.RECORD_METRIC) >>> 2] as number;
  }

  /** Each step is exact: 2^32 ns are 4294 ms and 967,296 ns. */
  #wholeMs(field: number): number {
    const word = (this.#address + field) >>> 2;
    const low = this.#memory.u32[word] as number;
    const high = this.#memory.u32[word + 1] as number;
    if (low === 0 && high === 0) return Number.NaN;
    return high * MS_IN_2_32 + Math.floor((high * NS_BEYOND_MS_IN_2_32 + low) / NANOSECONDS_PER_MILLISECOND);
  }

  #double(field: number): number {
    const word = (this.#address + field) >>> 2;
    return (this.#memory.u32[word + 1] as number) * TWO_32 + (this.#memory.u32[word] as number);
  }
}
