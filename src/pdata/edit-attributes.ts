/**
 * Sets attributes of a batch: a new value for an attribute, or a new attribute of a record, resource or other owner.
 */
import { Rejection } from '../errors.ts';
import { wordOfRow } from './attributes.ts';
import type { Batch } from './batch.ts';
import * as layout from './layout.ts';

/** `event`: a span event or an exemplar. `metric`: the metadata of a metric. */
export type AttributeOwner = 'record' | 'resource' | 'scope' | 'event' | 'link' | 'metric';

/** An integer is a bigint, or a number without a fraction. */
export type AttributeValue = string | number | bigint | boolean;

/** The column of an owner with the number of its first attribute row. The next word is their count. */
const FIRST_OF: Readonly<Record<AttributeOwner, (index: number) => number>> = {
  record: (index) => layout.RECORDS_BASE + index * layout.RECORD_STRIDE + layout.RECORD_ATTRIBUTES_FIRST,
  resource: (index) => layout.RESOURCES_BASE + index * layout.RESOURCE_STRIDE + layout.RESOURCE_ATTRIBUTES_FIRST,
  scope: (index) => layout.SCOPES_BASE + index * layout.SCOPE_STRIDE + layout.SCOPE_ATTRIBUTES_FIRST,
  event: (index) => layout.EVENTS_BASE + index * layout.EVENT_STRIDE + layout.EVENT_ATTRIBUTES_FIRST,
  link: (index) => layout.LINKS_BASE + index * layout.LINK_STRIDE + layout.LINK_ATTRIBUTES_FIRST,
  metric: (index) => layout.METRICS_BASE + index * layout.METRIC_STRIDE + layout.METRIC_ATTRIBUTES_FIRST,
};

/**
 * Gives an attribute row another value, for example a redacted one. Derived columns that refer to the row show the new
 * value. Throws a `Rejection` of the request when there is no room for the text.
 */
export function setValue(batch: Batch, row: number, value: AttributeValue): void {
  const { memory } = batch.tables;
  const word = wordOfRow(row);
  const address = word << 2;
  if (typeof value === 'string') {
    const text = batch.tables.scratch(value);
    if (text === null) throw tooLarge();
    batch.hasSetTexts = true;
    memory.u8[address + layout.ATTRIBUTE_KIND] = layout.KIND_TEXT;
    memory.u8[address + layout.ATTRIBUTE_FLAGS] = text.flags;
    memory.u32[word + (layout.ATTRIBUTE_OFFSET >>> 2)] = text.offset;
    memory.u32[word + (layout.ATTRIBUTE_LENGTH >>> 2)] = text.length;
    return;
  }
  const scalar = (address + layout.ATTRIBUTE_SCALAR) >>> 3;
  memory.u8[address + layout.ATTRIBUTE_FLAGS] = 0;
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    memory.u8[address + layout.ATTRIBUTE_KIND] = layout.KIND_DOUBLE;
    memory.f64[scalar] = value;
    return;
  }
  const integer = BigInt(value);
  if (BigInt.asIntN(64, integer) !== integer) throw new RangeError('an integer attribute has at most 64 bits');
  memory.u8[address + layout.ATTRIBUTE_KIND] = typeof value === 'boolean' ? layout.KIND_BOOL : layout.KIND_INT;
  memory.i64[scalar] = integer;
}

/**
 * Sets one attribute of an owner: replaces its value, or adds it. `symbol` is the key, from `tables.symbol` in
 * `prepare`. Adding moves the owner's list to the end of the table: row numbers of that list that the caller has kept
 * are no longer valid. Derived columns refer to rows, so an attribute can be added only before they are filled.
 */
export function setAttribute(
  batch: Batch,
  [owner, index]: readonly [owner: AttributeOwner, index: number],
  symbol: number,
  value: AttributeValue,
): void {
  const { memory } = batch.tables;
  const list = FIRST_OF[owner](index) >>> 2;
  const row = rowOf(batch, list, symbol) ?? addRow(batch, list, symbol);
  setValue(batch, row, value);
  const disposition = (wordOfRow(row) << 2) + layout.ATTRIBUTE_DISPOSITION;
  if (memory.u8[disposition] === layout.DISPOSITION_DROP) memory.u8[disposition] = layout.DISPOSITION_KEEP;
}

/** The row of a key in a list; null when the list does not have the key. */
function rowOf(batch: Batch, list: number, symbol: number): number | null {
  const { u8, u32 } = batch.tables.memory;
  const first = u32[list] as number;
  const end = first + (u32[list + 1] as number);
  for (let row = first; row < end; row++) {
    const word = wordOfRow(row);
    if (u32[word + (layout.ATTRIBUTE_SYMBOL >>> 2)] !== symbol) continue;
    if (u8[(word << 2) + layout.ATTRIBUTE_DISPOSITION] !== layout.DISPOSITION_SUPERSEDED) return row;
  }
  return null;
}

/** Moves a list to the end of the table and adds one row. Its old rows no longer belong to any owner. */
function addRow(batch: Batch, list: number, symbol: number): number {
  const { tables } = batch;
  const { u8, u32 } = tables.memory;
  if (tables.header(layout.HEADER_DERIVED) > 0)
    throw new Error('a processor adds an attribute after normalization: place it before normalization');
  const first = u32[list] as number;
  const count = u32[list + 1] as number;
  const end = tables.header(layout.HEADER_ATTRIBUTES);
  const isLast = first + count === end;
  const start = isLast ? first : end;
  const added = start + count;
  if (added >= layout.MAX_ATTRIBUTES) throw tooLarge();
  if (!isLast) {
    const from = layout.ATTRIBUTES_BASE + first * layout.ATTRIBUTE_STRIDE;
    u8.copyWithin(
      layout.ATTRIBUTES_BASE + start * layout.ATTRIBUTE_STRIDE,
      from,
      from + count * layout.ATTRIBUTE_STRIDE,
    );
    for (let row = first; row < first + count; row++)
      u8[(wordOfRow(row) << 2) + layout.ATTRIBUTE_DISPOSITION] = layout.DISPOSITION_SUPERSEDED;
  }
  u32[list] = start;
  u32[list + 1] = count + 1;
  tables.setHeader(layout.HEADER_ATTRIBUTES, added + 1);
  const word = wordOfRow(added);
  u32.fill(0, word, word + (layout.ATTRIBUTE_STRIDE >>> 2));
  u32[word + (layout.ATTRIBUTE_SYMBOL >>> 2)] = symbol;
  return added;
}

const tooLarge = (): Rejection =>
  new Rejection('body_too_large', { hint: 'a processor of the pipeline adds more attributes than there is room for' });
