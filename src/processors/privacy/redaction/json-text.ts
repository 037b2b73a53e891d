/**
 * Replaces strings inside a JSON text one by one: keys, values, and numbers if a rule applies to numbers. The text is
 * scanned, not parsed, so that integers keep all digits and nothing else changes.
 */

import type { Steps } from '../../../pdata/steps.ts';
import { LONG_TEXT } from './redactor.ts';

export interface JsonReplacer {
  /** The string itself when nothing changes; null when it cannot be redacted. */
  text(value: string): string | null;
  /** The same in steps, for strings of more than `LONG_TEXT` characters. */
  longText(value: string): Steps<string | null>;
  /** The same for the digits of a number; a changed number becomes a string. */
  number(written: string): string | null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** Characters between two steps. */
const STEP = 65_536;
/** Parts that are joined in one step. */
const JOINED_PARTS = 4096;

/** The text itself when nothing changed; null when a part of it cannot be redacted. */
export function* redactJson(json: string, replacer: JsonReplacer): Steps<string | null> {
  const whole: string[] = [];
  let parts: string[] = [];
  const taken = new Map<string, number>();
  let copied = 0;
  let at = 0;
  const put = (from: number, to: number, value: string): void => {
    parts.push(json.slice(copied, from), JSON.stringify(value));
    copied = to;
  };
  let pause = STEP;
  while (at < json.length) {
    if (at > pause) {
      pause = at + STEP;
      yield;
    }
    if (parts.length >= JOINED_PARTS) {
      whole.push(parts.join(''));
      parts = [];
    }
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(json, at);
      const value = JSON.parse(json.slice(at, end)) as string;
      const replaced = value.length > LONG_TEXT ? yield* replacer.longText(value) : replacer.text(value);
      if (replaced === null) return null;
      if (replaced !== value) put(at, end, json.charAt(end) === ':' ? unique(replaced, taken) : replaced);
      at = end;
    } else if (isDigit(code)) {
      NUMBER.lastIndex = at;
      const written = NUMBER.exec(json)?.[0] ?? '';
      const replaced = replacer.number(written);
      if (replaced === null) return null;
      if (replaced !== written) put(at, at + written.length, replaced);
      at += Math.max(written.length, 1);
    } else {
      at++;
    }
  }
  if (copied === 0) return json;
  whole.push(...parts, json.slice(copied));
  return whole.join('');
}

/** Two different keys may become the same; from the second one on they get a number. */
export function unique(key: string, taken: Map<string, number>): string {
  const count = (taken.get(key) ?? 0) + 1;
  taken.set(key, count);
  return count === 1 ? key : `${key}#${count}`;
}

function endOfString(json: string, begin: number): number {
  let at = begin + 1;
  for (;;) {
    const quote = json.indexOf('"', at);
    if (quote < 0) return json.length;
    let slashes = 0;
    while (json.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++;
    at = quote + 1;
    if (slashes % 2 === 0) return at;
  }
}

const isDigit = (code: number): boolean => (code >= 0x30 && code <= 0x39) || code === 0x2d;
