/**
 * An object store in an S3 bucket, or in a store with the same interface. An object is one PUT, which is atomic. The
 * signature covers the SHA-256 of the body, which every such store checks, so that no other checksum is needed.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Environment } from './aws-credentials.ts';
import { elementOf, elementsOf } from './http-call.ts';
import {
  type ByteRange,
  checkKey,
  checkPrefix,
  checkRange,
  isKey,
  type ListedObject,
  type ObjectBody,
  type ObjectInfo,
  type ObjectStore,
  objectStream,
  openBody,
  type PutOptions,
  StoreError,
} from './object-store.ts';
import { S3_TIMING, S3Bucket, type S3Timing } from './s3-request.ts';

/** The limit of S3 for one PUT. The archive closes its files long before. */
export const MAX_OBJECT_BYTES = 5 * 1024 ** 3;
/** The limit of S3 for one request that deletes. */
const MAX_DELETED = 1000;
/** By this header a put that finds its key taken recognizes an earlier attempt of its own whose answer was lost. */
const PUT_ID = 'x-amz-meta-sluice-put';

export interface S3StoreOptions {
  readonly bucket: string;
  /** Before all keys: empty, or names with a slash at the end. */
  readonly prefix: string;
  readonly environment: Environment;
  readonly timing?: S3Timing;
}

export class S3Store implements ObjectStore {
  readonly url: string;
  readonly #bucket: S3Bucket;
  readonly #prefix: string;

  constructor({ bucket, prefix, environment, timing = S3_TIMING }: S3StoreOptions) {
    this.url = `s3://${bucket}/${prefix}`;
    this.#prefix = prefix;
    this.#bucket = new S3Bucket(bucket, environment, timing);
  }

