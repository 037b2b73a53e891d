/** Texts of the tables as strings, without using up scratch: privacy looks at more of them than any other stage. */
import { TEXT_JSON_ESCAPED } from '../../pdata/layout.ts';
import type { Memory } from '../../pdata/memory.ts';

export function readText(memory: Memory, offset: number, length: number, flags: number): string {
  const text = memory.bytes.toString('utf8', offset, offset + length);
  // The indexer has checked that this is the inside of a JSON string.
  return (flags & TEXT_JSON_ESCAPED) === 0 ? text : (JSON.parse(`"${text}"`) as string);
}
