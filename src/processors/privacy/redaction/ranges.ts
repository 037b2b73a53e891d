/**
 * What the rules found in one text: a flat list of start, end and rule of each range, ascending and not overlapping.
 * The lists of the rules are merged one by one, in time linear in their lengths.
 */
import type { Steps } from '../../../pdata/steps.ts';
import type { Canonical } from './canonical.ts';
import type { Ranges } from './rule.ts';

/** Elements of one range. */
export const FIELDS = 3;
export type Found = readonly number[];

/** Ranges between two steps. */
const STEP = 65_536;

/** The ranges of one rule, by their positions in the text as sent. */
export function* foundBy(rule: number, ranges: Ranges, form: Canonical | null): Steps<Found> {
  const found: number[] = [];
  for (let at = 0; at < ranges.length; at += 2) {
    const from = ranges[at] as number;
    const to = ranges[at + 1] as number;
    if (form === null) found.push(from, to, rule);
    else found.push(form.starts[from] as number, form.starts[to] as number, rule);
    if (at % STEP === STEP - 2) yield;
  }
  return found;
}

/** Both lists as one. Ranges that overlap become one, with the rule that comes first in the configuration. */
export function* merged(one: Found, other: Found): Steps<Found> {
  if (one.length === 0) return other;
  if (other.length === 0) return one;
  const result: number[] = [];
  let left = 0;
  let right = 0;
  for (let count = 1; left < one.length || right < other.length; count++) {
    if (count % STEP === 0) yield;
    const isLeft = right >= other.length || (left < one.length && (one[left] as number) <= (other[right] as number));
    if (isLeft) {
      append(result, one, left);
      left += FIELDS;
    } else {
      append(result, other, right);
      right += FIELDS;
    }
  }
  return result;
}

function append(result: number[], list: Found, at: number): void {
  const from = list[at] as number;
  const to = list[at + 1] as number;
  const rule = list[at + 2] as number;
  const last = result.length - FIELDS;
  if (last < 0 || from >= (result[last + 1] as number)) {
    result.push(from, to, rule);
    return;
  }
  result[last + 1] = Math.max(result[last + 1] as number, to);
  result[last + 2] = Math.min(result[last + 2] as number, rule);
}
