/**
 * The format of a stored API key: `slc_` + 8 characters of public id + `_` + 43 characters of secret + 6 of checksum. A
 * key with a wrong checksum is refused without a lookup. Only the SHA-256 of the whole text is stored.
 */
import { hash, randomBytes, randomInt } from 'node:crypto';

const FORMAT = /^slc_([0-9A-Za-z]{8})_[0-9A-Za-z_-]{43}([0-9A-Za-z_-]{6})$/;
const PUBLIC_ID_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PUBLIC_ID_LENGTH = 8;
const SECRET_BYTES = 32; // 43 characters of base64url
const CHECKSUM_LENGTH = 6;

/** Creates a key. The text is shown once; `hash` and `publicId` are stored. */
export function createApiKey(): { readonly text: string; readonly publicId: string; readonly hash: Uint8Array } {
  const publicId = Array.from(
    { length: PUBLIC_ID_LENGTH },
    () => PUBLIC_ID_ALPHABET[randomInt(PUBLIC_ID_ALPHABET.length)],
  ).join('');
  const body = `slc_${publicId}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  const text = body + checksumOf(body);
  return { text, publicId, hash: hashApiKey(text) };
}

/** The public id of a well-formed key, or null. The key may not exist. */
export function publicIdOf(text: string): string | null {
  const match = FORMAT.exec(text);
  if (match === null || match[2] !== checksumOf(text.slice(0, -CHECKSUM_LENGTH))) return null;
  return match[1] ?? null;
}

export function hashApiKey(text: string): Uint8Array {
  return hash('sha256', text, 'buffer');
}

function checksumOf(body: string): string {
  return hash('sha256', `sluice key checksum:${body}`, 'base64url').slice(0, CHECKSUM_LENGTH);
}