  async put(key: string, body: ObjectBody, { ifAbsent = false }: PutOptions = {}): Promise<void> {
    const path = this.#pathOf(key);
    const { bytes, sha256 } = await this.#digest(path, body);
    const id = randomUUID();
    const headers: Record<string, string> = { 'content-length': String(bytes), [PUT_ID]: id };
    if (ifAbsent) headers['if-none-match'] = '*';
    try {
      (await this.#bucket.call({ method: 'PUT', key: path, headers, body: () => openBody(body), sha256 })).resume();
    } catch (error) {
      const isTaken = error instanceof StoreError && error.fault === 'exists';
      if (!isTaken || !(await this.#isOwn(path, id))) throw error;
    }
  }

  async get(key: string, range?: ByteRange): Promise<Readable> {
    const path = this.#pathOf(key);
    checkRange(key, range);
    const headers: Record<string, string> =
      range === undefined ? {} : { range: `bytes=${range.offset}-${range.offset + range.length - 1}` };
    const answer = await this.#bucket.call({ method: 'GET', key: path, headers });
    if (range !== undefined && answer.statusCode !== 206) {
      answer.destroy();
      throw new StoreError('invalid', `${this.#bucket.urlOf(path)}: the store sends no ranges`);
    }
    return objectStream(answer, (error) => this.#bucket.failure(path, error));
  }

  async head(key: string): Promise<ObjectInfo | null> {
    const headers = await this.#headersOf(this.#pathOf(key));
    if (headers === null) return null;
    return { bytes: Number(headers['content-length']), modified: new Date(headers['last-modified'] ?? '') };
  }

  async *list(prefix: string): AsyncGenerator<ListedObject> {
    checkPrefix(prefix);
    for (let token: string | undefined, isFirst = true; isFirst || token !== undefined; isFirst = false) {
      const query: [string, string][] = [
        ['list-type', '2'],
        ['prefix', this.#prefix + prefix],
      ];
      if (token !== undefined) query.push(['continuation-token', token]);
      const isWhole = (text: string): boolean => text.includes('</ListBucketResult>');
      const xml = await this.#bucket.text({ method: 'GET', key: '', query }, isWhole);
      for (const contents of elementsOf(xml, 'Contents')) {
        const key = (elementOf(contents, 'Key') ?? '').slice(this.#prefix.length);
        // Objects that are not of this store are left out, as in a folder store.
        if (!isKey(key)) continue;
        const modified = new Date(elementOf(contents, 'LastModified') ?? '');
        yield { key, bytes: Number(elementOf(contents, 'Size')), modified };
      }
      const isCut = elementOf(xml, 'IsTruncated') === 'true';
      token = isCut ? elementOf(xml, 'NextContinuationToken') : undefined;
      // A store that knows only the first version of the request: the rest of the list must not be taken for absent.
      if (isCut && !token) throw this.#bucket.failure('', new Error('the store does not continue a list'), 'invalid');
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    const paths = [...new Set(keys.map((key) => this.#pathOf(key)))];
    for (let at = 0; at < paths.length; at += MAX_DELETED) await this.#delete(paths.slice(at, at + MAX_DELETED));
  }

  /** An interrupted PUT leaves nothing. */
  async sweep(): Promise<number> {
    return 0;
  }

  async close(): Promise<void> {
    this.#bucket.close();
  }

  async #delete(paths: readonly string[]): Promise<void> {
    // Keys have no characters that XML escapes, and the prefix is checked like a key.
    const objects = paths.map((path) => `<Object><Key>${path}</Key></Object>`).join('');
    const body = Buffer.from(
      `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${objects}<Quiet>true</Quiet></Delete>`,
    );
    const headers = {
      'content-length': String(body.length),
      'content-md5': createHash('md5').update(body).digest('base64'),
      'content-type': 'application/xml',
    };
    const sha256 = createHash('sha256').update(body).digest('hex');
    const xml = await this.#bucket.text(
      { method: 'POST', key: '', query: [['delete', '']], headers, body: () => body, sha256 },
      (text) => /<\/DeleteResult>|<DeleteResult[^>]*\/>/u.test(text),
    );
    const failed = elementsOf(xml, 'Error')[0];
    if (failed === undefined) return;
    const code = elementOf(failed, 'Code') ?? '';
    const fault = code === 'AccessDenied' ? 'denied' : 'unavailable';
    throw this.#bucket.failure(elementOf(failed, 'Key') ?? '', new Error(`not deleted: ${code}`), fault);
  }

  async #headersOf(path: string): Promise<Readonly<Record<string, string>> | null> {
    try {
      const answer = await this.#bucket.call({ method: 'HEAD', key: path });
      answer.resume();
      return answer.headers as Record<string, string>;
    } catch (error) {
      if (error instanceof StoreError && error.fault === 'absent') return null;
      throw error;
    }
  }

  async #isOwn(path: string, id: string): Promise<boolean> {
    return (await this.#headersOf(path))?.[PUT_ID] === id;
  }

  #pathOf(key: string): string {
    checkKey(key);
    const path = this.#prefix + key;
    checkKey(path);
    return path;
  }

  /**
   * A file is read once for its digest and once for the store. The second read comes from the file cache. The event
   * loop runs between pieces, because hashing a large object takes as long as several passes.
   */
  async #digest(path: string, body: ObjectBody): Promise<Digest> {
    const sha256 = createHash('sha256');
    if (Buffer.isBuffer(body)) return { bytes: body.length, sha256: sha256.update(body).digest('hex') };
    if (!('path' in body)) {
      for (const piece of body) {
        sha256.update(piece);
        await nextTurn();
      }
      return { bytes: body.reduce((sum, { length }) => sum + length, 0), sha256: sha256.digest('hex') };
    }
    try {
      const { size } = await stat(body.path);
      if (size > MAX_OBJECT_BYTES) throw new Error(`${size} bytes are more than the 5 GiB of one put`);
      for await (const chunk of createReadStream(body.path)) sha256.update(chunk as Buffer);
      return { bytes: size, sha256: sha256.digest('hex') };
    } catch (error) {
      throw this.#bucket.failure(path, error as Error, 'invalid');
    }
  }
}

interface Digest {
  readonly bytes: number;
  readonly sha256: string;
}
