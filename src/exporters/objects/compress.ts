/**
 * Compresses the rows of one request into one gzip member or zstd frame, on the threads of the runtime. Members and
 * frames one after the other are a valid file, and each can be read by itself.
 */
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { Codec } from './object-key.ts';

/** Level 1 of both: NDJSON of spans has a quarter of its size then, and higher levels take more time than they save. */
const GZIP_LEVEL = 1;
/** With a checksum, as gzip has one: compaction finds a damaged part by it. */
const ZSTD_PARAMETERS = { 100: 1, 201: 1 };

/** Node has zstd from 22.15 on. */
interface WithZstd {
  readonly createZstdCompress?: (options: { readonly params: Readonly<Record<number, number>> }) => Transform;
}

const { createZstdCompress } = zlib as WithZstd;

export const CODEC: Codec = createZstdCompress === undefined ? 'gzip' : 'zstd';

/** The chunks must not change meanwhile. */
export async function compress(chunks: readonly Buffer[]): Promise<Buffer> {
  const stream = createZstdCompress?.({ params: ZSTD_PARAMETERS }) ?? zlib.createGzip({ level: GZIP_LEVEL });
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  const compressed: Buffer[] = [];
  for await (const chunk of stream) compressed.push(chunk as Buffer);
  return Buffer.concat(compressed);
}
