/** Tokens of links and sessions: 256 random bits, stored as SHA-256. */
import { hash, randomBytes } from 'node:crypto';

const BYTES = 32;
const FORM = /^[A-Za-z0-9_-]{43}$/u;

export const LINK_LIFETIME_MS = 15 * 60_000;

export interface Secret {
  readonly text: string;
  readonly hash: Uint8Array;
}

export function createSecret(): Secret {
  const text = randomBytes(BYTES).toString('base64url');
  return { text, hash: hashOf(text) };
}

/** The hash of a token; null when the text does not have its form. */
export function hashOfSecret(text: string): Uint8Array | null {
  return FORM.test(text) ? hashOf(text) : null;
}

/** The token travels in the fragment, which browsers send to no server, log or proxy. */
export function linkOf(origin: string, { text }: Secret): string {
  return `${origin}/login#${text}`;
}

function hashOf(text: string): Uint8Array {
  return hash('sha256', text, 'buffer');
}
