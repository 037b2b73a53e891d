/** Indexes bodies with the real module and reads its tables field by field, as the layout defines them. */
import {
  ATTRIBUTE_FLAGS,
  ATTRIBUTE_KIND,
  ATTRIBUTE_LENGTH,
  ATTRIBUTE_OFFSET,
  ATTRIBUTE_SCALAR,
  ATTRIBUTE_STRIDE,
  ATTRIBUTE_SYMBOL,
  ATTRIBUTE_DISPOSITION,
  ATTRIBUTES_BASE,
  ENCODING_PROTOBUF,
  HEADER_BASE,
  INPUT_BASE,
  KIND_BOOL,
  KIND_DOUBLE,
  KIND_INT,
  KIND_NONE,
  SYMBOL_LENGTH,
  SYMBOL_OFFSET,
  SYMBOL_STRIDE,
  SYMBOLS_BASE,
} from '../../../src/pdata/layout.ts';
import { loadWire, type Wire, WireFault } from '../../../src/pdata/load-wasm.ts';

export interface Attribute {
  readonly key: string;
  readonly kind: number;
  readonly flags: number;
  readonly disposition: number;
  /** Texts, bytes and structures as latin1 of their bytes. */
  readonly value: string | number | bigint | null;
}

export class IndexedBody {
  readonly wire: Wire;

  /** `pauses`: of the module, which then takes as many rows as the tables hold. */
  constructor({ pauses = false } = {}) {
    this.wire = loadWire(0x1234_5678_9abc_def0n, { pauses });
  }

  /** Indexes a body; returns the code of the fault, or undefined. Any other exception is a trap and is passed on. */
  index(signal: number, body: Buffer): number | undefined {
    body.copy(this.wire.bytes, INPUT_BASE);
    try {
      this.wire.exports.index(signal, ENCODING_PROTOBUF, body.length);
      return undefined;
    } catch (error) {
      if (error instanceof WireFault) return error.code;
      throw error;
    }
  }

  header(field: number): number {
    return this.u32(HEADER_BASE + field);
  }

  u8(at: number): number {
    return this.wire.bytes.readUInt8(at);
  }

  u32(at: number): number {
    return this.wire.bytes.readUInt32LE(at);
  }

  u64(at: number): bigint {
    return this.wire.bytes.readBigUInt64LE(at);
  }

  f64(at: number): number {
    return this.wire.bytes.readDoubleLE(at);
  }

  hex(at: number, length: number): string {
    return this.wire.bytes.toString('hex', at, at + length);
  }

  /** The text whose offset and length (u32 each) are at `offset` and `length`. */
  text(offset: number, length: number): string {
    const start = this.u32(offset);
    return this.wire.bytes.toString('utf8', start, start + this.u32(length));
  }

  key(symbol: number): string {
    const row = SYMBOLS_BASE + symbol * SYMBOL_STRIDE;
    return this.text(row + SYMBOL_OFFSET, row + SYMBOL_LENGTH);
  }

  attribute(index: number): Attribute {
    const row = ATTRIBUTES_BASE + index * ATTRIBUTE_STRIDE;
    const symbol = this.u32(row + ATTRIBUTE_SYMBOL);
    return {
      key: symbol === 0 ? '' : this.key(symbol),
      kind: this.u8(row + ATTRIBUTE_KIND),
      flags: this.u8(row + ATTRIBUTE_FLAGS),
      disposition: this.u8(row + ATTRIBUTE_DISPOSITION),
      value: this.#value(row),
    };
  }

  /** The attributes of an owner, whose first index and count are at these addresses. */
  attributes(first: number, count: number): Attribute[] {
    return Array.from({ length: this.u32(count) }, (_, i) => this.attribute(this.u32(first) + i));
  }

  #value(row: number): Attribute['value'] {
    switch (this.u8(row + ATTRIBUTE_KIND)) {
      case KIND_NONE:
        return null;
      case KIND_INT:
      case KIND_BOOL:
        return this.wire.bytes.readBigInt64LE(row + ATTRIBUTE_SCALAR);
      case KIND_DOUBLE:
        return this.f64(row + ATTRIBUTE_SCALAR);
      default: {
        const start = this.u32(row + ATTRIBUTE_OFFSET);
        return this.wire.bytes.toString('latin1', start, start + this.u32(row + ATTRIBUTE_LENGTH));
      }
    }
  }
}
