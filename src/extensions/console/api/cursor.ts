/** Positions in a list, as opaque texts. A cursor belongs to one question: with another filter it is refused. */
import { createHash } from 'node:crypto';
import { ConsoleError } from '../errors.ts';

const VERSION = 1;
const MAX_LENGTH = 2048;
const HASH_DIGITS = 16;

export type Place = readonly string[];

/** `question`: everything that decides which rows are in the list, and their order. */
export function writeCursor(question: readonly string[], place: Place): string {
  return Buffer.from(JSON.stringify([VERSION, hashOf(question), ...place])).toString('base64url');
}

/** Null: from the beginning. `parts`: what each part of the place looks like. */
export function readCursor(text: string | null, question: readonly string[], parts: readonly RegExp[]): Place | null {
  if (text === null || text === '') return null;
  const [version, hash, ...place] = decode(text);
  const isValid =
    version === VERSION &&
    hash === hashOf(question) &&
    place.length === parts.length &&
    place.every((part, at) => typeof part === 'string' && parts[at]?.test(part) === true);
  if (!isValid) throw new ConsoleError('cursor_invalid');
  return place as Place;
}

function decode(text: string): readonly unknown[] {
  try {
    const value: unknown = text.length > MAX_LENGTH ? null : JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

const hashOf = (question: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(question)).digest('hex').slice(0, HASH_DIGITS);

/** Parts of places. */
export const TIME_PART = /^\d{1,19}$/u;
export const TRACE_PART = /^[0-9a-f]{32}$/u;
