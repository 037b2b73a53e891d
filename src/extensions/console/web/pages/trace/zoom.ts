/** The part of a trace that the bars show. */
import type { Axis } from '../../data/axis.ts';

export interface Zoom {
  /** Milliseconds on the axis. */
  readonly from: number;
  readonly to: number;
}

export interface View extends Zoom {
  readonly axis: Axis;
}

/** A time as a percentage of the visible part. */
export const shareOf = (ms: number, { axis, from, to }: View): number => (100 * (axis.at(ms) - from)) / (to - from);
