/**
 * A source of configuration text and places in it. Converts an offset to `file:line:column` and to an excerpt with a
 * caret. Excerpts are safe to print: secrets are masked and control characters are replaced by dots.
 */
import { maskUrls } from '../component/masked-url.ts';

export interface Source {
  /** The name that the user gave: a path, or `--set`. */
  readonly name: string;
  readonly text: string;
}

/** A range of a source. `length` is 0 for a point. */
export interface Origin {
  readonly source: Source;
  readonly offset: number;
  readonly length: number;
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * Longer lines are cut around the place, so that they fit 80 columns with their number. Below a line that a terminal
 * wraps, the caret is at the wrong place.
 */
const EXCERPT_WIDTH = 70;
const CONTEXT_BEFORE = 30;

/** Options whose literal values are masked even without a schema, as in a file that is not valid YAML. */
const SECRET_LINE =
  /((?:^|[\s{,-])["']?(?:[\w-]*(?:password|passwd|secret|token)|(?:[\w-]*_)?key|api[_-]?key|authorization)["']?\s*[:=]\s*)("[^"]*"?|'[^']*'?|[^\s,}\]#]+)/giu;
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u2000-\u200f\u2028-\u202f\u2060-\u2069\u3000\ufeff]/gu;

function positionOf(origin: Origin): Position {
  const before = origin.source.text.slice(0, origin.offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let at = before.indexOf('\n'); at !== -1; at = before.indexOf('\n', at + 1)) line += 1;
  return { line, column: origin.offset - lineStart + 1 };
}

export function placeOf(origin: Origin): string {
  const { line, column } = positionOf(origin);
  return `${origin.source.name}:${line}:${column}`;
}

/** The line of an origin and a caret line below it. `secrets` are ranges of any source that must not be shown. */
export function excerptOf(origin: Origin, secrets: readonly Origin[]): readonly string[] {
  const { text } = origin.source;
  const lineStart = text.lastIndexOf('\n', origin.offset - 1) + 1;
  const lineEnd = text.indexOf('\n', origin.offset) === -1 ? text.length : text.indexOf('\n', origin.offset);
  const masked = maskLine(text.slice(lineStart, lineEnd), lineStart, origin.source, secrets);
  const column = origin.offset - lineStart;
  const most = Math.max(0, masked.length - EXCERPT_WIDTH);
  const cut = column > EXCERPT_WIDTH - CONTEXT_BEFORE ? Math.min(column - CONTEXT_BEFORE, most) : 0;
  const shown = masked.slice(cut, cut + EXCERPT_WIDTH).trimEnd();
  const prefix = cut > 0 ? '…' : '';
  const suffix = masked.length > cut + EXCERPT_WIDTH ? '…' : '';
  const carets = Math.max(1, Math.min(origin.length, shown.length - (column - cut)));
  const number = String(positionOf(origin).line).padStart(5);
  const indent = ' '.repeat(prefix.length + column - cut);
  return [`${number} | ${prefix}${shown}${suffix}`, `${' '.repeat(5)} | ${indent}${'^'.repeat(carets)}`];
}

/** Masks secrets without changing the width, so that columns stay correct. */
function maskLine(line: string, lineStart: number, source: Source, secrets: readonly Origin[]): string {
  let masked = line;
  for (const secret of secrets) {
    if (secret.source !== source) continue;
    const from = Math.max(0, secret.offset - lineStart);
    const to = Math.min(line.length, secret.offset + secret.length - lineStart);
    if (from < to) masked = masked.slice(0, from) + stars(to - from) + masked.slice(to);
  }
  return maskText(masked).replaceAll('\t', ' ').replace(/\r$/u, '');
}

/** Masks text that looks like a secret in text of unknown structure. References to variables stay readable. */
function maskText(text: string): string {
  const lines = text.replace(SECRET_LINE, (whole, name: string, value: string) =>
    /^["']?\$\{/u.test(value) ? whole : name + stars(value.length),
  );
  return maskUrls(lines, ({ length }) => stars(length)).replace(UNPRINTABLE, '·');
}

/** Makes characters visible that control a terminal or the direction of text. */
export const printable = (text: string): string => text.replace(UNPRINTABLE, '·');

const stars = (length: number): string => '*'.repeat(length);
