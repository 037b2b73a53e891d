/**
 * Which values are numbers: token counts must be safe non-negative integers, durations finite and not negative. NaN is
 * neither.
 */
import {
  doubleAt,
  headAt,
  integerAt,
  kindOf,
  lengthAt,
  offsetAt,
  wordOfRow,
  writtenDoubleAt,
} from '../../pdata/attributes.ts';
import { KIND_DOUBLE, KIND_INT, KIND_NUMBER_TEXT, KIND_TEXT } from '../../pdata/layout.ts';
import type { Memory } from '../../pdata/memory.ts';

/** Longer texts are no numbers. */
const MAX_NUMBER_BYTES = 32;
const COUNT_TEXT = /^\s*\d+\s*$/;
const DECIMAL_TEXT = /^\s*\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\s*$/;

/** A token count of an attribute. Text is accepted if it is plain digits. */
export function countOfRow(memory: Memory, row: number): number {
  const word = wordOfRow(row);
  const kind = kindOf(headAt(memory.u32, word));
  if (kind === KIND_INT) return countOfNumber(integerAt(memory, word));
  if (kind === KIND_DOUBLE) return countOfNumber(doubleAt(memory, word));
  if (kind === KIND_NUMBER_TEXT) return countOfNumber(writtenDoubleAt(memory, word));
  return kind === KIND_TEXT ? countOfValue(shortText(memory, word)) : Number.NaN;
}

/** A token count of a value in a JSON document. */
export function countOfValue(value: unknown): number {
  if (typeof value === 'number') return countOfNumber(value);
  return typeof value === 'string' && value.length <= MAX_NUMBER_BYTES && COUNT_TEXT.test(value)
    ? countOfNumber(Number(value))
    : Number.NaN;
}

function countOfNumber(value: number): number {
  // Adding zero makes negative zero positive.
  return Number.isSafeInteger(value) && value >= 0 ? value + 0 : Number.NaN;
}

/** A duration of an attribute, in the attribute's unit. */
export function amountOfRow(memory: Memory, row: number): number {
  const word = wordOfRow(row);
  const kind = kindOf(headAt(memory.u32, word));
  if (kind === KIND_INT) return amountOfValue(integerAt(memory, word));
  if (kind === KIND_DOUBLE) return amountOfValue(doubleAt(memory, word));
  if (kind === KIND_NUMBER_TEXT) return amountOfValue(writtenDoubleAt(memory, word));
  return kind === KIND_TEXT ? amountOfValue(shortText(memory, word)) : Number.NaN;
}

export function amountOfValue(value: unknown): number {
  const amount = typeof value === 'string' && DECIMAL_TEXT.test(value) ? Number(value) : value;
  return typeof amount === 'number' && Number.isFinite(amount) && amount >= 0 ? amount + 0 : Number.NaN;
}

/** A text short enough to be a number; digits are never escaped. */
function shortText(memory: Memory, word: number): string | undefined {
  const offset = offsetAt(memory.u32, word);
  const length = lengthAt(memory.u32, word);
  return length > MAX_NUMBER_BYTES ? undefined : memory.bytes.toString('latin1', offset, offset + length);
}
