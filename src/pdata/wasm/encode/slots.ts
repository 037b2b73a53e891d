/**
 * The parts of a derived row as columns. A slot is a reference to a text; when the attribute of that text may not be
 * stored, the slot is null, so that dropped content does not reappear in a column.
 */
import * as layout from '../../layout';
import { beginJson, copying, countColumn, doubleColumn, endJson, moneyColumn, nullColumn, textColumn } from './columns';
import { putPlain } from './json-text';
import { FIXED_ROOM, out, put, putByte, room, setOut } from './output';
import { anyReference, attributeRow, escapeSince, putReferences, putValue, putValueText } from './values';

function slotAddress(derived: usize, slot: u32): usize {
  return derived + layout.DERIVED_SLOTS + <usize>slot * layout.SLOT_STRIDE;
}

/** The source of a slot; SOURCE_NONE when it is empty or may not be stored. */
function sourceOf(derived: usize, slot: u32): u32 {
  if ((load<u32>(derived, layout.DERIVED_MASK) & (1 << slot)) == 0) return layout.SOURCE_NONE;
  const at = slotAddress(derived, slot);
  const source = <u32>load<u8>(at, layout.SLOT_SOURCE);
  if (source == layout.SOURCE_REFERENCES) {
    return anyReference(load<u32>(at, layout.SLOT_OFFSET), load<u32>(at, layout.SLOT_LENGTH))
      ? source
      : layout.SOURCE_NONE;
  }
  const owner = load<u32>(at, layout.SLOT_ROW);
  if (owner == 0) return source == layout.SOURCE_TEXT ? source : layout.SOURCE_NONE;
  const row = attributeRow(owner - 1);
  if (load<u8>(row, layout.ATTRIBUTE_DISPOSITION) == layout.DISPOSITION_DROP) return layout.SOURCE_NONE;
  if (source == layout.SOURCE_ATTRIBUTE && load<u8>(row, layout.ATTRIBUTE_KIND) == layout.KIND_NONE)
    return layout.SOURCE_NONE;
  return source;
}

/** A slot as a text column: texts unchanged, other values as JSON text. */
export function slotColumn(label: string, derived: usize, slot: u32): void {
  const source = sourceOf(derived, slot);
  const at = slotAddress(derived, slot);
  if (source == layout.SOURCE_NONE) {
    nullColumn(label);
  } else if (source == layout.SOURCE_TEXT) {
    textColumn(
      label,
      load<u32>(at, layout.SLOT_OFFSET),
      load<u32>(at, layout.SLOT_LENGTH),
      load<u8>(at, layout.SLOT_FLAGS),
    );
  } else {
    const row = source == layout.SOURCE_ATTRIBUTE ? attributeRow(load<u32>(at, layout.SLOT_ROW) - 1) : 0;
    if (row != 0 && load<u8>(row, layout.ATTRIBUTE_KIND) == layout.KIND_TEXT) {
      textColumn(
        label,
        load<u32>(row, layout.ATTRIBUTE_OFFSET),
        load<u32>(row, layout.ATTRIBUTE_LENGTH),
        load<u8>(row, layout.ATTRIBUTE_FLAGS),
      );
    } else {
      printedColumn(label, row, load<u32>(at, layout.SLOT_OFFSET), load<u32>(at, layout.SLOT_LENGTH));
    }
  }
}

/** A text column holding the value at address `row`, or, without one, the object of the references. */
function printedColumn(label: string, row: usize, first: u32, count: u32): void {
  room(FIXED_ROOM);
  const field = out;
  if (copying) {
    setOut(field + 4);
  } else {
    put(label);
    putByte(0x22);
  }
  const start = out;
  if (row != 0) putValueText(row);
  else putReferences(first, count);
  if (copying) {
    store<u32>(field, bswap<u32>(<u32>(out - start)));
  } else {
    escapeSince(start);
    putByte(0x22);
  }
}

/** A slot as a JSON column: its text is JSON already. */
export function jsonSlotColumn(label: string, derived: usize, slot: u32): void {
  const source = sourceOf(derived, slot);
  if (source == layout.SOURCE_NONE) {
    nullColumn(label);
    return;
  }
  const at = slotAddress(derived, slot);
  const field = beginJson(label);
  if (source == layout.SOURCE_TEXT)
    putPlain(load<u32>(at, layout.SLOT_OFFSET), load<u32>(at, layout.SLOT_LENGTH), load<u8>(at, layout.SLOT_FLAGS));
  else if (source == layout.SOURCE_ATTRIBUTE) putValue(attributeRow(load<u32>(at, layout.SLOT_ROW) - 1));
  else putReferences(load<u32>(at, layout.SLOT_OFFSET), load<u32>(at, layout.SLOT_LENGTH));
  endJson(field);
}

function numberOf(derived: usize, number: usize): f64 {
  return load<f64>(derived + (number << 3), layout.DERIVED_NUMBERS);
}

/** A count; NaN is null. */
export function wholeNumberColumn(label: string, derived: usize, number: usize): void {
  const value = numberOf(derived, number);
  if (isNaN(value)) nullColumn(label);
  else countColumn(label, <i64>value);
}

/** A float8; NaN is null. */
export function numberColumn(label: string, derived: usize, number: usize): void {
  const value = numberOf(derived, number);
  if (isNaN(value)) nullColumn(label);
  else doubleColumn(label, value);
}

export function costColumn(label: string, derived: usize, cost: usize): void {
  moneyColumn(label, load<i64>(derived + (cost << 3), layout.DERIVED_COSTS));
}
