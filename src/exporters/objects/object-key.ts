/**
 * The ids and keys of objects. An id is its time and 16 random bytes, so that no two objects have one id, whatever the
 * clocks of replicas say. Keys are spread over 256 prefixes, because stores limit the requests of a prefix.
 */
import { randomBytes } from 'node:crypto';

/** All keys of the exporter begin with it. */
export const PREFIX = 'ingest/';
const TIME_BYTES = 6;
const RANDOM_BYTES = 16;
const ID_BYTES = TIME_BYTES + RANDOM_BYTES;
const KEY = new RegExp(
  `^${PREFIX}[0-9a-f]{2}/\\d{4}-\\d\\d-\\d\\d/([0-9a-f]{${ID_BYTES * 2}})\\.ndjson\\.(?:gz|zst)$`,
  'u',
);

const EXTENSIONS = { gzip: 'gz', zstd: 'zst' } as const;

export type Codec = keyof typeof EXTENSIONS;

/** `nowMs`: Unix milliseconds. */
export function newObjectId(nowMs: number): Buffer {
  const time = Buffer.alloc(TIME_BYTES);
  time.writeUIntBE(nowMs, 0, TIME_BYTES);
  return Buffer.concat([time, randomBytes(RANDOM_BYTES)]);
}

/** `ingest/<two digits>/<day>/<id>.ndjson.gz` or `.zst`. */
export function keyOf(id: Buffer, codec: Codec): string {
  const hex = id.toString('hex');
  const day = new Date(id.readUIntBE(0, TIME_BYTES)).toISOString().slice(0, 10);
  return `${PREFIX}${hex.slice(-2)}/${day}/${hex}.ndjson.${EXTENSIONS[codec]}`;
}

/** Null for a key that is not of an object of this exporter. */
export function idOf(key: string): Buffer | null {
  const hex = KEY.exec(key)?.[1];
  return hex === undefined ? null : Buffer.from(hex, 'hex');
}
