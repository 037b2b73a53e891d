/**
 * The WASM module with typed calls, over a linear memory with the layout of `pdata/layout.ts`. The memory belongs to
 * one request at a time, from `index` to the last `encode`. There are two modules: one whose calls can run in steps,
 * for large bodies, and a faster one.
 */
import { readFileSync } from 'node:fs';
import { FAIL_ID, MEMORY_END, PAUSE_BASE, PAUSE_CAPACITY } from './layout.ts';
import { atOnce, type Steps } from './steps.ts';

/**
 * The exports of `src/pdata/wasm/index.ts`. Texts are returned through the header (HEADER_TEXT_OFFSET, _LENGTH,
 * _FLAGS).
 */
export interface WireExports {
  /**
   * Registers the well-known symbols; called once, right after instantiation. `seed` is the key of the hash of
   * attribute keys.
   */
  initialize(seed: bigint): void;
  resetTables(): void;
  /**
   * Checks and indexes the body at INPUT_BASE. A fault is reported through `host.fail`, and the tables may not be used
   * then.
   */
  index(signal: number, encoding: number, length: number): void;
  /** The symbol of a key whose UTF-8 text is at `offset`; persistent unless the table is full. */
  intern(offset: number, length: number): number;
  /**
   * Expands the raw DEFLATE stream at `from` to `to`, at most to `limit`. Returns HEADER_INFLATED and
   * HEADER_INFLATE_END. The compressed bytes end at `end` and are followed by COMPRESSED_PADDING zeros.
   */
  inflate(from: number, end: number, to: number, limit: number): void;
  /**
   * Encodes records from `first` on as NDJSON lines at OUTPUT_BASE; returns the next record. Sets HEADER_OUTPUT_LENGTH
   * and HEADER_OUTPUT_ROWS.
   */
  encodeNdjson(first: number): number;
  /** As `encodeNdjson`, to tuples of COPY BINARY without the file header and trailer. */
  encodeCopy(first: number): number;
  /** As `encodeCopy`, of spans with PLAIN_SPAN_COLUMNS only. For requests of which `arePlain` is not 0. */
  encodePlainCopy(first: number): number;
  /** Whether no span of the request has anything in the other columns; 0 or 1. */
  arePlain(): number;
  /** As `encodeNdjson`, to OTLP in protobuf. The outputs of consecutive calls are together one request. */
  encodeOtlp(first: number): number;
  /**
   * Lists resources and scopes of records from `first` on as entries at OUTPUT_BASE (SHARED_ENTRY_…); returns the next
   * record. Called before `encodeCopy`, and the ids of all entries must be set before it.
   */
  encodeShared(first: number): number;
  /** Renders the value of an attribute row as JSON text into scratch; returns it in the header. */
  renderJson(row: number): void;
  /** Decodes the inside of a JSON string literal into scratch; returns it in the header. */
  unescapeJson(offset: number, length: number): void;
  /** Checks UTF-8 and classifies a text: text flags, or -1 for invalid UTF-8. */
  classifyText(offset: number, length: number): number;
  /**
   * Finds literal prefixes of redaction patterns from `from` on, with the tables at PREFIX_BUCKETS_BASE. Returns the
   * address at which to continue.
   */
  findPrefixes(from: number, end: number): number;
}

/** The indexer's refusal: the rule (FAIL_… of layout.ts) and the offset in the expanded body. */
export class WireFault extends Error {
  readonly code: number;
  readonly position: number;
  /** The length of a refused id as sent: bytes of protobuf, characters of JSON. Null for other rules. */
  readonly idLength: number | null;
  constructor(code: number, position: number, idLength: number | null = null) {
    super(`wire fault ${code} at byte ${position}`);
    this.code = code;
    this.position = position;
    this.idLength = idLength;
  }
}

/** The exports that Asyncify adds to the pausing module. */
interface AsyncifyExports {
  /** Both take the address of two words: the end of the saved data and the end of its room. */
  asyncify_start_unwind(data: number): void;
  asyncify_start_rewind(data: number): void;
  asyncify_stop_unwind(): void;
  asyncify_stop_rewind(): void;
  asyncify_get_state(): number;
}

