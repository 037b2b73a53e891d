/**
 * Finish reasons as one list of the sender's words. They arrive as a list, as JSON in a string, as words joined by
 * commas, as one word, as a Python tuple, as flattened attributes, or inside a document.
 */
import { trimTo } from '../../dialects/lookup/trim-to.ts';
import { KIND_ARRAY, KIND_TEXT, SLOT_FINISH_REASONS } from '../../pdata/layout.ts';
import { isBlank } from './reader.ts';
import type { RecordView } from './record-view.ts';
import { fieldNumber, type Rule } from './rules.ts';
import { setWord } from './slots.ts';

const FINISH_REASON = fieldNumber('finish_reason');
/** More reasons than this, or longer ones, are cut off: one call has one reason for each of its choices. */
const MAX_REASONS = 64;
const MAX_REASON_LENGTH = 128;
const NOT_STORABLE = /[\0\p{Surrogate}]/gu;
const MAX_TEXT_BYTES = 16_384;
const LIST_BEGIN = /^\s*[[({]/;

export function fillFinishReasons(view: RecordView): void {
  const { fields } = view;
  const candidates = fields.countOf(FINISH_REASON);
  for (let index = 0; index < candidates; index++) {
    const rule = fields.ruleAt(FINISH_REASON, index);
    if (!view.applies(rule)) continue;
    const row = fields.rowAt(FINISH_REASON, index);
    if (view.withholds(rule, row)) continue;
    const isPart = rule.paths !== null || rule.before !== null || rule.after !== null;
    if (rule.flattened || isPart) {
      if (setReasons(view, reasonsAt(view, rule, row))) return;
    } else if (setUsual(view, rule, row)) return;
  }
}

/** Nearly all calls have one of a few values, so their column text is cached by the bytes of the whole value. */
function setUsual(view: RecordView, rule: Rule, row: number): boolean {
  const { lookups, batch, reader, memory } = view;
  const { kind } = reader.at(row);
  if (kind !== KIND_ARRAY && kind !== KIND_TEXT) return setReasons(view, reasonsAt(view, rule, row));
  const known = lookups.usualReasons.get(memory, row);
  if (known !== undefined) {
    setWord(view, SLOT_FINISH_REASONS, known);
    return true;
  }
  const reasons = reasonsAt(view, rule, row);
  const isUsual = reasons.length === 1 && USUAL.has(reasons[0] ?? '');
  // Only our spellings become constants: a sender could write a word in thousands of mixtures of case.
  if (isUsual) lookups.usualReasons.add(memory, row, batch.tables.constant(JSON.stringify(reasons)));
  return setReasons(view, reasons);
}
const USUAL_WORDS: readonly string[] = [
  'stop',
  'length',
  'tool_calls',
  'tool-calls',
  'tool_call',
  'tool_use',
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'content_filter',
  'content-filter',
  'completed',
  'function_call',
  'error',
];
const USUAL: ReadonlySet<string> = new Set(USUAL_WORDS.flatMap((word) => [word, word.toUpperCase()]));

/** Sets the column to a list of words; false when there is none. */
export function setReasons(view: RecordView, reasons: readonly string[]): boolean {
  if (reasons.length === 0) return false;
  const { tables, derived } = view.batch;
  const json = JSON.stringify(reasons.slice(0, MAX_REASONS).map(storable));
  const text = tables.scratch(json);
  if (text === null) return false;
  derived.setText(SLOT_FINISH_REASONS, text.offset, text.length, text.flags);
  return true;
}

/**
 * A word as JSON of the database may hold it. Words of a document may have U+0000 and lone surrogates, and the cut may
 * divide a pair.
 */
function storable(reason: string): string {
  return reason.slice(0, MAX_REASON_LENGTH).replace(NOT_STORABLE, '\uFFFD');
}

function reasonsAt(view: RecordView, rule: Rule, row: number): string[] {
  const { reader, fields } = view;
  if (rule.flattened)
    return fields
      .family(rule)
      .slice(0, MAX_REASONS)
      .flatMap((member) => (reader.at(member).length > MAX_TEXT_BYTES ? [] : reasonsOfText(reader.text(member))));
  if (rule.paths !== null) {
    if (rule.paths[0] === '$') return reasonsOfText(trimTo(reader.part(rule, row) ?? '', rule));
    for (const path of rule.paths) {
      const reasons = reader
        .values(row, path)
        .flatMap((value) => wordsOf(typeof value === 'string' ? trimTo(value, rule) : value));
      if (reasons.length > 0) return reasons;
    }
    return [];
  }
  const { kind, length } = reader.at(row);
  if (kind === KIND_ARRAY) return wordsOf(reader.document(row));
  if (kind !== KIND_TEXT || length > MAX_TEXT_BYTES) return [];
  const text = reader.text(row) ?? '';
  return LIST_BEGIN.test(text) ? wordsOf(reader.document(row)) : reasonsOfText(trimTo(text, rule));
}

function reasonsOfText(text: string | null): string[] {
  return (text ?? '')
    .split(',')
    .map((word) => word.trim().replace(ENUM_PREFIX, ''))
    .filter(isReason);
}

/** The reasons a value lists. */
export function wordsOf(value: unknown): string[] {
  if (typeof value === 'string') return reasonsOfText(value);
  return Array.isArray(value)
    ? value.slice(0, MAX_REASONS).filter((word): word is string => typeof word === 'string' && isReason(word))
    : [];
}

/** Python prints a member of an enum with the name of the enum. */
const ENUM_PREFIX = /^FinishReason\./;

/** Words that some libraries write when there is no reason. */
function isReason(word: string): boolean {
  return !isBlank(word) && word !== 'null' && word !== 'None';
}
