/**
 * Encodes the tables of one request for one sink. The encoder works in linear memory, a piece at a time. Each piece is
 * copied into a pooled buffer, because the next request uses the memory as soon as this one waits for its commit.
 */
import { Rejection } from '../errors.ts';
import type { Kernels } from './tables.ts';
import type { Batch } from './batch.ts';
import type { ChunkPool } from './chunk-pool.ts';
import type { Signal } from './context.ts';
import { FAIL_OUTPUT, HEADER_OUTPUT_LENGTH, HEADER_OUTPUT_LIMIT, OUTPUT_BASE, OUTPUT_CAPACITY } from './layout.ts';
import { PLAIN_SPAN_COLUMNS, TABLE_COLUMNS } from './columns.ts';
import { encodeShared, SharedContents } from './shared-contents.ts';
import { finish, type Steps } from './steps.ts';
import { STORED_COLUMNS } from './stored-text.ts';
import { WireFault } from './load-wasm.ts';

/**
 * `ndjson`: one flat object per line. `copy`: tuples of COPY BINARY, without the header and trailer of its file.
 * `otlp`: an OTLP request in protobuf, without dropped content.
 */
export type RowFormat = 'ndjson' | 'copy' | 'otlp';

/** The columns of the smallest form of a COPY tuple. */
const LEAST_COLUMNS = { ...TABLE_COLUMNS, traces: PLAIN_SPAN_COLUMNS };
/** The minimum size of their never-null columns without their lengths: ids, times, counts, words. */
const LEAST_VALUE_BYTES: Readonly<Record<Signal, number>> = { traces: 73, logs: 37, metrics: 37 };

/** The minimum size of a row: the lengths of its columns, or its labels. OTLP has no minimum. */
const LEAST_ROW_BYTES: Readonly<Record<RowFormat, Readonly<Record<Signal, number>>>> = {
  copy: leastOf((signal) => LEAST_COLUMNS[signal].length * 4 + LEAST_VALUE_BYTES[signal]),
  ndjson: leastOf((signal) => STORED_COLUMNS[signal].reduce((sum, { name }) => sum + name.length + 4, 0)),
  otlp: leastOf(() => 0),
};

function leastOf(bytesOf: (signal: Signal) => number): Readonly<Record<Signal, number>> {
  return { traces: bytesOf('traces'), logs: bytesOf('logs'), metrics: bytesOf('metrics') };
}

/** The most bytes copied in one step; a record may be many times as large. */
const COPY_BYTES = 2097152;

/** Refers only to the chunks: rows wait for a commit, and tables may be large. */
export class EncodedRows {
  readonly signal: Signal;
  readonly count: number;
  /** The bytes of the rows and of the contents they refer to. */
  readonly bytes: number;
  readonly chunks: readonly Buffer[];
  /** By chunk, how many rows it completes; 0 unless it ends with a row. */
  readonly chunkRows: readonly number[];
  /** Whether spans in the format `copy` have only PLAIN_SPAN_COLUMNS. */
  readonly isPlain: boolean;
  /** The contents that rows in the format `copy` refer to by id. */
  readonly contents?: SharedContents;
  /** Returns the buffers; the chunks and contents may not be used afterwards. A second call does nothing. */
  readonly release: () => void;

  constructor(rows: Omit<EncodedRows, 'contents' | 'release'>, contents: SharedContents | null, taken: TakenChunks) {
    this.signal = rows.signal;
    this.count = rows.count;
    this.bytes = rows.bytes;
    this.chunks = rows.chunks;
    this.chunkRows = rows.chunkRows;
    this.isPlain = rows.isPlain;
    if (contents !== null) this.contents = contents;
    this.release = () => taken.release();
  }
}

/**
 * Encodes a whole batch at once. A piece is kept only when the batch's `rowRoom` has room for it; otherwise its
 * `Rejection` is thrown, and nothing is kept.
 */
export function encodeRows(batch: Batch, format: RowFormat, pool: ChunkPool): EncodedRows {
  return finish(encodeInSteps(batch, format, pool));
}

