/**
 * Content: prompts, answers, instructions, arguments and results of tools, retrieval queries and documents. A content
 * slot refers to its attributes; those of the record are then written in that column only. A dropped attribute stays
 * dropped in the slot.
 */
import { headAt, kindOf, lengthAt, wordOfRow } from '../../pdata/attributes.ts';
import * as layout from '../../pdata/layout.ts';
import type { RecordView } from './record-view.ts';
import { fieldNumber, PLACE_BITS, type Rule } from './rules.ts';
import { isPlaceholder } from './slots.ts';

/** In this order: an attribute that fits a tool or retrieval slot fills that slot, not the general input or output. */
const SLOTS: readonly (readonly [field: number, slot: number])[] = [
  [fieldNumber('tool_arguments'), layout.SLOT_TOOL_ARGUMENTS],
  [fieldNumber('tool_result'), layout.SLOT_TOOL_RESULT],
  [fieldNumber('retrieval_query'), layout.SLOT_RETRIEVAL_QUERY],
  [fieldNumber('retrieval_documents'), layout.SLOT_RETRIEVAL_DOCUMENTS],
  [fieldNumber('input_content'), layout.SLOT_INPUT_CONTENT],
  [fieldNumber('output_content'), layout.SLOT_OUTPUT_CONTENT],
  [fieldNumber('system_instructions'), layout.SLOT_SYSTEM_INSTRUCTIONS],
];
const BODY_SYMBOL = 0;

export function fillContent(view: RecordView): void {
  for (let index = 0; index < SLOTS.length; index++) {
    const pair = SLOTS[index] as (typeof SLOTS)[number];
    if (view.fields.countOf(pair[0]) > 0) fillSlot(view, pair[0], pair[1]);
  }
}

function fillSlot(view: RecordView, field: number, slot: number): void {
  const { fields } = view;
  const candidates = fields.countOf(field);
  for (let index = 0; index < candidates; index++) {
    const rule = fields.ruleAt(field, index);
    if (!view.applies(rule)) continue;
    const row = fields.rowAt(field, index);
    if (
      rule.paths !== null && rule.paths[0] !== '$' ? setPart(view, slot, rule, row) : setRows(view, slot, rule, row)
    ) {
      return;
    }
  }
}

function setRows(view: RecordView, slot: number, rule: Rule, row: number): boolean {
  if (rule.flattened) {
    const rows = view.fields.family(rule).filter((member) => !view.used.has(member));
    if (rows.length === 0) return false;
    view.derived.setReferences(slot, rows);
    if (!view.derived.hasSlot(slot)) return false;
    for (const member of rows) move(view, member);
    return true;
  }
  if (view.used.has(row) || !isContent(view, row)) return false;
  view.derived.setAttribute(slot, row);
  // Content of events stays in them: several may have it.
  if ((rule.places & PLACE_BITS.span_event) === 0) move(view, row);
  else view.used.add(row);
  return true;
}

/** A part of a document: it is dropped together with the document. */
function setPart(view: RecordView, slot: number, rule: Rule, row: number): boolean {
  for (const path of rule.paths ?? []) {
    const value = view.reader.value(row, path);
    if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) continue;
    const part = typeof value === 'string' ? value : view.reader.partAsJson(row, path, value);
    const text = view.batch.tables.scratch(part);
    if (text === null) return false;
    view.derived.setText(slot, text.offset, text.length, text.flags, row);
    return true;
  }
  return false;
}

function isContent(view: RecordView, row: number): boolean {
  const { u32 } = view.memory;
  const word = wordOfRow(row);
  const kind = kindOf(headAt(u32, word));
  if (kind === layout.KIND_TEXT) return lengthAt(u32, word) > 0 && !isPlaceholder(view, row);
  return kind === layout.KIND_ARRAY || kind === layout.KIND_MAP || kind === layout.KIND_JSON;
}

function move(view: RecordView, row: number): void {
  view.used.add(row);
  const attribute = view.reader.at(row);
  // A log body has a column of its own.
  if (attribute.disposition === layout.DISPOSITION_KEEP && attribute.symbol !== BODY_SYMBOL)
    attribute.disposition = layout.DISPOSITION_MOVED;
}
