/** Writes valid or invalid DEFLATE bit by bit, including streams that no compressor writes. */

/** The order of the lengths of the code length code. */
const LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/** A complete code of all nineteen code length symbols: thirteen of four bits, six of five. */
export const PLAIN_LENGTHS: readonly number[] = Array.from({ length: 19 }, (_, symbol) => (symbol < 13 ? 4 : 5));

export interface Codes {
  readonly literals: readonly number[];
  readonly distances: readonly number[];
  /** The lengths of the code length code. */
  readonly lengths?: readonly number[];
}

export class DeflateWriter {
  readonly #bits: number[] = [];

  /** Writes a number, lowest bit first. */
  bits(value: number, count: number): this {
    for (let bit = 0; bit < count; bit++) this.#bits.push(Math.floor(value / 2 ** bit) % 2);
    return this;
  }

  /** Writes a code, highest bit first. */
  code(value: number, count: number): this {
    for (let bit = count - 1; bit >= 0; bit--) this.#bits.push((value >> bit) & 1);
    return this;
  }

  /** Writes a symbol of the code with these lengths; nothing when it has no code. */
  symbol(lengths: readonly number[], symbol: number): this {
    const found = codesOf(lengths).get(symbol);
    return found === undefined ? this : this.code(found.code, found.length);
  }

  stored(last: boolean, bytes: Buffer, complement = bytes.length ^ 0xffff): this {
    this.bits(last ? 1 : 0, 1).bits(0, 2);
    while (this.#bits.length % 8 > 0) this.#bits.push(0);
    this.bits(bytes.length, 16).bits(complement, 16);
    for (const byte of bytes) this.bits(byte, 8);
    return this;
  }

  fixed(last: boolean): this {
    return this.bits(last ? 1 : 0, 1).bits(1, 2);
  }

  /** Writes the header of a dynamic block, without repeat codes. */
  dynamic(last: boolean, { literals, distances, lengths = PLAIN_LENGTHS }: Codes): this {
    this.bits(last ? 1 : 0, 1).bits(2, 2);
    this.bits(literals.length - 257, 5)
      .bits(distances.length - 1, 5)
      .bits(15, 4);
    for (const symbol of LENGTH_ORDER) this.bits(lengths[symbol] ?? 0, 3);
    const codes = codesOf(lengths);
    for (const length of [...literals, ...distances]) {
      const found = codes.get(length);
      if (found !== undefined) this.code(found.code, found.length);
    }
    return this;
  }

  /** Padded with zeros to whole bytes. */
  bytes(): Buffer {
    const bytes = Buffer.alloc(Math.ceil(this.#bits.length / 8));
    for (const [index, bit] of this.#bits.entries())
      bytes[index >> 3] = (bytes[index >> 3] ?? 0) | (bit << (index & 7));
    return bytes;
  }
}

/** The canonical code: shorter codes first, equal ones by symbol. */
function codesOf(lengths: readonly number[]): ReadonlyMap<number, { readonly code: number; readonly length: number }> {
  const codes = new Map<number, { code: number; length: number }>();
  let code = 0;
  for (let length = 1; length <= 15; length++) {
    for (const [symbol, own] of lengths.entries()) if (own === length) codes.set(symbol, { code: code++, length });
    code <<= 1;
  }
  return codes;
}

/** Code lengths with a length at some places and 0 elsewhere. */
export function codeLengths(count: number, set: Readonly<Record<number, number>>): number[] {
  return Array.from({ length: count }, (_, symbol) => set[symbol] ?? 0);
}
