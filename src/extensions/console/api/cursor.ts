/** Positions in a list, as opaque texts. A cursor belongs to one list: with another filter it is refused. */
import { createHash } from 'node:crypto';
import { LATEST_NS } from '../../../component/moment.ts';
import { ConsoleError } from '../errors.ts';

const VERSION = 1;
const MAX_LENGTH = 2048;
const HASH_DIGITS = 16;

export type Place = readonly string[];

/** `question`: everything that decides which rows are in the list, and their order. */
export function writeCursor(question: readonly string[], place: Place): string {
  return Buffer.from(JSON.stringify([VERSION, hashOf(question), ...place])).toString('base64url');
}

/** Whether a text can be a part of a place. */
export type PartCheck = (part: string) => boolean;

/** Null: from the beginning. */
export function readCursor(
  text: string | null,
  question: readonly string[],
  parts: readonly PartCheck[],
): Place | null {
  if (text === null || text === '') return null;
  const [version, hash, ...place] = decode(text);
  const isValid =
    version === VERSION &&
    hash === hashOf(question) &&
    place.length === parts.length &&
    place.every((part, at) => typeof part === 'string' && parts[at]?.(part) === true);
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

/** Nanoseconds that a column can hold. Anyone can write a cursor, so its numbers are checked too. */
export const isStoredTime: PartCheck = (part) => /^\d{1,19}$/u.test(part) && BigInt(part) <= LATEST_NS;
export const isTraceId: PartCheck = (part) => /^[0-9a-f]{32}$/u.test(part);
/** How many rows of that time were returned already. */
export const isCount: PartCheck = (part) => /^\d{1,9}$/u.test(part);

/** The place of a span within its trace. */
export interface SpanPlace {
  /** Its start in nanoseconds. */
  readonly ns: string;
  readonly id: Buffer;
}

/** The parameter `after`: `START.ID`; null: from the first span. */
export function readSpanPlace(text: string | null): SpanPlace | null {
  if (text === null || text === '') return null;
  const [, ns = '', id = ''] = /^(\d{1,19})\.([0-9a-f]{16})$/u.exec(text) ?? [];
  if (!isStoredTime(ns)) throw noPlace();
  return { ns, id: Buffer.from(id, 'hex') };
}

/** The place of a log record within its trace. Records have no id. */
export interface LogPlace {
  /** Its time in nanoseconds. */
  readonly ns: string;
  /** How many records of that time, and later, are passed. */
  readonly passed: string;
}

/** The parameter `after`: `TIME.PASSED`, or a number, which counts from the first record; null: from the first. */
export function readLogPlace(text: string | null): LogPlace | null {
  if (text === null || text === '') return null;
  const [, ns = '0', passed = ''] = /^(?:(\d{1,19})\.)?(\d{1,9})$/u.exec(text) ?? [];
  if (!isStoredTime(ns) || !isCount(passed)) throw noPlace();
  return { ns, passed };
}

const noPlace = (): ConsoleError =>
  new ConsoleError('cursor_invalid', {
    message: '`after` is no `next` of an answer.',
    hint: 'Begin again without `after`.',
  });
