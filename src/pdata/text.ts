/** Texts in linear memory. */
import { TEXT_JSON_ESCAPED } from './layout.ts';
import type { Memory } from './memory.ts';

/**
 * The location and form of a text (TEXT_… flags of layout.ts). Small and short-lived; hot loops pass the three numbers
 * instead.
 */
export interface TextRef {
  readonly offset: number;
  readonly length: number;
  readonly flags: number;
}

/** Decodes a text without using scratch: for processors that read many texts. */
export function readText(memory: Memory, offset: number, length: number, flags: number): string {
  const text = memory.bytes.toString('utf8', offset, offset + length);
  // The indexer has checked that this is the inside of a JSON string.
  return (flags & TEXT_JSON_ESCAPED) === 0 ? text : (JSON.parse(`"${text}"`) as string);
}
