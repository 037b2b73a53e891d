/** Any Unicode text. The `binary` unit of fast-check is the same, but builds a table of all code points in a second. */
import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff;

/** Any code point except surrogates: the unit of `fc.string`. */
export const codePoint: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: LAST - SURROGATES.count })
  .map((index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count));
