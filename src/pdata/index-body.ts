/**
 * Indexes one expanded body into the tables of one request. An intake has one memory, so its result is valid until its
 * next call.
 */
import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { type RefusalCode, Rejection } from '../errors.ts';
import { Tables } from './tables.ts';
import { Batch } from './batch.ts';
import { partOf } from './buffer-view.ts';
import type { Context, Encoding, Signal } from './context.ts';
import * as layout from './layout.ts';
import { Memory } from './memory.ts';
import { finish, type Steps } from './steps.ts';
import { gunzip } from './gunzip.ts';
import { loadWire, type Wire, WireFault, type WireOptions } from './load-wasm.ts';

/** The default limit of AnyValue nesting. */
export const DEFAULT_MAX_DEPTH = 32;

const SIGNAL_NUMBERS = {
  traces: layout.SIGNAL_TRACES,
  logs: layout.SIGNAL_LOGS,
  metrics: layout.SIGNAL_METRICS,
} as const;

const FAULT_CODES: ReadonlyMap<number, RefusalCode> = new Map([
  [layout.FAIL_PROTOBUF, 'invalid_protobuf'],
  [layout.FAIL_JSON, 'invalid_json'],
  [layout.FAIL_ID, 'invalid_id'],
  [layout.FAIL_PAYLOAD, 'invalid_payload'],
  [layout.FAIL_BUDGET, 'body_too_large'],
]);

/** An intake that does not pause would take long for the rows of the body. One that pauses can index it. */
export class TooManyAtOnce extends Error {
  constructor() {
    super('too many rows for an intake that does not pause');
  }
}

export class Intake {
  readonly tables: Tables;
  readonly wire: Wire;
  #generation = 0;

  /** An intake that `pauses` indexes and encodes large bodies in steps, at about half the speed. */
  constructor(options: WireOptions = {}) {
    this.wire = loadWire(randomBytes(8).readBigUInt64LE(), options);
    const { memory, exports, inSteps } = this.wire;
    this.tables = new Tables(new Memory(memory.buffer as ArrayBuffer), exports, inSteps);
  }

  /**
   * Checks and indexes a body. Throws a `Rejection`: `invalid_protobuf`, `invalid_json`, `invalid_id`,
   * `invalid_payload`, `body_too_large` (more elements than the tables hold) or `empty_payload`. An intake that does
   * not pause throws `TooManyAtOnce` for many rows.
   */
  index(signal: Signal, encoding: Encoding, body: Uint8Array, context: Context): Batch {
    return finish(this.indexInSteps(signal, encoding, body, context, DEFAULT_MAX_DEPTH));
  }

  /** `index` in steps, if the intake pauses. */
  *indexInSteps(
    signal: Signal,
    encoding: Encoding,
    body: Uint8Array,
    context: Context,
    maxDepth: number,
  ): Steps<Batch> {
    if (body.length === 0) throw new Rejection('empty_payload');
    if (body.length > layout.INPUT_CAPACITY)
      throw new Rejection('body_too_large', { limit_bytes: layout.INPUT_CAPACITY, received_bytes: body.length });
    this.#generation++;
    this.wire.exports.resetTables();
    yield* this.#place(body, encoding);
    // The kernels read a few bytes past the end, which must not be bytes of an earlier, longer body.
    this.tables.memory.u8.fill(
      0,
      layout.INPUT_BASE + body.length,
      layout.INPUT_BASE + Math.min(body.length + TAIL, layout.INPUT_CAPACITY + layout.SLACK),
    );
    this.tables.setHeader(layout.HEADER_MAX_DEPTH, maxDepth);
    try {
      const encodingNumber = encoding === 'json' ? layout.ENCODING_JSON : layout.ENCODING_PROTOBUF;
      yield* this.wire.inSteps(() => this.wire.exports.index(SIGNAL_NUMBERS[signal], encodingNumber, body.length));
    } catch (error) {
      throw translate(error);
    }
    const batch = new Batch(this.tables, signal, encoding, context);
    if (batch.recordCount === 0 && batch.metricCount === 0) throw new Rejection('empty_payload');
    return batch;
  }

  /**
   * Expands a gzip body to the place where `index` reads it; the result must be passed to `index` at once. Throws a
   * `Rejection`: `decompression_failed`, or `body_too_large`.
   */
  expandInSteps(compressed: Uint8Array, limitBytes: number): Steps<Uint8Array> {
    this.#generation++;
    return gunzip(this.wire, compressed, limitBytes);
  }

  /** Copies the body to the place where it is indexed, and checks that JSON is UTF-8: in pieces, as both take long. */
  *#place(body: Uint8Array, encoding: Encoding): Steps<void> {
    const isInPlace = this.#isInPlace(body);
    for (let at = 0; at < body.length; ) {
      const piece = partOf(body, at, pieceEnd(body, at + PIECE_BYTES));
      if (encoding === 'json' && !isUtf8(piece))
        throw new Rejection('invalid_json', { cause: 'the body is not UTF-8' });
      if (!isInPlace) this.tables.memory.u8.set(piece, layout.INPUT_BASE + at);
      at += piece.length;
      if (at < body.length) yield;
    }
  }

  #isInPlace(body: Uint8Array): boolean {
    return body.buffer === this.tables.memory.u8.buffer && body.byteOffset === layout.INPUT_BASE;
  }

  /** Changes with every `index`, so that the holder of a batch can detect that it is stale. */
  get generation(): number {
    return this.#generation;
  }
}

/** Bytes cleared behind a body. */
const TAIL = 64;
/** A piece takes a tenth of a millisecond. */
const PIECE_BYTES = 262144;

/** The end of a piece up to `end`: not within a UTF-8 character, which has at most three bytes after its first. */
function pieceEnd(body: Uint8Array, end: number): number {
  if (end >= body.length) return body.length;
  for (let at = end; at > end - 4; at--) if (((body[at] ?? 0) & 0xc0) !== 0x80) return at;
  return end;
}

function translate(error: unknown): unknown {
  if (!(error instanceof WireFault)) return error;
  if (error.code === layout.FAIL_AT_ONCE) return new TooManyAtOnce();
  const code = FAULT_CODES.get(error.code);
  if (code === undefined) return error;
  if (code === 'body_too_large') return new Rejection(code, { hint: 'too many elements' });
  const cause = `at byte ${error.position - layout.INPUT_BASE}`;
  return new Rejection(code, error.idLength === null ? { cause } : { cause, length: error.idLength });
}
