/**
 * The file of a backup, written and read as a stream; docs/storage.md describes it. After eight bytes of signature it
 * is a sequence of frames: a letter, the length of the payload, its CRC-32, and the payload. The last frame has the
 * number of rows and the SHA-256 of everything before it.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { crc32, deflateRaw, inflateRaw } from 'node:zlib';
import { UserError } from '../../../errors.ts';
import type { Partition, Sequence, Table } from './catalogue.ts';
import { BLOCK_BYTES } from './copy.ts';

export const FORMAT = 1;

/** The payload of the first frame, as JSON. */
export interface Header {
  readonly format: number;
  /** The version of the program that wrote the file. */
  readonly version: string;
  readonly server: string;
  readonly taken_at: string;
  readonly migrations: readonly string[];
  readonly tables: readonly Table[];
  readonly partitions: readonly Partition[];
  readonly sequences: readonly Sequence[];
}

/** A table or partition of the file. `rows` is known when the blocks have ended. */
export interface UnitStream {
  readonly table: string;
  readonly name: string;
  readonly blocks: AsyncIterable<Buffer>;
  rows(): number;
}

export interface Summary {
  readonly units: number;
  readonly rows: number;
}

export interface Sink {
  write(data: Buffer): Promise<void>;
}

const SIGNATURE = Buffer.from('SLUICEBK');
export const END_SIGNATURE = Buffer.from('SLUICEND');
const FRAME_BYTES = 9;
/** Enough for a header with thousands of partitions, and for a block that does not become smaller. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** Fast: the disk or the server should be the limit, not the compression. */
const LEVEL = 1;
/** Blocks that are compressed at the same time, on the threads of Node.js. */
const CONCURRENT_BLOCKS = 3;

type Kind = 'H' | 'T' | 'D' | 'E' | 'Z';

const compress = promisify<Buffer, { level: number }, Buffer>(deflateRaw);
const expand = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);

export class BackupWriter {
  readonly #sink: Sink;
  readonly #hash = createHash('sha256');
  #units = 0;
  #rows = 0;
  bytes = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  async begin(header: Header): Promise<void> {
    await this.#put(SIGNATURE);
    await this.#frame('H', asJson(header));
  }

  async unit({ table, name, blocks, rows }: UnitStream): Promise<void> {
    await this.#frame('T', asJson({ table, name }));
    for await (const block of compressed(blocks)) await this.#frame('D', block);
    await this.#frame('E', asJson({ rows: rows() }));
    this.#units++;
    this.#rows += rows();
  }

  async end(): Promise<Summary> {
    const summary = { units: this.#units, rows: this.#rows };
    const last = asJson({ ...summary, sha256: this.#hash.digest('hex') });
    for (const part of [...frameOf('Z', last), END_SIGNATURE]) await this.#write(part);
    return summary;
  }

  async #frame(kind: Kind, payload: Buffer): Promise<void> {
    for (const part of frameOf(kind, payload)) await this.#put(part);
  }

  /** Writes what the hash of the summary covers. */
  async #put(data: Buffer): Promise<void> {
    this.#hash.update(data);
    await this.#write(data);
  }

  async #write(data: Buffer): Promise<void> {
    this.bytes += data.length;
    await this.#sink.write(data);
  }
}

function frameOf(kind: Kind, payload: Buffer): readonly Buffer[] {
  const head = Buffer.allocUnsafe(FRAME_BYTES);
  head.write(kind, 0, 'latin1');
  head.writeUInt32BE(payload.length, 1);
  head.writeUInt32BE(crc32(payload), 5);
  return [head, payload];
}

export class BackupReader {
  readonly header: Header;
  readonly #bytes: ByteReader;
  #rows = 0;
  #units = 0;
  #summary: Summary | null = null;

  private constructor(bytes: ByteReader, header: Header) {
    this.#bytes = bytes;
    this.header = header;
  }

  /** Reads the beginning of the file. Throws a `UserError` when it is no backup, or one of a newer version. */
  static async open(chunks: AsyncIterable<Buffer>): Promise<BackupReader> {
    const bytes = new ByteReader(chunks);
    const start = await bytes.take(SIGNATURE.length).catch((error: unknown) => {
      throw error instanceof UserError ? foreign() : error;
    });
    if (!start.equals(SIGNATURE)) throw foreign();
    const { kind, payload } = await readFrame(bytes);
    if (kind !== 'H') throw damaged('it has no header');
    const header = asObject(payload) as unknown as Header;
    if (header.format !== FORMAT)
      throw new UserError(
        `the backup has format ${header.format} of version ${header.version}; this version reads format ${FORMAT}`,
        `Restore it with version ${header.version} or newer.`,
      );
    checkHeader(header);
    return new BackupReader(bytes, header);
  }

  get position(): number {
    return this.#bytes.position;
  }

  /** Null until the whole file has been read and its checksum found right. */
  get summary(): Summary | null {
    return this.#summary;
  }

