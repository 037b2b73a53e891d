/**
 * The WASM module behind typed calls: one linear memory per process, laid out by `model/layout.ts`. Everything here is
 * synchronous and belongs to one request at a time, from `index` to the last `encode`.
 */
import { readFileSync } from 'node:fs';
import { MEMORY_END } from '../model/layout.ts';

/** What `src/wire/index.ts` exports. Texts are returned through the header (HEADER_TEXT_OFFSET, _LENGTH, _FLAGS). */
export interface WireExports {
  /** Registers the well-known symbols; once, right after instantiation. `seed` keys the hash of attribute keys. */
  initialize(seed: bigint): void;
  resetTables(): void;
  /** Checks and tables the body at INPUT_BASE. Any fault goes through `host.fail` and nothing of the tables may be used. */
  index(signal: number, encoding: number, length: number): void;
  /** The symbol of a key whose UTF-8 text lies at `offset`; persistent unless the table is full. */
  intern(offset: number, length: number): number;
  /**
   * Expands the raw DEFLATE stream at `from` to `to`, not past `limit`. HEADER_INFLATED, HEADER_INFLATE_END. The compressed bytes
   * end at `end`, and COMPRESSED_PADDING zeros follow.
   */
  inflate(from: number, end: number, to: number, limit: number): void;
  /** Encodes records from `first` on as NDJSON lines at OUTPUT_BASE; returns the next record. HEADER_OUTPUT_LENGTH, HEADER_OUTPUT_ROWS. */
  encodeNdjson(first: number): number;
  /** The same as tuples of COPY BINARY, without the file header and trailer. */
  encodeCopy(first: number): number;
  /** The same as an OTLP request in protobuf; requests that follow each other are one. */
  encodeOtlp(first: number): number;
  /** Renders the value of an attribute row as JSON text into scratch; the result is in the header. */
  renderJson(row: number): void;
  /** Decodes the inside of a JSON string literal into scratch; the result is in the header. */
  unescapeJson(offset: number, length: number): void;
  /** Checks UTF-8 and classifies a text: text flags, or -1 when it is not valid UTF-8. */
  classifyText(offset: number, length: number): number;
  /** Looks for what redaction may have to look at from `from` on, with the tables at OPENING_GROUPS_BASE. Returns where to go on. */
  findOpenings(from: number, end: number): number;
}

/** The indexer's refusal: which rule (FAIL_… of layout.ts) and where in the expanded body. */
export class WireFault extends Error {
  readonly code: number;
  readonly position: number;
  constructor(code: number, position: number) {
    super(`wire fault ${code} at byte ${position}`);
    this.code = code;
    this.position = position;
  }
}

export interface Wire {
  readonly memory: WebAssembly.Memory;
  readonly bytes: Buffer;
  readonly exports: WireExports;
}

const PAGE = 65536;

/** Loads the module and reserves its memory. Pages that are never touched take no room. */
export function loadWire(seed: bigint): Wire {
  const pages = Math.ceil(MEMORY_END / PAGE);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const bytes = Buffer.from(memory.buffer);
  const host = {
    fail(code: number, position: number): never {
      throw new WireFault(code, position >>> 0);
    },
    parseDouble: (offset: number, length: number): number => Number(bytes.toString('latin1', offset, offset + length)),
    printDouble: (value: number, target: number): number => bytes.write(String(value), target, 'latin1'),
  };
  const module = new WebAssembly.Module(readFileSync(new URL('../wire/wire.wasm', import.meta.url)));
  const instance = new WebAssembly.Instance(module, { env: { memory }, host });
  const exports = instance.exports as unknown as WireExports;
  exports.initialize(seed);
  return { memory, bytes, exports };
}
