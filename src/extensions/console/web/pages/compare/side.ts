/** One of two compared traces, and how figures of both differ. */
import type { TraceHeader } from '../../../api/shapes/traces.ts';
import type { Spans } from '../../data/spans.ts';
import type { Count } from '../../../../../pdata/exact-json.ts';
import { exactly } from '../../text/figures.ts';

export interface Side {
  readonly header: TraceHeader;
  readonly spans: Spans;
}

/** The difference and its share; nothing where a side is unknown. */
export function difference<T extends Count>(a: T | null, b: T | null, format: (value: T) => string): string {
  if (a === null || b === null) return '';
  if (a === b) return '=';
  const sign = b > a ? '+' : '−';
  const apart = b > a ? minus(b, a) : minus(a, b);
  const share = Number(a) === 0 ? '' : ` (${sign}${exactly(Math.round((100 * Number(apart)) / Number(a)))} %)`;
  return `${sign}${format(apart as T)}${share}`;
}

/** A bigint is always an integer; a number may have a fraction. */
const minus = (high: Count, low: Count): Count =>
  typeof high === 'number' && typeof low === 'number' ? high - low : BigInt(high) - BigInt(low);
