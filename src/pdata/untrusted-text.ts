/** Texts of senders that mislead people, models or programs for tables. The page of the console imports it too. */

/** Scripts in which a joiner or a non-joiner between two letters changes how they look, as in Persian and Hindi. */
const JOINING = 'Arab Syrc Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr'
  .split(' ')
  .map((script) => `\\p{sc=${script}}`)
  .join('');
/** Joiners that are seen: between the pictures of one emoji, as of a family, and between such letters. */
const SEEN = `(?<=\\p{ExtPict}[\\ufe0f\\p{EMod}]?)\\u200d(?=\\p{ExtPict})|(?<=[${JOINING}])[\\u200c\\u200d](?=[${JOINING}])`;
const INVISIBLE = '\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\u115f\\u1160\\u3164\\uffa0';
/** Control characters, directions of writing, invisible characters and halves of surrogate pairs. */
const HIDDEN = new RegExp(`(?!${SEEN})[\\p{Cc}${INVISIBLE}]`, 'gu');
/** `HIDDEN` without tabs and line ends. */
const HIDDEN_IN_TEXT = new RegExp(`[^\\P{Cc}\\t\\n]|(?!${SEEN})[${INVISIBLE}]`, 'gu');
/** A letter with many combining marks covers the lines around it. */
const MARKS = /([\p{Mn}\p{Me}]{2})[\p{Mn}\p{Me}]+/gu;
const FORMULA = /^[=+\-@\t\r]/u;

/** One line. Hidden characters are shown as their code, `‹U+202E›`. */
export const visibleLine = (text: string): string => visible(text.replace(/[\t\n\r ]+/gu, ' '), HIDDEN);

/** Hidden characters as their code. Tabs and line ends stay. */
export const visibleText = (text: string): string => visible(text.replaceAll('\r\n', '\n'), HIDDEN_IN_TEXT);

const visible = (text: string, hidden: RegExp): string => text.replace(hidden, codeOf).replace(MARKS, '$1');

function codeOf(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
}

/** A program for tables runs a text with these first characters as a formula. */
export const isFormula = (text: string): boolean => FORMULA.test(text);