  /** The blocks of a unit must be read before the next unit. */
  async *units(): AsyncGenerator<UnitStream> {
    for (;;) {
      const digest = this.#bytes.digest();
      const { kind, payload } = await readFrame(this.#bytes);
      if (kind === 'Z') return this.#finish(asObject(payload), digest, await this.#bytes.take(END_SIGNATURE.length));
      if (kind !== 'T') throw damaged(`a frame "${kind}" in the wrong place`);
      const { table, name } = asObject(payload);
      let rows = 0;
      const found = (count: number): void => void (rows = count);
      yield { table: String(table), name: String(name), blocks: expanded(this.#dataOf(found)), rows: () => rows };
      this.#units++;
      this.#rows += rows;
    }
  }

  async *#dataOf(found: (rows: number) => void): AsyncGenerator<Buffer> {
    for (;;) {
      const { kind, payload } = await readFrame(this.#bytes);
      if (kind === 'E') return found(Number(asObject(payload)['rows']));
      if (kind !== 'D') throw damaged(`a frame "${kind}" in the wrong place`);
      yield payload;
    }
  }

  #finish(trailer: Readonly<Record<string, unknown>>, digest: string, end: Buffer): void {
    const summary = { units: this.#units, rows: this.#rows };
    if (trailer['sha256'] !== digest || !end.equals(END_SIGNATURE)) throw damaged('its checksum is wrong');
    if (trailer['units'] !== summary.units || trailer['rows'] !== summary.rows)
      throw damaged('the number of rows is wrong');
    this.#summary = summary;
  }
}

interface Frame {
  readonly kind: string;
  readonly payload: Buffer;
}

async function readFrame(bytes: ByteReader): Promise<Frame> {
  const head = await bytes.take(FRAME_BYTES);
  const length = head.readUInt32BE(1);
  if (length > MAX_FRAME_BYTES) throw damaged(`a frame of ${length} bytes`);
  const payload = await bytes.take(length);
  if (crc32(payload) !== head.readUInt32BE(5)) throw damaged(`a wrong checksum before byte ${bytes.position}`);
  return { kind: head.toString('latin1', 0, 1), payload };
}

/** Reads exact numbers of bytes from chunks of any size, and hashes them. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #hash = createHash('sha256');
  #chunk: Buffer = Buffer.alloc(0);
  position = 0;

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The digest of everything that was taken so far. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  async take(length: number): Promise<Buffer> {
    const result = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; ) {
      if (this.#chunk.length === 0) await this.#next();
      const copied = this.#chunk.copy(result, at);
      this.#chunk = this.#chunk.subarray(copied);
      at += copied;
    }
    this.#hash.update(result);
    this.position += length;
    return result;
  }

  async #next(): Promise<void> {
    const { value, done } = await this.#chunks.next();
    if (done === true) throw incomplete();
    this.#chunk = value;
  }
}

const foreign = (): UserError =>
  new UserError('this is not a backup of Sluice', 'Name a file that `sluice backup` wrote.');

export const incomplete = (): UserError =>
  new UserError('the backup is incomplete: its end is missing', 'Use another backup, or copy the file again.');

function damaged(what: string): UserError {
  return new UserError(`the backup is damaged: ${what}`, 'Use another backup, or copy the file again.');
}

const compressed = (blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> =>
  inParallel(blocks, (block) => compress(block, { level: LEVEL }));

function expanded(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  return inParallel(blocks, async (block) =>
    expand(block, { maxOutputLength: BLOCK_BYTES }).catch(() => {
      throw damaged('a block cannot be expanded');
    }),
  );
}

/** Keeps the order. */
async function* inParallel(
  blocks: AsyncIterable<Buffer>,
  work: (block: Buffer) => Promise<Buffer>,
): AsyncGenerator<Buffer> {
  const running: Promise<Buffer>[] = [];
  for await (const block of blocks) {
    const result = work(block);
    // It is awaited later; until then its failure must not end the process.
    result.catch(() => undefined);
    running.push(result);
    const first = running.length < CONCURRENT_BLOCKS ? undefined : running.shift();
    if (first !== undefined) yield await first;
  }
  for (const result of running) yield await result;
}

const asJson = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

function asObject(payload: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(payload.toString());
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The same error as for another value.
  }
  throw damaged('a frame that is not JSON');
}

const NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const VALUE = String.raw`\((?:-?\d+|'[-+0-9 :.]+')\)`;
const BOUND = new RegExp(`^(?:DEFAULT|FOR VALUES FROM ${VALUE} TO ${VALUE})$`);

/** Refuses a header with other texts than names and bounds: they become parts of statements. */
function checkHeader({ migrations, tables, partitions, sequences }: Header): void {
  const lists = [migrations, tables, partitions, sequences];
  const names = lists.every(Array.isArray)
    ? [...tables, ...partitions, ...sequences].flatMap((each) => [
        each.name,
        ...('columns' in each ? each.columns : []),
      ])
    : [null];
  if (!names.every((name) => typeof name === 'string' && NAME.test(name))) throw damaged('a name in its header');
  if (!partitions.every(({ table, bound }) => NAME.test(table) && BOUND.test(bound)))
    throw damaged('a partition in its header');
}
