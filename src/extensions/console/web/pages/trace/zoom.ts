/** The part of a trace that the bars show. */
export interface Zoom {
  /** Milliseconds since the start of the trace. */
  readonly from: number;
  readonly to: number;
}

/** A time as a percentage of the visible part. */
export const shareOf = (ms: number, zoom: Zoom): number => (100 * (ms - zoom.from)) / (zoom.to - zoom.from);
