/** What the rules found in one text: ranges with the number of their rule, ascending and not overlapping. */
import type { Steps } from '../../../pdata/steps.ts';
import type { Canonical } from './canonical.ts';
import type { Ranges } from './rule.ts';

/** A chunk has this many numbers, as a power of two. */
const CHUNK_BITS = 16;
const IN_CHUNK = (1 << CHUNK_BITS) - 1;
/** Start, end and rule of one range. */
const FIELDS = 3;
/** Ranges between two steps. */
const STEP = 16_384;

/**
 * A list of ranges. A text of 16 MiB can have millions, and an array would copy all that it has, again and again, while
 * it grows.
 */
export class Found {
  readonly #chunks: number[][] = [];
  #count = 0;

  /** The number of ranges. */
  get count(): number {
    return this.#count;
  }

  startOf(range: number): number {
    return this.#at(range * FIELDS);
  }

  endOf(range: number): number {
    return this.#at(range * FIELDS + 1);
  }

  ruleOf(range: number): number {
    return this.#at(range * FIELDS + 2);
  }

  push(start: number, end: number, rule: number): void {
    const at = this.#count++ * FIELDS;
    this.#set(at, start);
    this.#set(at + 1, end);
    this.#set(at + 2, rule);
  }

  /** Extends the last range. Of two rules the first one counts. */
  widenLast(end: number, rule: number): void {
    const at = (this.#count - 1) * FIELDS;
    this.#set(at + 1, Math.max(this.#at(at + 1), end));
    this.#set(at + 2, Math.min(this.#at(at + 2), rule));
  }

  /** Adds the first `count` numbers of what one rule found in a form of the text, by their positions in the text. */
  add(rule: number, ranges: Ranges, count: number, form: Canonical | null): void {
    for (let at = 0; at < count; at += 2) {
      const start = ranges[at] as number;
      const end = ranges[at + 1] as number;
      if (form === null) this.push(start, end, rule);
      else this.push(form.starts[start] as number, form.starts[end] as number, rule);
    }
  }

  #at(index: number): number {
    return (this.#chunks[index >>> CHUNK_BITS] as number[])[index & IN_CHUNK] as number;
  }

  #set(index: number, value: number): void {
    const chunk = (this.#chunks[index >>> CHUNK_BITS] ??= []);
    chunk[index & IN_CHUNK] = value;
  }
}

/** Both lists as one. Ranges that overlap become one, with the rule that comes first in the configuration. */
export function* merged(one: Found, other: Found): Steps<Found> {
  if (one.count === 0) return other;
  if (other.count === 0) return one;
  const result = new Found();
  let left = 0;
  let right = 0;
  for (let count = 1; left < one.count || right < other.count; count++) {
    if (count % STEP === 0) yield;
    const isLeft = right >= other.count || (left < one.count && one.startOf(left) <= other.startOf(right));
    if (isLeft) append(result, one, left++);
    else append(result, other, right++);
  }
  return result;
}

function append(result: Found, list: Found, range: number): void {
  const start = list.startOf(range);
  const last = result.count - 1;
  if (last < 0 || start >= result.endOf(last)) result.push(start, list.endOf(range), list.ruleOf(range));
  else result.widenLast(list.endOf(range), list.ruleOf(range));
}
