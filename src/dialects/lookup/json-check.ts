/**
 * Checks whether a text is JSON of a bounded depth, before it is parsed: an exception of the parser costs a hundred
 * times more than this scan, and writing a document that is nested thousands of levels deep overflows the stack.
 */

/** Deeper documents are not read. */
const MAX_DEPTH = 128;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const SMALL_E = 0x65;
const SMALL_U = 0x75;
const CASE_BIT = 0x20;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** From an opening bracket to the one that closes it. */
const TO_CLOSER = 2;
const ESCAPED = '"\\/bfnrt';
const WORDS: readonly string[] = ['true', 'false', 'null'];
const FAULT = -1;

export function isJson(text: string): boolean {
  const closers: number[] = [];
  for (let at = 0; ; ) {
    at = afterSpace(text, at);
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (closers.length === MAX_DEPTH) return false;
      closers.push(code + TO_CLOSER);
      at = afterSpace(text, at + 1);
      if (text.charCodeAt(at) !== code + TO_CLOSER) {
        if (code === OPEN_BRACE) at = afterKey(text, at);
        if (at === FAULT) return false;
        continue;
      }
    } else {
      at = afterScalar(text, at, code);
      if (at === FAULT) return false;
    }
    at = afterValue(text, at, closers);
    if (at === FAULT || closers.length === 0) return at === text.length;
  }
}

/**
 * The position after the closing brackets, the comma and the key that follow a value. Removes the closed brackets from
 * the list.
 */
function afterValue(text: string, from: number, closers: number[]): number {
  for (let at = afterSpace(text, from); ; at = afterSpace(text, at + 1)) {
    const closer = closers.at(-1);
    if (closer === undefined) return at;
    const code = text.charCodeAt(at);
    if (code === COMMA) return closer === CLOSE_BRACE ? afterKey(text, afterSpace(text, at + 1)) : at + 1;
    if (code !== closer) return FAULT;
    closers.pop();
  }
}

function afterSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at++;
  }
}

function afterKey(text: string, from: number): number {
  const at = afterString(text, from);
  if (at === FAULT) return FAULT;
  const colon = afterSpace(text, at);
  return text.charCodeAt(colon) === COLON ? colon + 1 : FAULT;
}

function afterString(text: string, from: number): number {
  if (text.charCodeAt(from) !== QUOTE) return FAULT;
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < 0x20) return FAULT;
    if (code !== BACKSLASH) continue;
    at++;
    if (text.charCodeAt(at) !== SMALL_U) {
      if (at >= text.length || !ESCAPED.includes(text.charAt(at))) return FAULT;
      continue;
    }
    for (const last = at + 4; at < last; at++) if (!isHex(text.charCodeAt(at + 1))) return FAULT;
  }
  return FAULT;
}

function isHex(code: number): boolean {
  const letter = code | CASE_BIT;
  return isDigit(code) || (letter >= 0x61 && letter <= 0x66);
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 0x39;
}

function afterScalar(text: string, at: number, code: number): number {
  if (code === QUOTE) return afterString(text, at);
  if (code === MINUS || isDigit(code)) return afterNumber(text, code === MINUS ? at + 1 : at);
  const word = WORDS.find((each) => text.startsWith(each, at));
  return word === undefined ? FAULT : at + word.length;
}

function afterNumber(text: string, from: number): number {
  let at = text.charCodeAt(from) === ZERO ? from + 1 : afterDigits(text, from);
  if (at !== FAULT && text.charCodeAt(at) === POINT) at = afterDigits(text, at + 1);
  if (at === FAULT || (text.charCodeAt(at) | CASE_BIT) !== SMALL_E) return at;
  const sign = text.charCodeAt(at + 1);
  return afterDigits(text, sign === PLUS || sign === MINUS ? at + 2 : at + 1);
}

function afterDigits(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at++;
  return at === from ? FAULT : at;
}
