/**
 * The format of stored keys: `slc_` (API keys, which write) or `slr_` (read tokens of the console) + 8 characters of
 * public id + `_` + 43 characters of secret + 6 of checksum. A key with a wrong checksum is refused without a lookup.
 * Only the SHA-256 of the whole text is stored.
 */
import { hash, randomBytes, randomInt } from 'node:crypto';

const FORMAT = /^(slc|slr)_([0-9A-Za-z]{8})_[0-9A-Za-z_-]{43}([0-9A-Za-z_-]{6})$/;
const API_KEY = 'slc';
const READ_TOKEN = 'slr';
const PUBLIC_ID_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
export const PUBLIC_ID_LENGTH = 8;
const SECRET_BYTES = 32; // 43 characters of base64url
const CHECKSUM_LENGTH = 6;

export interface NewKey {
  readonly text: string;
  readonly publicId: string;
  readonly hash: Uint8Array;
}

/** Creates a key. The text is shown once; `hash` and `publicId` are stored. */
export const createApiKey = (): NewKey => create(API_KEY);
export const createReadToken = (): NewKey => create(READ_TOKEN);

/** The public id of a well-formed key, or null. The key may not exist. */
export const publicIdOf = (text: string): string | null => publicIdIn(API_KEY, text);
export const publicIdOfReadToken = (text: string): string | null => publicIdIn(READ_TOKEN, text);

function create(prefix: string): NewKey {
  const publicId = Array.from(
    { length: PUBLIC_ID_LENGTH },
    () => PUBLIC_ID_ALPHABET[randomInt(PUBLIC_ID_ALPHABET.length)],
  ).join('');
  const body = `${prefix}_${publicId}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  const text = body + checksumOf(body);
  return { text, publicId, hash: hashApiKey(text) };
}

function publicIdIn(prefix: string, text: string): string | null {
  const [, written, publicId = null, checksum] = FORMAT.exec(text) ?? [];
  return written === prefix && checksum === checksumOf(text.slice(0, -CHECKSUM_LENGTH)) ? publicId : null;
}

export function hashApiKey(text: string): Uint8Array {
  return hash('sha256', text, 'buffer');
}

function checksumOf(body: string): string {
  return hash('sha256', `sluice key checksum:${body}`, 'base64url').slice(0, CHECKSUM_LENGTH);
}
