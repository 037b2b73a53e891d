/**
 * The resources and scopes of a request, as the database stores them: each content once, under an id derived from it.
 * Clients can choose contents, so the id is a cryptographic hash. The hash includes the project, so that no project can
 * refer to the content of another.
 */
import { createHash, hash } from 'node:crypto';
import type { Batch } from './batch.ts';
import { partOf } from './buffer-view.ts';
import * as layout from './layout.ts';
import type { Steps } from './steps.ts';

/** The first of the 32 bytes of SHA-256: collisions cannot be found in practice. */
export const CONTENT_ID_BYTES = 16;
/** The number of contents that are hashed in one step. */
const STEP = 256;
/** The number of bytes that are hashed in one step. */
const HASH_BYTES = 524288;
const KIND_BYTES = 1;
const LENGTH_BYTES = 4;

export interface SharedContent {
  readonly kind: 'resource' | 'scope';
  /** The bytes of the id, one in each character. */
  readonly id: string;
  /**
   * The fields of the table's row except id and day, each a length and its bytes, in the format of COPY and of arrays.
   */
  readonly bytes: Buffer;
}

/** Decoded from the bytes at each iteration: a request may have very many. */
export class SharedContents implements Iterable<SharedContent> {
  readonly #chunks: readonly Buffer[];

  constructor(chunks: readonly Buffer[]) {
    this.#chunks = chunks;
  }

  *[Symbol.iterator](): Generator<SharedContent> {
    for (const chunk of this.#chunks) {
      for (let at = 0; at < chunk.length; ) {
        const content = contentAt(chunk, at);
        const kind = content[0] === layout.SHARED_RESOURCE ? 'resource' : 'scope';
        yield { kind, id: idAt(chunk, at), bytes: partOf(content, KIND_BYTES, content.length) };
        at += layout.SHARED_ENTRY_SIZE + content.length;
      }
    }
  }
}

export function fieldsOf({ bytes }: SharedContent): readonly Buffer[] {
  const fields: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + LENGTH_BYTES + Math.max(0, bytes.readInt32BE(at));
    fields.push(partOf(bytes, at, end));
    at = end;
  }
  return fields;
}

/**
 * Assigns an id to every content of the batch and sets the ids in its rows. `keep` receives this many bytes of the
 * output.
 */
export function* encodeShared(batch: Batch, keep: (length: number) => Steps<void>): Steps<void> {
  const { tables, recordCount } = batch;
  const seen = new Set<string>();
  for (let next = 0; next < recordCount; ) {
    const first = next;
    next = yield* tables.inSteps(() => tables.kernels.encodeShared(first));
    yield* keep(yield* nameEntries(tables.memory.bytes, tables.header(layout.HEADER_OUTPUT_LENGTH), seen));
  }
}

/** Sets the ids, and moves the entries of new contents together. Returns their total size. */
function* nameEntries(memory: Buffer, length: number, seen: Set<string>): Steps<number> {
  const end = layout.OUTPUT_BASE + length;
  let kept = layout.OUTPUT_BASE;
  let count = 0;
  for (let at = layout.OUTPUT_BASE; at < end; ) {
    const content = contentAt(memory, at);
    const size = layout.SHARED_ENTRY_SIZE + content.length;
    const id = content.length <= HASH_BYTES ? idOf(content) : yield* idInSteps(content);
    memory.write(id, memory.readUInt32LE(at + layout.SHARED_ENTRY_ROW) + layout.SHARED_ID, 'latin1');
    memory.write(id, at + layout.SHARED_ENTRY_ID, 'latin1');
    if (!seen.has(id)) {
      seen.add(id);
      if (kept !== at) memory.copyWithin(kept, at, at + size);
      kept += size;
    }
    at += size;
    if (++count % STEP === 0) yield;
  }
  return kept - layout.OUTPUT_BASE;
}

/** A hash object costs several times as much as the hash of a small content. */
const idOf = (content: Buffer): string => hash('sha256', content, 'binary').slice(0, CONTENT_ID_BYTES);

function* idInSteps(content: Buffer): Steps<string> {
  const digest = createHash('sha256');
  for (let at = 0; at < content.length; at += HASH_BYTES) {
    if (at > 0) yield;
    digest.update(content.subarray(at, at + HASH_BYTES));
  }
  return digest.digest('binary').slice(0, CONTENT_ID_BYTES);
}

const idAt = (bytes: Buffer, entry: number): string =>
  bytes.toString('latin1', entry + layout.SHARED_ENTRY_ID, entry + layout.SHARED_ENTRY_ID + CONTENT_ID_BYTES);

function contentAt(bytes: Buffer, entry: number): Buffer {
  const start = entry + layout.SHARED_ENTRY_SIZE;
  return partOf(bytes, start, start + bytes.readUInt32LE(entry + layout.SHARED_ENTRY_LENGTH));
}
