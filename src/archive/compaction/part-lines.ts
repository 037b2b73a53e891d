/**
 * Copies the rows of parts into one local file of NDJSON. Each part is read by its own range: other bytes of an object
 * belong to requests that were not accepted. A part must have the number of rows that its request committed.
 */
import type { Transform } from 'node:stream';
import { open, type FileHandle } from 'node:fs/promises';
import * as zlib from 'node:zlib';
import { errorCode, UserError } from '../../errors.ts';
import { type ObjectStore, readObject, StoreError } from '../../object-store/object-store.ts';
import type { Part } from './compactions.ts';

/** Adjacent parts are read together, up to this many bytes. */
const MAX_RANGE_BYTES = 8 * 1024 * 1024;
const LINE_END = 10;

/** Node has zstd from 22.15 on. */
const { createZstdDecompress } = zlib as { readonly createZstdDecompress?: () => Transform };

export interface PartSource {
  readonly store: ObjectStore;
  /** The key of an object. `objectId`: hex. */
  keyOf(objectId: string, codec: string): string;
}

export interface CopiedLines {
  readonly rows: number;
  readonly bytes: number;
  /** In bytes. */
  readonly longestLine: number;
}

interface Copying<P extends Part> {
  readonly path: string;
  /** With the rows copied so far. */
  report(rows: number): void;
  /** Called for parts that cannot be read. They are left out unless it rejects. */
  leaveOut(error: unknown, parts: readonly P[]): Promise<void>;
}

/** Writes a new file. `parts`: ordered by object and place. */
export async function copyLines<P extends Part>(
  source: PartSource,
  parts: readonly P[],
  { path, report, leaveOut }: Copying<P>,
): Promise<CopiedLines> {
  const file = await open(path, 'ax', 0o600);
  const copied = { rows: 0, bytes: 0, longestLine: 0 };
  try {
    for (const group of adjacent(parts)) {
      const bytes = await readGroup(source, group).catch((error: unknown) => leaveOut(error, group));
      if (bytes === undefined) continue;
      let at = 0;
      for (const part of group) {
        const lines = await copyPart(file, part, bytes.subarray(at, at + part.bytes)).catch((error: unknown) =>
          leaveOut(damaged(error, source, part), [part]),
        );
        at += part.bytes;
        if (lines === undefined) {
          // Its first rows may have been written.
          await file.truncate(copied.bytes);
          continue;
        }
        copied.rows += lines.rows;
        copied.bytes += lines.bytes;
        copied.longestLine = Math.max(copied.longestLine, lines.longestLine);
        report(copied.rows);
      }
    }
    return copied;
  } finally {
    await file.close();
  }
}

/** Groups the parts of one object that have no bytes between them. */
function* adjacent<P extends Part>(parts: readonly P[]): Generator<readonly [P, ...P[]]> {
  let group: [P, ...P[]] | null = null;
  let length = 0;
  for (const part of parts) {
    const last = group?.at(-1);
    const follows = last?.objectId === part.objectId && last.firstByte + last.bytes === part.firstByte;
    if (group !== null && follows && length + part.bytes <= MAX_RANGE_BYTES) group.push(part);
    else {
      if (group !== null) yield group;
      group = [part];
      length = 0;
    }
    length += part.bytes;
  }
  if (group !== null) yield group;
}

async function readGroup(source: PartSource, group: readonly [Part, ...Part[]]): Promise<Buffer> {
  const [first] = group;
  const length = group.reduce((sum, { bytes }) => sum + bytes, 0);
  const key = source.keyOf(first.objectId, first.codec);
  try {
    const bytes = await readObject(source.store, key, { offset: first.firstByte, length });
    if (bytes.length < length) throw new DamagedPart(source, first, 'the object is shorter');
    return bytes;
  } catch (error) {
    if (error instanceof StoreError && error.fault === 'absent') throw new DamagedPart(source, first, ABSENT);
    if (error instanceof StoreError && error.fault === 'invalid') throw new DamagedPart(source, first, error.message);
    throw error;
  }
}

async function copyPart(file: FileHandle, { codec, records }: Part, bytes: Buffer): Promise<CopiedLines> {
  const stream = decompressor(codec);
  stream.end(bytes);
  const copied = { rows: 0, bytes: 0, longestLine: 0 };
  let length = 0;
  for await (const each of stream) {
    const chunk = each as Buffer;
    let from = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, from)) {
      copied.longestLine = Math.max(copied.longestLine, length + end - from);
      copied.rows++;
      from = end + 1;
      length = 0;
    }
    length += chunk.length - from;
    copied.bytes += chunk.length;
    await file.appendFile(chunk);
  }
  if (length > 0 || copied.rows !== records) throw new WrongRows(copied.rows, records);
  return copied;
}

function decompressor(codec: string): Transform {
  if (codec === 'gzip') return zlib.createGunzip();
  if (codec === 'zstd' && createZstdDecompress !== undefined) return createZstdDecompress();
  throw new UserError(
    `this version of Node.js cannot read parts of the codec ${codec}`,
    'Run the command with Node.js 22.15 or later, as the daemon that stored them.',
  );
}

class WrongRows extends Error {
  constructor(found: number, wanted: number) {
    super(`it has ${found} rows instead of ${wanted}`);
  }
}

const ABSENT = 'it does not exist';

/** A part is not what its request stored. Nothing of its compaction is published. */
export class DamagedPart extends UserError {
  readonly why: string;

  constructor({ store, keyOf }: PartSource, { objectId, codec, firstByte }: Part, why: string) {
    super(
      `the part at byte ${firstByte} of ${keyOf(objectId, codec)} in ${store.url} cannot be read: ${why}`,
      `Nothing of its compaction is published. Restore the object and run the command again. If it is lost, its records are lost: delete the rows of sluice.parts with object_id = '\\x${objectId}'.`,
    );
    this.why = why;
  }

  get isAbsent(): boolean {
    return this.why === ABSENT;
  }
}

function damaged(error: unknown, source: PartSource, part: Part): unknown {
  const isBroken = error instanceof WrongRows || /^(?:Z_|ERR_ZSTD|ZSTD_)/u.test(errorCode(error));
  return isBroken ? new DamagedPart(source, part, (error as Error).message) : error;
}
