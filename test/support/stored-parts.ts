/** What the parts of a database name: the rows of accepted requests, read from their objects by range. */
import * as zlib from 'node:zlib';
import { type Codec, keyOf } from '../../src/exporters/objects/object-key.ts';
import { type ObjectStore, readObject } from '../../src/object-store/object-store.ts';
import { parseLines } from './daemon.ts';

export interface StoredPart {
  readonly object: string;
  readonly signal: string;
  readonly project: string;
  readonly records: number;
  readonly rows: readonly Record<string, unknown>[];
}

interface WithZstd {
  readonly zstdDecompressSync?: (bytes: Buffer) => Buffer;
}

const expand = (codec: Codec, bytes: Buffer): string => {
  const { zstdDecompressSync } = zlib as WithZstd;
  const expanded = codec === 'zstd' ? zstdDecompressSync?.(bytes) : zlib.gunzipSync(bytes);
  if (expanded === undefined) throw new Error('this runtime has no zstd');
  return expanded.toString();
};

type Query = (text: string) => Promise<readonly Record<string, unknown>[]>;

/** The places of all parts, as they were committed. */
export const PARTS = 'SELECT * FROM sluice.parts ORDER BY received_at, object_id, first_byte';

export async function readParts(query: Query, store: ObjectStore): Promise<readonly StoredPart[]> {
  const parts: StoredPart[] = [];
  for (const row of await query(PARTS)) parts.push(await readPart(row, store));
  return parts;
}

/** `row`: of `sluice.parts`. */
export async function readPart(row: Readonly<Record<string, unknown>>, store: ObjectStore): Promise<StoredPart> {
  const codec = row['codec'] as Codec;
  const object = keyOf(row['object_id'] as Buffer, codec);
  const range = { offset: Number(row['first_byte']), length: Number(row['bytes']) };
  return {
    object,
    signal: String(row['signal']),
    project: String(row['project']),
    records: Number(row['records']),
    rows: parseLines(expand(codec, await readObject(store, object, range))),
  };
}
