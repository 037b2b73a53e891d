/** The axis of time of a trace. Long waits without any span are folded, so that the rest can be seen. */

interface Timed {
  readonly start: number;
  /** Milliseconds; null when the end is unknown. */
  readonly duration: number | null;
}

export interface Fold {
  /** The real beginning and end of the wait. */
  readonly from: number;
  readonly to: number;
  /** Where it is shown. */
  readonly at: number;
  /** How much shorter the axis is behind it. */
  readonly shift: number;
}

export interface Axis {
  /** The length that is shown. */
  readonly length: number;
  /** The length of a fold that is shown. */
  readonly width: number;
  readonly folds: readonly Fold[];
  /** Where a time is shown. */
  at(ms: number): number;
  /** The time that is shown at a place. */
  real(shown: number): number;
}

/** A wait is folded when it is as many times longer than all the time with spans. */
const TIMES = 10;
/** The part of the time with spans that a fold takes. */
const WIDTH = 0.05;

/** The spans are in order of start. */
export function axisOf(spans: readonly Timed[], length: number, isFolded: boolean): Axis {
  const waits = isFolded ? waitsOf(spans) : [];
  const waited = waits.reduce((sum, { from, to }) => sum + to - from, 0);
  const busy = Math.max(length - waited, length * 1e-6);
  const width = busy * WIDTH;
  const folds: Fold[] = [];
  let shift = 0;
  for (const { from, to } of waits) {
    if (to - from <= TIMES * busy) continue;
    folds.push({ from, to, at: from - shift, shift: shift + to - from - width });
    shift += to - from - width;
  }
  const before = (isBefore: (fold: Fold) => boolean): Fold | undefined => folds[countWhile(folds, isBefore) - 1];
  return {
    length: length - shift,
    width,
    folds,
    at: (ms) => ms - (before(({ to }) => to <= ms)?.shift ?? 0),
    real: (shown) => {
      // Rounded, the end of a fold may be before it.
      if (shown >= length - shift) return length;
      const fold = before(({ at }) => at <= shown);
      if (fold === undefined) return shown;
      return shown < fold.at + width ? fold.from : shown + fold.shift;
    },
  };
}

function waitsOf(spans: readonly Timed[]): readonly { readonly from: number; readonly to: number }[] {
  const waits: { from: number; to: number }[] = [];
  let end = 0;
  for (const { start, duration } of spans) {
    if (start > end) waits.push({ from: end, to: start });
    end = Math.max(end, start + (duration ?? 0));
  }
  return waits;
}

/** The number of leading items for which the condition holds. It holds for none behind them. */
function countWhile<T>(list: readonly T[], holds: (item: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = list[middle];
    if (item !== undefined && holds(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
