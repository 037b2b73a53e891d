/** The texts of the tables other than attribute values: names, versions, trace states, messages. */
import * as layout from './layout.ts';
import type { Memory } from './memory.ts';
import { readText, type TextRef } from './text.ts';

/** The location of a text in the rows of a table. */
export interface TextColumn {
  readonly base: number;
  readonly stride: number;
  readonly offset: number;
  readonly length: number;
  readonly flags: number;
}

const columnsOf =
  (base: number, stride: number) =>
  (offset: number, length: number, flags: number): TextColumn => ({ base, stride, offset, length, flags });
const records = columnsOf(layout.RECORDS_BASE, layout.RECORD_STRIDE);
const events = columnsOf(layout.EVENTS_BASE, layout.EVENT_STRIDE);
const links = columnsOf(layout.LINKS_BASE, layout.LINK_STRIDE);
const scopes = columnsOf(layout.SCOPES_BASE, layout.SCOPE_STRIDE);
const metrics = columnsOf(layout.METRICS_BASE, layout.METRIC_STRIDE);

export const TEXT_COLUMNS = {
  /** Span name, event name of a log record. */
  recordName: records(layout.RECORD_NAME_OFFSET, layout.RECORD_NAME_LENGTH, layout.RECORD_NAME_FLAGS),
  /** Trace state, severity text. */
  recordState: records(layout.RECORD_STATE_OFFSET, layout.RECORD_STATE_LENGTH, layout.RECORD_STATE_FLAGS),
  /** Status message; spans only. */
  recordMessage: records(layout.RECORD_MESSAGE_OFFSET, layout.RECORD_MESSAGE_LENGTH, layout.RECORD_MESSAGE_FLAGS),
  eventName: events(layout.EVENT_NAME_OFFSET, layout.EVENT_NAME_LENGTH, layout.EVENT_NAME_FLAGS),
  linkState: links(layout.LINK_STATE_OFFSET, layout.LINK_STATE_LENGTH, layout.LINK_STATE_FLAGS),
  scopeName: scopes(layout.SCOPE_NAME_OFFSET, layout.SCOPE_NAME_LENGTH, layout.SCOPE_NAME_FLAGS),
  scopeVersion: scopes(layout.SCOPE_VERSION_OFFSET, layout.SCOPE_VERSION_LENGTH, layout.SCOPE_VERSION_FLAGS),
  metricName: metrics(layout.METRIC_NAME_OFFSET, layout.METRIC_NAME_LENGTH, layout.METRIC_NAME_FLAGS),
  metricDescription: metrics(
    layout.METRIC_DESCRIPTION_OFFSET,
    layout.METRIC_DESCRIPTION_LENGTH,
    layout.METRIC_DESCRIPTION_FLAGS,
  ),
  metricUnit: metrics(layout.METRIC_UNIT_OFFSET, layout.METRIC_UNIT_LENGTH, layout.METRIC_UNIT_FLAGS),
} as const satisfies Readonly<Record<string, TextColumn>>;

/** `goto(column, row)` moves to a text; the getters read it, `replace` sets another one. */
export class TextCursor {
  readonly #memory: Memory;
  #offset = 0;
  #length = 0;
  #flags = 0;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  goto({ base, stride, offset, length, flags }: TextColumn, row: number): this {
    const at = base + row * stride;
    this.#offset = (at + offset) >>> 2;
    this.#length = (at + length) >>> 2;
    this.#flags = at + flags;
    return this;
  }

  get offset(): number {
    return this.#memory.u32[this.#offset] as number;
  }
  get length(): number {
    return this.#memory.u32[this.#length] as number;
  }
  get flags(): number {
    return this.#memory.u8[this.#flags] as number;
  }
  get string(): string {
    return readText(this.#memory, this.offset, this.length, this.flags);
  }

  /** Null: the empty text. */
  replace(text: TextRef | null): void {
    const { u8, u32 } = this.#memory;
    if (text !== null) u32[this.#offset] = text.offset;
    u32[this.#length] = text?.length ?? 0;
    u8[this.#flags] = text?.flags ?? 0;
  }
}
