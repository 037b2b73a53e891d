/** One of two compared traces, and how figures of both differ. */
import type { TraceHeader } from '../../../api/shapes.ts';
import type { Spans } from '../../data/spans.ts';
import { exactly } from '../../text/figures.ts';

export interface Side {
  readonly header: TraceHeader;
  readonly spans: Spans;
}

/** The difference and its share; nothing where a side is unknown. */
export function difference(a: number | null, b: number | null, format: (value: number) => string): string {
  if (a === null || b === null) return '';
  if (a === b) return '=';
  const sign = b > a ? '+' : '−';
  const share = a === 0 ? '' : ` (${sign}${exactly(Math.round(Math.abs((100 * (b - a)) / a)))} %)`;
  return `${sign}${format(Math.abs(b - a))}${share}`;
}