export interface Wire {
  readonly memory: WebAssembly.Memory;
  readonly bytes: Buffer;
  readonly exports: WireExports;
  /**
   * Runs one call of an export, in steps if the module can pause. No other export may be called before it has ended.
   */
  inSteps<Result>(call: () => Result): Steps<Result>;
}

export interface WireOptions {
  /** Loads the module whose calls can pause. */
  readonly pauses?: boolean;
  /** A call pauses after this time. */
  readonly stepMs?: number;
  /** The result of `compileWire` with the same `pauses`; left out: it is compiled. */
  readonly module?: WebAssembly.Module;
}

const PAGE = 65536;
const STEP_MS = 0.5;
/** Saved calls begin behind two addresses. */
const SAVED_BASE = PAUSE_BASE + 8;

/** Pauses and resumes the calls of a module. */
class PausingCalls {
  readonly #bytes: Buffer;
  readonly #stepMs: number;
  #exports: AsyncifyExports | null = null;
  /** The time at which the current call pauses; infinite for calls that run at once. */
  #deadline = Number.POSITIVE_INFINITY;
  #isPaused = false;
  #isResuming = false;

  constructor(bytes: Buffer, stepMs: number) {
    this.#bytes = bytes;
    this.#stepMs = stepMs;
  }

  set exports(exports: AsyncifyExports) {
    this.#exports = exports;
  }

  /** Called by the module to ask whether to pause. A resumed call asks once more at the place of its pause. */
  pause(): void {
    if (this.#isResuming) {
      this.#isResuming = false;
      this.#exports?.asyncify_stop_rewind();
      return;
    }
    if (performance.now() < this.#deadline) return;
    this.#isPaused = true;
    this.#bytes.writeUInt32LE(SAVED_BASE, PAUSE_BASE);
    this.#bytes.writeUInt32LE(PAUSE_BASE + PAUSE_CAPACITY, PAUSE_BASE + 4);
    this.#exports?.asyncify_start_unwind(PAUSE_BASE);
  }

  *inSteps<Result>(call: () => Result): Steps<Result> {
    for (;;) {
      const result = this.#step(call);
      if (!this.#isPaused) return result;
      this.#exports?.asyncify_stop_unwind();
      yield;
      this.#isResuming = true;
      this.#exports?.asyncify_start_rewind(PAUSE_BASE);
    }
  }

  #step<Result>(call: () => Result): Result {
    this.#isPaused = false;
    this.#deadline = performance.now() + this.#stepMs;
    try {
      return call();
    } catch (error) {
      // A fault during a resumed call: the next call must not resume it.
      this.#isResuming = false;
      if (this.#exports?.asyncify_get_state() !== 0) this.#exports?.asyncify_stop_rewind();
      throw error;
    } finally {
      this.#deadline = Number.POSITIVE_INFINITY;
    }
  }
}

/** Reads the module from its file, in about two milliseconds. */
export function compileWire(pauses: boolean): WebAssembly.Module {
  const file = pauses ? './wasm/wire-pausing.wasm' : './wasm/wire.wasm';
  return new WebAssembly.Module(readFileSync(new URL(file, import.meta.url)));
}

/** Loads a module and reserves its memory. Untouched pages take no room. */
export function loadWire(seed: bigint, options: WireOptions = {}): Wire {
  const { pauses = false, stepMs = STEP_MS, module = compileWire(pauses) } = options;
  const pages = Math.ceil(MEMORY_END / PAGE);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const bytes = Buffer.from(memory.buffer);
  const calls = new PausingCalls(bytes, stepMs);
  const host = {
    fail(code: number, position: number): never {
      throw new WireFault(code, position >>> 0);
    },
    failId(position: number, length: number): never {
      throw new WireFault(FAIL_ID, position >>> 0, length);
    },
    parseDouble: (offset: number, length: number): number => Number(bytes.toString('latin1', offset, offset + length)),
    printDouble: (value: number, target: number): number => bytes.write(String(value), target, 'latin1'),
    pause: (): void => calls.pause(),
  };
  const instance = new WebAssembly.Instance(module, { env: { memory }, host });
  const exports = instance.exports as unknown as WireExports;
  if (pauses) calls.exports = instance.exports as unknown as AsyncifyExports;
  exports.initialize(seed);
  return { memory, bytes, exports, inSteps: pauses ? (call) => calls.inSteps(call) : atOnce };
}
