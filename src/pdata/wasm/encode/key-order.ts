/**
 * The order in which the server stores the keys of a jsonb object: by length, then by bytes. It sorts each object that
 * it parses by exchanging entries of 72 bytes, and only compares when the keys arrive in order. Nothing depends on it:
 * long lists keep their own order.
 */
import { ATTRIBUTE_STRIDE, ATTRIBUTE_SYMBOL, ATTRIBUTES_BASE, SYMBOL_LENGTH, SYMBOL_OFFSET } from '../../layout';
import { symbolRow } from '../symbols';

/** Longer lists are not ordered: the insertion sort is quadratic. */
const MAX_ORDERED: u32 = 64;
/** The last list: its symbols, the positions of its attributes in order, and their ranks. */
const symbols = memory.data(256, 16);
const order = memory.data(256, 16);
const ranks = memory.data(512, 16);
let known: u32 = 0;

/** Called at the beginning of each piece: the next request may use the same symbol for another key. */
export function forgetOrder(): void {
  known = 0;
}

/**
 * The address of the positions of these attributes in order, 32 bits each. 0: they keep their order. Adjacent records
 * usually have the same keys, so the last order is used again.
 */
export function keyOrder(first: u32, count: u32): usize {
  if (count < 2 || count > MAX_ORDERED) return 0;
  let isKnown = count == known;
  let row = <usize>ATTRIBUTES_BASE + <usize>first * ATTRIBUTE_STRIDE;
  for (let i: usize = 0; i < <usize>count; i++, row += ATTRIBUTE_STRIDE) {
    const symbol = load<u32>(row, ATTRIBUTE_SYMBOL);
    const at = symbols + (i << 2);
    if (load<u32>(at) == symbol) continue;
    store<u32>(at, symbol);
    isKnown = false;
  }
  if (!isKnown) sort(count);
  known = count;
  return order;
}

function sort(count: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const symbol = load<u32>(symbols + (i << 2));
    const rank = rankOf(symbol);
    let at = i;
    for (; at > 0; at--) {
      const before = load<u64>(ranks + ((at - 1) << 3));
      const position = load<u32>(order + ((at - 1) << 2));
      if (before < rank) break;
      if (before == rank && !precedes(symbol, load<u32>(symbols + ((<usize>position) << 2)))) break;
      store<u64>(ranks + (at << 3), before);
      store<u32>(order + (at << 2), position);
    }
    store<u64>(ranks + (at << 3), rank);
    store<u32>(order + (at << 2), <u32>i);
  }
}

/** The length of a key, and its first bytes: enough to compare most keys. */
function rankOf(symbol: u32): u64 {
  const row = symbolRow(symbol);
  const length = load<u32>(row, SYMBOL_LENGTH);
  const text = <usize>load<u32>(row, SYMBOL_OFFSET);
  let prefix: u32 = 0;
  for (let i: u32 = 0; i < 4; i++) prefix = (prefix << 8) | (i < length ? <u32>load<u8>(text + i) : 0);
  return ((<u64>length) << 32) | prefix;
}

/** Compares two keys of equal length. */
function precedes(one: u32, other: u32): bool {
  const row = symbolRow(one);
  const length = <usize>load<u32>(row, SYMBOL_LENGTH);
  return memory.compare(load<u32>(row, SYMBOL_OFFSET), load<u32>(symbolRow(other), SYMBOL_OFFSET), length) < 0;
}
