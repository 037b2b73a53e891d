/**
 * From the tables of one request to the bytes of one sink. The encoder works in linear memory, a piece at a time; each piece is
 * copied into a pooled buffer, because the memory belongs to the next request as soon as this one waits for its commit.
 */
import { Rejection } from '../errors.ts';
import type { Batch, Kernels } from './batch.ts';
import type { ChunkPool } from './chunk-pool.ts';
import type { Signal } from './context.ts';
import { FAIL_OUTPUT, HEADER_OUTPUT_LENGTH, HEADER_OUTPUT_LIMIT, OUTPUT_BASE, OUTPUT_CAPACITY } from './layout.ts';
import { type Column, LOG_COLUMNS, METRIC_COLUMNS, SPAN_COLUMNS } from './columns.ts';
import { finish, type Steps } from './steps.ts';
import { WireFault } from './load-wasm.ts';

/**
 * `ndjson`: a flat object a line. `copy`: tuples of COPY BINARY, without the header and trailer of its file. `otlp`: an OTLP
 * request in protobuf, with nothing in it that may not be stored.
 */
export type RowFormat = 'ndjson' | 'copy' | 'otlp';

const COLUMNS: Readonly<Record<Signal, readonly Column[]>> = {
  traces: SPAN_COLUMNS,
  logs: LOG_COLUMNS,
  metrics: METRIC_COLUMNS,
};
/** What the columns of a COPY tuple that are never null take at least, beside their lengths: ids, times, counts, words. */
const LEAST_VALUE_BYTES: Readonly<Record<Signal, number>> = { traces: 90, logs: 24, metrics: 24 };

/** No row is smaller: its labels, or the lengths of its columns. Of OTLP nothing is certain. */
function leastRowBytes(format: RowFormat, signal: Signal): number {
  const columns = COLUMNS[signal];
  if (format === 'copy') return columns.length * 4 + LEAST_VALUE_BYTES[signal];
  return format === 'otlp' ? 0 : columns.reduce((sum, { name }) => sum + name.length + 4, 0);
}

/** Copied in one step; a record may be many times as large. */
const COPY_BYTES = 2097152;

export interface EncodedRows {
  readonly signal: Signal;
  /** Rows. */
  readonly count: number;
  readonly bytes: number;
  readonly chunks: readonly Buffer[];
  /** Gives the buffers back; the chunks may not be used any more. A second call does nothing. */
  release(): void;
}

/**
 * Encodes a batch whole, at once. A piece is kept only when the batch's `rowRoom` has room for it; otherwise its `Rejection` is
 * thrown, and nothing is kept.
 */
export function encodeRows(batch: Batch, format: RowFormat, pool: ChunkPool): EncodedRows {
  return finish(encodeInSteps(batch, format, pool));
}

/** The same with a step for each piece. What is kept is released too when the steps are given up. */
export function* encodeInSteps(batch: Batch, format: RowFormat, pool: ChunkPool): Steps<EncodedRows> {
  const { tables, recordCount, rowRoom } = batch;
  const taken: Buffer[] = [];
  const chunks: Buffer[] = [];
  let bytes = 0;
  const release = (): void => {
    for (const chunk of taken.splice(0)) pool.give(chunk);
  };
  if (recordCount * leastRowBytes(format, batch.signal) > rowRoom.left) throw tooLarge('the rows');
  let isWhole = false;
  try {
    for (let next = 0; next < recordCount; ) {
      tables.setHeader(HEADER_OUTPUT_LIMIT, Math.min(rowRoom.left, OUTPUT_CAPACITY));
      const first = next;
      next = yield* tables.inSteps(() => encodePiece(tables.kernels, format, first));
      const length = tables.header(HEADER_OUTPUT_LENGTH);
      rowRoom.reserve(length);
      bytes += length;
      for (let at = 0; at < length; at += COPY_BYTES) {
        const size = Math.min(length - at, COPY_BYTES);
        const chunk = pool.take(size);
        taken.push(chunk);
        tables.memory.bytes.copy(chunk, 0, OUTPUT_BASE + at, OUTPUT_BASE + at + size);
        chunks.push(chunk.subarray(0, size));
        yield;
      }
    }
    isWhole = true;
  } catch (error) {
    if (error instanceof WireFault && error.code === FAIL_OUTPUT) throw tooLarge('a row');
    throw error;
  } finally {
    if (!isWhole) release();
  }
  return { signal: batch.signal, count: recordCount, bytes, chunks, release };
}

const tooLarge = (what: string): Rejection =>
  new Rejection('body_too_large', { hint: `${what} of the request would be too large beside its body` });

function encodePiece(kernels: Kernels, format: RowFormat, first: number): number {
  if (format === 'copy') return kernels.encodeCopy(first);
  return format === 'otlp' ? kernels.encodeOtlp(first) : kernels.encodeNdjson(first);
}
