/**
 * The object store under the archive: immutable objects with a key, in a folder or in an S3 bucket. The contract is
 * written at the interface, and one contract test runs over every implementation.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../errors.ts';

/**
 * The closed set of failures.
 * - `absent`: no object has this key, or the bucket does not exist.
 * - `exists`: `ifAbsent` was asked for, and the key is taken by another object.
 * - `denied`: the store refuses the caller. Only the operator can change that.
 * - `invalid`: no attempt can succeed: a malformed key, a range outside of the object, an object over the limit.
 * - `unavailable`: a fault of the store or of the way to it, after the store's own retries. A later attempt may
 *   succeed. The outcome of a write is unknown: the object exists whole, or does not exist.
 */
export type StoreFault = 'absent' | 'exists' | 'denied' | 'invalid' | 'unavailable';

/** The only error of a store. The message names the object and the cause, and never holds a secret. */
export class StoreError extends Error {
  readonly fault: StoreFault;

  constructor(fault: StoreFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}

/** The bytes of an object, whole or in pieces, or a file with them. They must not change until the put has ended. */
export type ObjectBody = Buffer | readonly Buffer[] | { readonly path: string };

export interface PutOptions {
  /** Fails with `exists` when the key is taken, atomically over all processes. Otherwise an object is replaced. */
  readonly ifAbsent?: boolean;
}

/** A part of an object. A length beyond the end is cut; an offset at or beyond the end is `invalid`. */
export interface ByteRange {
  readonly offset: number;
  /** At least 1. */
  readonly length: number;
}

export interface ObjectInfo {
  readonly bytes: number;
  /** The store's clock, when the object was written. */
  readonly modified: Date;
}

export interface ListedObject extends ObjectInfo {
  readonly key: string;
}

/**
 * Keys are checked by `checkKey` before anything else, so that one key means one object in every store.
 *
 * - A put is atomic and durable. Until it has ended a reader finds the earlier object or none, never a part. After it
 *   has resolved, the object survives a crash of the machine. After a rejection with `unavailable` the object exists
 *   whole or not at all. After any other rejection the store is as it was.
 * - A read after a resolved put or delete, also a list, sees it.
 * - Each method may be called at any time and concurrently, also by several processes.
 */
export interface ObjectStore {
  /** What the operator configured, without credentials. For messages. */
  readonly url: string;
  put(key: string, body: ObjectBody, options?: PutOptions): Promise<void>;
  /** Rejects, or the stream fails, with a `StoreError`. A stream that ends has delivered the whole object or range. */
  get(key: string, range?: ByteRange): Promise<Readable>;
  /** Null when there is no object of this key. */
  head(key: string): Promise<ObjectInfo | null>;
  /**
   * All objects with this prefix, in the order of the bytes of their keys. The prefix may end within a name; an empty
   * one lists everything. Objects that are put or deleted meanwhile may be in the list or not. An absent folder is
   * empty; an absent bucket is `absent`.
   */
  list(prefix: string): AsyncIterable<ListedObject>;
  /** A key without an object is no failure. After a rejection some of the objects may be deleted. */
  delete(keys: readonly string[]): Promise<void>;
  /** Removes what interrupted puts left below a prefix that is empty or ends with a slash. Returns their number. */
  sweep(prefix: string, unwrittenMs: number): Promise<number>;
  /** Closes connections. */
  close(): Promise<void>;
}

/** The rest of an interrupted put may be removed when nothing was written to it for this time. */
export const LEFTOVER_MS = 24 * 60 * 60 * 1000;
/** The limit of S3. Keys are ASCII. */
const MAX_KEY_BYTES = 1024;
/** The limit of a name between slashes. File systems take 255 bytes, and a temporary name is longer than its key. */
const MAX_NAME_BYTES = 200;
/**
 * The characters of keys, which need no escape in a path, a shell and a SQL string. A name does not begin with a dot:
 * that excludes `.` and `..`, and leaves names for temporary files.
 */
const NAME = /^[A-Za-z0-9_=+@-][A-Za-z0-9_=+@.-]*$/u;

/** Whether the text is names with slashes between them. */
export function isKey(text: string): boolean {
  if (text.length > MAX_KEY_BYTES) return false;
  return text.split('/').every((name) => name.length <= MAX_NAME_BYTES && NAME.test(name));
}

/** Throws `invalid` unless it is a key. */
export function checkKey(key: string): void {
  if (!isKey(key)) throw new StoreError('invalid', `${JSON.stringify(key)} is not a key of an object`);
}

/** Throws `invalid` unless the prefix begins a valid key. */
export function checkPrefix(prefix: string): void {
  if (prefix !== '') checkKey(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
}

export function checkRange(key: string, range: ByteRange | undefined): void {
  if (range === undefined) return;
  const { offset, length } = range;
  if (Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 1) return;
  throw new StoreError('invalid', `${key}: ${length} bytes at ${offset} are not a range`);
}

/**
 * The stream of a `get`: the same bytes, and its failures are errors of the store. A caller that stops reading destroys
 * it, which destroys the source.
 */
export function objectStream(source: Readable, failure: (error: Error) => StoreError): Readable {
  const stream = new PassThrough();
  source.once('error', (error) => stream.destroy(failure(error)));
  stream.once('close', () => source.destroy());
  return source.pipe(stream);
}

/** The bytes of a body, for one reading. */
export function openBody(body: ObjectBody): Buffer | Readable {
  if (Buffer.isBuffer(body)) return body;
  return 'path' in body ? createReadStream(body.path) : Readable.from(body);
}

/** An object or a range in memory. */
export async function readObject(store: ObjectStore, key: string, range?: ByteRange): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await store.get(key, range)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Copies an object into a new file. A file that could not be completed is removed. */
export async function downloadObject(store: ObjectStore, key: string, path: string): Promise<void> {
  const source = await store.get(key);
  try {
    await pipeline(source, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') await rm(path, { force: true });
    throw error;
  }
}
