/**
 * Untrusted text on a terminal. Names and messages come from senders: characters that move the cursor, change colours
 * or change the direction of writing are removed, and widths are counted in columns, not in code units.
 */

/** The escape codes of `Style`, which have no width. */
const PAINT = /\u001b\[\d+m/gu;
const INVISIBLE = /\p{Cf}/gu;
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
const UNSAFE_IN_JSON = /[\u007f-\u009f\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu;
const MARK = /^[\p{Mn}\p{Me}]$/u;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;
const LINE_END = /\r\n|[\n\r\u2028\u2029\u0085]/u;
const REPLACEMENT = '\ufffd';
const ELLIPSIS = '…';
/** A letter with hundreds of combining marks takes one column and would cover the lines around it. */
const MARKS_PER_LETTER = 2;
/** Longer texts are not processed to their end. */
const LONGEST = 20_000;

/** One line of safe text: white space as single spaces, control characters replaced. */
export function clean(text: string): string {
  return text.slice(0, LONGEST).replace(/\s+/gu, ' ').replace(INVISIBLE, '').replace(UNPRINTABLE, REPLACEMENT).trim();
}

/**
 * Safe lines of a text, broken at `width` columns, at most `most`; `whole` is false when there are more. Indentation
 * stays, because texts contain code.
 */
export function wrap(
  text: string,
  width: number,
  most: number,
): { readonly lines: readonly string[]; readonly whole: boolean } {
  const lines: string[] = [];
  // A line takes at most this many characters: two columns each, and marks.
  const seen = text.slice(0, most * width * (1 + MARKS_PER_LETTER));
  for (const line of seen.split(LINE_END)) {
    const safe = line.replaceAll('\t', '  ').replace(INVISIBLE, '').replace(UNPRINTABLE, REPLACEMENT).trimEnd();
    for (const piece of breakLine(safe, Math.max(1, width))) {
      if (lines.length === most) return { lines, whole: false };
      lines.push(piece);
    }
  }
  while (lines.at(-1) === '') lines.pop();
  return { lines, whole: seen.length === text.length };
}

/** After a space where the line has one in its second half. */
function breakLine(line: string, width: number): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  let marks = 0;
  for (const letter of line) {
    const wide = widthOfLetter(letter);
    marks = wide === 0 ? marks + 1 : 0;
    if (marks > MARKS_PER_LETTER) continue;
    if (used + wide > width) {
      const space = piece.lastIndexOf(' ');
      const end = space > piece.length / 2 ? space + 1 : piece.length;
      pieces.push(piece.slice(0, end).trimEnd());
      piece = piece.slice(end);
      used = widthOf(piece);
    }
    piece += letter;
    used += wide;
  }
  return [...pieces, piece];
}

/** The columns of the text, without the codes of `Style`. */
export function widthOf(text: string): number {
  let width = 0;
  for (const letter of text.replace(PAINT, '')) width += widthOfLetter(letter);
  return width;
}

/** At most `width` columns of clean text; a cut text ends in an ellipsis. */
export function cut(text: string, width: number): string {
  if (width <= 0) return '';
  let used = 0;
  let marks = 0;
  let kept = '';
  let whole = true;
  for (const letter of clean(text)) {
    const wide = widthOfLetter(letter);
    marks = wide === 0 ? marks + 1 : 0;
    if (marks > MARKS_PER_LETTER) continue;
    if (used + wide > width) {
      whole = false;
      break;
    }
    used += wide;
    kept += letter;
  }
  if (whole) return kept;
  const letters = [...kept];
  while (used > width - 1) used -= widthOfLetter(letters.pop() ?? ' ');
  return letters.join('') + ELLIPSIS;
}

/** Pads with spaces to `width` columns; the text may contain the codes of `Style`. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

export function padLeft(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text;
}

/**
 * JSON that is safe on a terminal: control characters are escaped, so the data is unchanged. An integer beyond 2^53 - 1
 * is written as a decimal string, because most JSON parsers would round the number.
 */
export function asJson(value: unknown): string {
  return escapeJson(JSON.stringify(value, exactInteger, 2));
}

/** As `asJson`, for JSON that is written already. */
export function escapeJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, (letter) =>
    Array.from({ length: letter.length }, (_, at) => `\\u${letter.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}

function exactInteger(_key: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

function widthOfLetter(letter: string): number {
  if (letter < '\u0300') return 1;
  if (MARK.test(letter)) return 0;
  return WIDE.test(letter) ? 2 : 1;
}
