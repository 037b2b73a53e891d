/** Attribute keys as JSON: the finished `"key":` of a permanent symbol is computed once and stored beside its text. */
import * as layout from '../../layout';
import { symbolRow } from '../symbols';
import { putEscaped } from './json-text';
import { copyBytes, out, putByte, room, setOut } from './output';

/** Flags of a text that was not classified. */
export const UNKNOWN_TEXT: u32 = layout.TEXT_NEEDS_ESCAPE | layout.TEXT_HAS_NUL;
/** The share of one symbol in the key text region, including its own text; the region holds this much for each. */
const SYMBOL_SHARE: u32 = layout.MAX_SYMBOL_BYTES * 2;

/** Puts `"key":` of raw UTF-8. */
export function putRawKey(offset: usize, length: u32): void {
  room(32);
  putByte(0x22);
  putEscaped(offset, length, UNKNOWN_TEXT);
  store<u16>(out, 0x3a22); // ":
  setOut(out + 2);
}

/** Puts `"key":` of a symbol. */
// @ts-ignore: decorator
@inline
export function putKey(symbol: u32): void {
  const row = symbolRow(symbol);
  const made = load<u32>(row, layout.SYMBOL_JSON_OFFSET);
  if (made != 0) {
    const length = <usize>load<u32>(row, layout.SYMBOL_JSON_LENGTH);
    room(length + 64);
    setOut(copyBytes(out, made, length));
  } else {
    makeKey(symbol, row);
  }
}

/** Local keys of a request are used once or twice, so they are escaped each time, and so are keys without room. */
function makeKey(symbol: u32, row: usize): void {
  const start = out;
  const size = load<u32>(row, layout.SYMBOL_LENGTH);
  putRawKey(load<u32>(row, layout.SYMBOL_OFFSET), size);
  const length = <u32>(out - start);
  const free = load<u32>(layout.HEADER_BASE, layout.HEADER_KEY_TEXT);
  if (symbol >= <u32>layout.MAX_SYMBOLS || size + length > SYMBOL_SHARE) return;
  if (free + length > <u32>layout.KEY_TEXT_BASE + layout.KEY_TEXT_CAPACITY) return;
  memory.copy(free, start, length);
  store<u32>(row, free, layout.SYMBOL_JSON_OFFSET);
  store<u32>(row, length, layout.SYMBOL_JSON_LENGTH);
  store<u32>(layout.HEADER_BASE, free + length, layout.HEADER_KEY_TEXT);
}
