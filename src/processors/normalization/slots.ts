/**
 * Fills the slots of names and ids: with a reference to the attribute, one of our words, or a short text from a
 * document.
 */
import {
  flagsOf,
  headAt,
  isText,
  kindOf,
  lengthAt,
  offsetAt,
  dispositionOf,
  wordOfRow,
} from '../../pdata/attributes.ts';
import { KIND_INT, SLOT_RESPONSE_MODEL, TEXT_JSON_ESCAPED, DISPOSITION_DROP } from '../../pdata/layout.ts';
import type { TextRef } from '../../pdata/text.ts';
import { LONGEST_PLACEHOLDER } from './lookup-tables.ts';
import type { RecordView } from './record-view.ts';
import { trimTo } from '../../dialects/lookup/trim-to.ts';
import { BEGINS_BLANK, isBlank } from './reader.ts';
import type { Rule } from './rules.ts';

/** Names and ids are cut here, so that an index over their column always fits. */
export const MAX_STORED_NAME_BYTES = 1024;
// Bound here: see attributes.ts.
const LONGEST_NAME = MAX_STORED_NAME_BYTES;
const DROPPED = DISPOSITION_DROP;
const ESCAPED = TEXT_JSON_ESCAPED;
const MAY_BE_BLANK = BEGINS_BLANK;

/** The slot is a word of our own. */
export function setWord(view: RecordView, slot: number, text: TextRef): void {
  view.derived.setText(slot, text.offset, text.length, text.flags);
}

/** The slot is a computed text, written to scratch and cut to the limit. */
export function setName(view: RecordView, slot: number, name: string): boolean {
  const text = view.batch.tables.scratch(cut(name));
  if (text === null) return false;
  setWord(view, slot, text);
  return true;
}

/** The slot is the value of an attribute, cut when it is too long. */
export function setNameRow(view: RecordView, slot: number, row: number): void {
  const { u32 } = view.memory;
  const word = wordOfRow(row);
  if (isText(headAt(u32, word)) && lengthAt(u32, word) > MAX_STORED_NAME_BYTES) {
    const text = view.batch.tables.scratch(cut(view.reader.text(row) ?? ''));
    if (text !== null) view.derived.setText(slot, text.offset, text.length, text.flags, row);
    return;
  }
  view.derived.setAttribute(slot, row);
}

/** Fills a slot with the first usable value of a field. Returns whether there was one. */
export function fillName(view: RecordView, field: number, slot: number): boolean {
  const { fields } = view;
  const plain = fields.plainRow(field);
  if (plain >= 0 && isPlainName(view, plain)) {
    view.derived.setAttribute(slot, plain);
    return true;
  }
  const candidates = fields.countOf(field);
  return candidates > 0 && fillBest(view, field, slot, candidates);
}

/**
 * The usual case: text of an allowed length that no placeholder has, that is not blank, and that may be stored. The
 * check reads the first byte only, because the bytes are no longer in the processor's cache.
 */
function isPlainName(view: RecordView, row: number): boolean {
  const { u32 } = view.memory;
  const word = wordOfRow(row);
  const head = headAt(u32, word);
  if (!isText(head) || (flagsOf(head) & ESCAPED) !== 0 || dispositionOf(head) === DROPPED) return false;
  const length = lengthAt(u32, word);
  if (length === 0 || length > LONGEST_NAME) return false;
  if (length <= LONGEST_PLACEHOLDER && view.placeholderLengths[length] !== 0) return false;
  return MAY_BE_BLANK[view.memory.u8[offsetAt(u32, word)] as number] === 0 || !view.reader.isBlank(row);
}

function fillBest(view: RecordView, field: number, slot: number, candidates: number): boolean {
  const { fields } = view;
  for (let index = 0; index < candidates; index++) {
    const rule = fields.ruleAt(field, index);
    if (!view.applies(rule)) continue;
    const row = fields.rowAt(field, index);
    if (rule.whole ? fillWhole(view, slot, rule, row) : fillPart(view, slot, rule, row)) return true;
  }
  return false;
}

function fillWhole(view: RecordView, slot: number, { either }: Rule, row: number): boolean {
  if (!isUsableName(view, row)) return false;
  if (either && !meansSlot(view, slot, view.reader.text(row) ?? '')) return false;
  setNameRow(view, slot, row);
  return true;
}

function fillPart(view: RecordView, slot: number, rule: Rule, row: number): boolean {
  const name = nameOf(view, rule, row);
  if (rule.either && !meansSlot(view, slot, name ?? '')) return false;
  return name !== null && setName(view, slot, name);
}

/**
 * A name or id: text that is not blank, or a whole number. A dropped attribute is skipped, because it would leave the
 * column empty and the next candidate may have the same name.
 */
function isUsableName(view: RecordView, row: number): boolean {
  const { u32 } = view.memory;
  const word = wordOfRow(row);
  const head = headAt(u32, word);
  if (dispositionOf(head) === DISPOSITION_DROP) return false;
  if (!isText(head)) return kindOf(head) === KIND_INT;
  return lengthAt(u32, word) > 0 && !view.reader.isBlank(row) && !isOneOf(view.lookups.noNames, view, row);
}

/** A date at the end, as vendors append it to the model that answered. */
const DATED = /[-@](?:20\d{2}-\d{2}-\d{2}|20\d{6}|\d{2}-20\d{2}|\d{4}|00\d)(?:$|[-:@])/;
/** Bedrock's own ids are dated, and nothing else is ever answered. */
const HOSTED = /^(?:arn:|(?:[a-z]{2,6}\.)?[a-z0-9]+\.[a-z])/;

/** Whether a name that may be either is the one of the model asked for, or of the one that answered. */
function meansSlot(view: RecordView, slot: number, name: string): boolean {
  const answered = DATED.test(name) && !HOSTED.test(name) && !view.hasErrorStatus;
  return answered === (slot === SLOT_RESPONSE_MODEL);
}

/** The string a rule takes out of an attribute; null when there is none. */
export function nameOf(view: RecordView, rule: Rule, row: number): string | null {
  if (view.withholds(rule, row)) return null;
  const text = rule.paths === null ? view.reader.text(row) : view.reader.part(rule, row);
  if (text === null) return null;
  const name = trimTo(text, rule);
  return isBlank(name) ? null : name;
}

/** Whether the value is a placeholder for text that the sender withheld. */
export function isPlaceholder(view: RecordView, row: number): boolean {
  return isOneOf(view.lookups.placeholders, view, row);
}

function isOneOf(words: ReadonlySet<number>, view: RecordView, row: number): boolean {
  const { memory, lookups } = view;
  const word = wordOfRow(row);
  const length = lengthAt(memory.u32, word);
  const head = headAt(memory.u32, word);
  if (!isText(head) || length === 0 || length > LONGEST_PLACEHOLDER) return false;
  if (lookups.placeholderLengths[length] === 0 && (flagsOf(head) & TEXT_JSON_ESCAPED) === 0) return false;
  // The first byte rejects nearly all values.
  const first = memory.u8[offsetAt(memory.u32, word)] as number;
  return lookups.placeholderBytes[first] !== 0 && words.has(view.reader.word(lookups.words, row));
}

/** The longest prefix of whole characters within MAX_STORED_NAME_BYTES. */
function cut(name: string): string {
  if (Buffer.byteLength(name) <= MAX_STORED_NAME_BYTES) return name;
  const bytes = Buffer.from(name);
  let end = MAX_STORED_NAME_BYTES;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
