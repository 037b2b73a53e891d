/** Drives the WebAssembly module over one body, from bytes to NDJSON, for comparison with the oracle. */
import { isUtf8 } from 'node:buffer';
import {
  CONSTANTS_BASE,
  ENCODING_JSON,
  FAIL_JSON,
  HEADER_BASE,
  HEADER_CONSTANTS,
  HEADER_MAX_DEPTH,
  HEADER_METRICS,
  HEADER_OUTPUT_LENGTH,
  HEADER_OUTPUT_LIMIT,
  HEADER_PROJECT_LENGTH,
  HEADER_PROJECT_OFFSET,
  HEADER_RECEIVED_AT,
  HEADER_RECORDS,
  INPUT_BASE,
  OUTPUT_BASE,
  OUTPUT_CAPACITY,
  SIGNAL_METRICS,
} from '../../src/pdata/layout.ts';
import { loadWire, type Wire, WireFault } from '../../src/pdata/load-wasm.ts';
import { DEFAULT_MAX_DEPTH } from './oracle.ts';
import type { Row } from './oracle-rows.ts';
import type { Signal } from './protos.ts';

const PROJECT = 'test';
const RECEIVED_AT = 1_767_225_600_123_456n;
const SEED = 0x5eed_5eedn;

/** The columns that `ModuleRun` sets for every row. */
export const COMMON: Row = new Map([
  ['project', PROJECT],
  ['received_at', '2026-01-01T00:00:00.123456Z'],
]);

export type Outcome =
  | { readonly accepted: true; readonly records: number }
  | { readonly accepted: false; readonly code: number };

export class ModuleRun {
  readonly #wire: Wire;

  constructor(wire: Wire = loadWire(SEED)) {
    this.#wire = wire;
    const { bytes } = this.#wire;
    const at = bytes.readUInt32LE(HEADER_BASE + HEADER_CONSTANTS) || CONSTANTS_BASE;
    bytes.write(PROJECT, at);
    bytes.writeUInt32LE(at + PROJECT.length, HEADER_BASE + HEADER_CONSTANTS);
    bytes.writeUInt32LE(at, HEADER_BASE + HEADER_PROJECT_OFFSET);
    bytes.writeUInt32LE(PROJECT.length, HEADER_BASE + HEADER_PROJECT_LENGTH);
    bytes.writeBigInt64LE(RECEIVED_AT, HEADER_BASE + HEADER_RECEIVED_AT);
    bytes.writeUInt32LE(OUTPUT_CAPACITY, HEADER_BASE + HEADER_OUTPUT_LIMIT);
    this.maxDepth = DEFAULT_MAX_DEPTH;
  }

  set maxDepth(depth: number) {
    this.#wire.bytes.writeUInt32LE(depth, HEADER_BASE + HEADER_MAX_DEPTH);
  }

  /** Indexes a body. A trap is a bug of the module and is thrown. */
  index(signal: Signal, encoding: number, body: Buffer): Outcome {
    if (encoding === ENCODING_JSON && !isUtf8(body)) return { accepted: false, code: FAIL_JSON };
    this.#wire.exports.resetTables();
    body.copy(this.#wire.bytes, INPUT_BASE);
    try {
      this.#wire.exports.index(signal, encoding, body.length);
    } catch (error) {
      if (error instanceof WireFault) return { accepted: false, code: error.code };
      throw error;
    }
    return { accepted: true, records: this.#count(signal === SIGNAL_METRICS ? HEADER_METRICS : HEADER_RECORDS) };
  }

  /** All lines of the indexed body. */
  encodeNdjson(): string {
    const total = this.#count(HEADER_RECORDS);
    const parts: Buffer[] = [];
    for (let first = 0; first < total; ) {
      const next = this.#wire.exports.encodeNdjson(first);
      if (next <= first) throw new Error('the encoder does not advance');
      const length = this.#count(HEADER_OUTPUT_LENGTH);
      parts.push(Buffer.from(this.#wire.bytes.subarray(OUTPUT_BASE, OUTPUT_BASE + length)));
      first = next;
    }
    const output = Buffer.concat(parts);
    if (!isUtf8(output)) throw new Error('the encoder wrote bytes that are not UTF-8');
    return output.toString('utf8');
  }

  /** The indexed body as an OTLP request in protobuf. */
  encodeOtlp(): Buffer {
    const total = this.#count(HEADER_RECORDS);
    const parts: Buffer[] = [];
    for (let first = 0; first < total; ) {
      const next = this.#wire.exports.encodeOtlp(first);
      if (next <= first) throw new Error('the encoder does not advance');
      parts.push(Buffer.from(this.#wire.bytes.subarray(OUTPUT_BASE, OUTPUT_BASE + this.#count(HEADER_OUTPUT_LENGTH))));
      first = next;
    }
    return Buffer.concat(parts);
  }

  /** Encodes everything without copying the bytes, for measurements. Returns their number. */
  encodeInPlace(format: 'ndjson' | 'copy' | 'otlp' = 'ndjson'): number {
    const { encodeCopy, encodeNdjson, encodeOtlp } = this.#wire.exports;
    const encode = { copy: encodeCopy, ndjson: encodeNdjson, otlp: encodeOtlp }[format];
    const total = this.#count(HEADER_RECORDS);
    let length = 0;
    for (let first = 0; first < total; ) {
      const next = encode(first);
      if (next <= first) throw new Error('the encoder does not advance');
      length += this.#count(HEADER_OUTPUT_LENGTH);
      first = next;
    }
    return length;
  }

  #count(header: number): number {
    return this.#wire.bytes.readUInt32LE(HEADER_BASE + header);
  }
}
