/** A merge sort in steps, for lists whose sorting would block the event loop for too long. */
import type { Steps } from '../../pdata/steps.ts';

/** Runs of this length are sorted in one step by `Array.sort`. */
const RUN = 1024;
/** Items merged in one step. */
const STEP = 4096;

export function* sortInSteps<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<readonly Item[]> {
  let runs: Item[][] = [];
  for (let from = 0; from < items.length; from += RUN) {
    runs.push(items.slice(from, from + RUN).sort(compare));
    if (items.length > RUN) yield;
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(yield* merge(runs[index] ?? [], runs[index + 1] ?? [], compare));
      yield;
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<Item>(left: Item[], right: Item[], compare: (a: Item, b: Item) => number): Steps<Item[]> {
  const merged: Item[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    const first = left[l] as Item;
    const second = right[r] as Item;
    if (compare(first, second) <= 0) {
      merged.push(first);
      l++;
    } else {
      merged.push(second);
      r++;
    }
    if (merged.length % STEP === 0) yield;
  }
  for (; l < left.length; l++) merged.push(left[l] as Item);
  for (; r < right.length; r++) merged.push(right[r] as Item);
  return merged;
}
