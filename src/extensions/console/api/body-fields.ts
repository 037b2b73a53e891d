/** Reads the fields of a JSON body, and refuses values of another type. */
import { parseMoment } from '../../../component/moment.ts';
import { ROLES, type Role } from '../../../component/capabilities/people.ts';
import { ConsoleError } from '../errors.ts';

type Body = Readonly<Record<string, unknown>>;

const LONGEST_TEXT = 1000;
const LONGEST_LIST = 1000;

/** PostgreSQL does not take U+0000, and no half of a surrogate pair. */
const NOT_STORABLE = /[\0\p{Surrogate}]/u;
const EXPECTED_TEXT = `a text of at most ${LONGEST_TEXT} characters without U+0000 or half of a surrogate pair`;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST_TEXT && !NOT_STORABLE.test(value);

const wrong = (field: string, expected: string): ConsoleError =>
  new ConsoleError('body_invalid', { message: `"${field}" must be ${expected}.` });

/** Null when it is null or left out. */
export function textIn(body: Body, field: string): string | null {
  const value = body[field] ?? null;
  if (value === null) return null;
  if (!isText(value)) throw wrong(field, EXPECTED_TEXT);
  return value;
}

export function requiredTextIn(body: Body, field: string): string {
  const value = textIn(body, field);
  if (value === null || value === '') throw wrong(field, EXPECTED_TEXT);
  return value;
}

/** Undefined when it is left out. */
export function flagIn(body: Body, field: string): boolean | undefined {
  const value = body[field];
  if (value !== undefined && typeof value !== 'boolean') throw wrong(field, 'true or false');
  return value;
}

/** Null when it is null or left out. */
export function countIn(body: Body, field: string): number | null {
  const value = body[field] ?? null;
  if (value !== null && !(Number.isSafeInteger(value) && Number(value) >= 0)) throw wrong(field, 'a whole number');
  return value === null ? null : Number(value);
}

export function wordIn<Word extends string>(body: Body, field: string, words: readonly Word[]): Word | undefined {
  const value = body[field];
  if (value === undefined) return undefined;
  const word = words.find((each) => each === value);
  if (word === undefined) throw wrong(field, `one of ${words.join(', ')}`);
  return word;
}

export const roleIn = (body: Body, field: string): Role | undefined => wordIn(body, field, ROLES);

/** Undefined when it is left out; null: all. */
export function textsIn(body: Body, field: string): readonly string[] | null | undefined {
  const value = body[field];
  if (value === undefined || value === null) return value;
  if (!Array.isArray(value) || value.length > LONGEST_LIST || !value.every(isText))
    throw wrong(field, `a list of at most ${LONGEST_LIST} texts`);
  return value;
}

/** RFC 3339. Null when it is null or left out. */
export function timeIn(body: Body, field: string): Date | null {
  const text = textIn(body, field);
  if (text === null) return null;
  const time = new Date(parseMoment(text));
  if (!/^\d{4}-\d\d-\d\dT/u.test(text) || Number.isNaN(time.getTime()))
    throw wrong(field, 'a time such as 2026-11-20T14:05:09Z');
  return time;
}
