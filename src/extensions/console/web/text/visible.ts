/** Untrusted texts. Every text of the page is a text node; these functions make misleading characters visible. */
import type { Count } from '../../../../pdata/exact-json.ts';

/** Control characters, directions of writing, invisible characters and halves of surrogate pairs. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;
const MARKS = /([\p{Mn}\p{Me}]{2})[\p{Mn}\p{Me}]+/gu;
/** A name beyond this is cut; the panel of a span shows all of it. */
const LONGEST_NAME = 300;

/** A name on one line: hidden characters are shown as their code, `‹U+202E›`. */
export function visible(text: string): string {
  const cut = text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text;
  return cut
    .replace(/[\t\n\r ]+/gu, ' ')
    .replace(HIDDEN, codeOf)
    .replace(MARKS, '$1');
}

function codeOf(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
}

/** The name of a downloaded file, made of ids only. */
export const fileName = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/gu, '-')
    .slice(0, 80);

/** A cell of CSV. A program for tables must not read it as a formula. */
export function csvCell(value: string | Count | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const safe = /^[=+\-@\t\r]/u.test(value) ? `'${value}` : value;
  return /[",\n\r]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
