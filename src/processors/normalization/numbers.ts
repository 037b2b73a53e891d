/** Which values are numbers: token counts must be safe non-negative integers, durations finite and not negative. NaN is neither. */
import type { AttributeCursor } from '../../model/attributes.ts';
import { KIND_DOUBLE, KIND_INT, KIND_NUMBER_TEXT, KIND_TEXT } from '../../model/layout.ts';
import type { Memory } from '../../model/memory.ts';

/** Longer texts are no numbers. */
const MAX_NUMBER_BYTES = 32;
const COUNT_TEXT = /^\s*\d+\s*$/;
const DECIMAL_TEXT = /^\s*\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\s*$/;

/** A token count out of an attribute. Text counts only where it is plain digits. */
export function countOfAttribute(memory: Memory, attribute: AttributeCursor): number {
  switch (attribute.kind) {
    case KIND_INT:
    case KIND_DOUBLE:
      return countOfNumber(attribute.number);
    case KIND_TEXT:
    case KIND_NUMBER_TEXT:
      return attribute.length > MAX_NUMBER_BYTES ? Number.NaN : countOfValue(latin1(memory, attribute));
    default:
      return Number.NaN;
  }
}

/** A token count out of a JSON document. */
export function countOfValue(value: unknown): number {
  if (typeof value === 'number') return countOfNumber(value);
  return typeof value === 'string' && value.length <= MAX_NUMBER_BYTES && COUNT_TEXT.test(value)
    ? countOfNumber(Number(value))
    : Number.NaN;
}

export function countOfNumber(value: number): number {
  // Adding zero turns the negative zero of a double into the plain one.
  return Number.isSafeInteger(value) && value >= 0 ? value + 0 : Number.NaN;
}

/** A duration out of an attribute, in the attribute's unit. */
export function amountOfAttribute(memory: Memory, attribute: AttributeCursor): number {
  switch (attribute.kind) {
    case KIND_INT:
    case KIND_DOUBLE:
      return amountOfValue(attribute.number);
    case KIND_TEXT:
    case KIND_NUMBER_TEXT:
      return attribute.length > MAX_NUMBER_BYTES ? Number.NaN : amountOfValue(latin1(memory, attribute));
    default:
      return Number.NaN;
  }
}

export function amountOfValue(value: unknown): number {
  const amount = typeof value === 'string' && DECIMAL_TEXT.test(value) ? Number(value) : value;
  return typeof amount === 'number' && Number.isFinite(amount) && amount >= 0 ? amount + 0 : Number.NaN;
}

function latin1(memory: Memory, attribute: AttributeCursor): string {
  return memory.bytes.toString('latin1', attribute.offset, attribute.offset + attribute.length);
}
