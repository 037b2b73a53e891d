/** Untrusted texts. Every text of the page is a text node; these functions make misleading characters visible. */
import type { Count } from '../../../../pdata/exact-json.ts';
import { isFormula, visibleLine } from '../../../../pdata/untrusted-text.ts';

/** A name beyond this is cut; the panel of a span shows all of it. */
const LONGEST_NAME = 300;

/** A name on one line: hidden characters are shown as their code, `‹U+202E›`. */
export function visible(text: string): string {
  const cut = text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text;
  return visibleLine(cut);
}

/** The name of a downloaded file, made of ids only. */
export const fileName = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/gu, '-')
    .slice(0, 80);

/** A cell of CSV. */
export function csvCell(value: string | Count | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const safe = isFormula(value) ? `'${value}` : value;
  return /[",\n\r]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