/** `encodeRows` with one step per piece. The kept pieces are also released when the steps are abandoned. */
export function* encodeInSteps(batch: Batch, format: RowFormat, pool: ChunkPool): Steps<EncodedRows> {
  const { tables, recordCount, rowRoom, signal } = batch;
  const pieces = new Pieces(batch, pool);
  if (recordCount * LEAST_ROW_BYTES[format][signal] > rowRoom.left) throw tooLarge('the rows');
  let isWhole = false;
  try {
    const contents: Buffer[] = [];
    if (format === 'copy') {
      pieces.limitOutput();
      yield* encodeShared(batch, (length) => pieces.keepEntries(length, contents));
    }
    const isPlain =
      format === 'copy' && signal === 'traces' && (yield* tables.inSteps(() => tables.kernels.arePlain())) !== 0;
    const encode = encoderOf(tables.kernels, format, isPlain);
    const chunks: Buffer[] = [];
    const chunkRows: number[] = [];
    for (let next = 0; next < recordCount; ) {
      pieces.limitOutput();
      const first = next;
      next = yield* tables.inSteps(() => encode(first));
      yield* pieces.keep(tables.header(HEADER_OUTPUT_LENGTH), COPY_BYTES, chunks);
      while (chunkRows.length < chunks.length - 1) chunkRows.push(0);
      chunkRows.push(next - first);
    }
    isWhole = true;
    const shared = format === 'copy' ? new SharedContents(contents) : null;
    const { bytes, taken } = pieces;
    return new EncodedRows({ signal, count: recordCount, bytes, chunks, chunkRows, isPlain }, shared, taken);
  } catch (error) {
    if (error instanceof WireFault && error.code === FAIL_OUTPUT) throw tooLarge('a row');
    throw error;
  } finally {
    if (!isWhole) pieces.taken.release();
  }
}

class TakenChunks {
  readonly #pool: ChunkPool;
  readonly #chunks: Buffer[] = [];

  constructor(pool: ChunkPool) {
    this.#pool = pool;
  }

  take(size: number): Buffer {
    const chunk = this.#pool.take(size);
    this.#chunks.push(chunk);
    return chunk;
  }

  release(): void {
    for (const chunk of this.#chunks.splice(0)) this.#pool.give(chunk);
  }
}

/** The encoded pieces, in buffers of the pool. */
class Pieces {
  bytes = 0;
  readonly taken: TakenChunks;
  readonly #batch: Batch;

  constructor(batch: Batch, pool: ChunkPool) {
    this.#batch = batch;
    this.taken = new TakenChunks(pool);
  }

  /** Called before each piece. */
  limitOutput(): void {
    const { tables, rowRoom } = this.#batch;
    tables.setHeader(HEADER_OUTPUT_LIMIT, Math.min(rowRoom.left, OUTPUT_CAPACITY));
  }

  /** Copies this many bytes of the output, in chunks of at most `step`. */
  *keep(length: number, step: number, chunks: Buffer[]): Steps<void> {
    const { tables, rowRoom } = this.#batch;
    rowRoom.reserve(length);
    this.bytes += length;
    for (let at = 0; at < length; at += step) {
      const size = Math.min(length - at, step);
      const chunk = this.taken.take(size);
      tables.memory.bytes.copy(chunk, 0, OUTPUT_BASE + at, OUTPUT_BASE + at + size);
      chunks.push(chunk);
      yield;
    }
  }

  /** Keeps entries of contents in one piece, since an entry may not be split. */
  *keepEntries(length: number, contents: Buffer[]): Steps<void> {
    yield* this.keep(length, length, contents);
    this.limitOutput();
  }
}

const tooLarge = (what: string): Rejection =>
  new Rejection('body_too_large', { hint: `${what} of the request would be too large beside its body` });

function encoderOf(kernels: Kernels, format: RowFormat, isPlain: boolean): (first: number) => number {
  if (isPlain) return kernels.encodePlainCopy;
  if (format === 'copy') return kernels.encodeCopy;
  return format === 'otlp' ? kernels.encodeOtlp : kernels.encodeNdjson;
}
