/** The ids of traces and spans as hexadecimal digits. */

export const TRACE_ID_DIGITS = 32;
export const SPAN_ID_DIGITS = 16;

/** A whole trace id, in digits of either case. */
export const TRACE_ID = /^[0-9a-f]{32}$/iu;

/** The lowest and the highest id of `digits` digits that begin with the prefix. */
export const idsFrom = (prefix: string, digits: number): readonly [lowest: string, highest: string] => [
  prefix.padEnd(digits, '0'),
  prefix.padEnd(digits, 'f'),
];
