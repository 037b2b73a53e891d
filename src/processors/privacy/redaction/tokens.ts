/** Secrets that are recognised by the text around them: bearer tokens, JWTs, private keys, passwords in URLs. */
import {
  ALPHANUMERIC,
  BASE64_URL,
  classOf,
  DASH,
  DIGIT,
  DOT,
  endOfMixedRun,
  endOfRun,
  isDigit,
  LONGEST_RUN,
  type Run,
  type Scan,
  UNDERSCORE,
} from './scan.ts';

const MIN_TOKEN = 8;
/** Words of prose are shorter. */
const LONG_WORD = 20;
/** Case-insensitive, without unbounded repetition. */
const INTRODUCTION =
  /bearer[ \t]{1,4}|authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:(?:basic|bearer|token|negotiate|digest|apikey)[ \t]{1,4})?/iy;
const SMALL_A = 0x61;
const SMALL_B = 0x62;
const SMALL_E = 0x65;
const SMALL_T = 0x74;
const SMALL_U = 0x75;
const CASE_BIT = 0x20;
const TOKEN: Run = { classes: BASE64_URL | DOT, also: '~+/=:' };

/** Only the token is replaced; the word before it stays. */
export const scanBearerTokens: Scan = (text, start, end, found, cut) => {
  let at = start;
  while (at < end) {
    const letter = text.charCodeAt(at) | CASE_BIT;
    const introduction = letter === SMALL_A || letter === SMALL_B ? endOfIntroduction(text, at) : -1;
    if (introduction < 0) {
      at++;
      continue;
    }
    // A match inside a token introduces only what follows the token.
    at = introduction;
    if (introduction < (found.at(-1) ?? 0)) continue;
    const to = endOfMixedRun(text, introduction, TOKEN);
    if (to - introduction >= MIN_TOKEN && (letter === SMALL_A || isTokenLike(text, introduction, to)))
      found.push(introduction, to);
    if (to - introduction < LONGEST_RUN) continue;
    cut.push(TOKEN);
    return to;
  }
  return at;
};

function endOfIntroduction(text: string, at: number): number {
  // Two more letters reject nearly everything before the expression runs.
  const second = text.charCodeAt(at + 1) | CASE_BIT;
  const third = text.charCodeAt(at + 2) | CASE_BIT;
  if (second === SMALL_E ? third !== SMALL_A : second !== SMALL_U || third !== SMALL_T) return -1;
  INTRODUCTION.lastIndex = at;
  return INTRODUCTION.test(text) ? INTRODUCTION.lastIndex : -1;
}

/** After `bearer`, a word of prose is no token. */
function isTokenLike(text: string, from: number, to: number): boolean {
  if (to - from >= LONG_WORD) return true;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if ((classOf(code) & (DIGIT | UNDERSCORE | DOT)) !== 0 || '=~+/'.includes(text.charAt(at))) return true;
  }
  return false;
}

const JWT_BEGIN = 'eyJ';
const MIN_HEADER = 10;
const MIN_PAYLOAD = 4;

const LONG_JWT: Run = { classes: BASE64_URL | DOT, also: '' };

/**
 * Three parts in base64 with dots between them, or the five of an encrypted token, whose second one may be empty. The
 * first begins a JSON object and is shorter than the longest run.
 */
export const scanJwts: Scan = (text, start, end, found, cut) => {
  for (let from = text.indexOf(JWT_BEGIN, start); from >= 0; ) {
    if (from >= end) return from;
    const header = endOfRun(text, from, BASE64_URL);
    const payload = afterPart(text, header);
    const third = afterPart(text, payload);
    const fourth = afterPart(text, third);
    const fifth = afterPart(text, fourth);
    const isEncrypted = payload > header && third > payload + 1 && fourth > third + 1 && fifth > fourth + 1;
    let next = header;
    if (header - from >= MIN_HEADER && (isEncrypted || payload - header > MIN_PAYLOAD)) {
      next = isEncrypted ? fifth : third;
      found.push(from, next);
      if (next - header > LONGEST_RUN) {
        cut.push(LONG_JWT);
        return next;
      }
    }
    from = text.indexOf(JWT_BEGIN, next);
  }
  return text.length;
};

/** The end of the part after a dot at `at`; `at` without a dot. */
function afterPart(text: string, at: number): number {
  return text.charAt(at) === '.' ? endOfRun(text, at + 1, BASE64_URL) : at;
}

const PEM_BEGIN = '-----BEGIN ';
const PEM_END = '-----END';
const PEM_DASHES = '-----';
const PEM_REST = /(?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----/y;
/** Characters of the last line. */
const PEM_LAST_LINE = 80;

/** From the first line to the last, or to the end of the text when the last line is missing. */
export const scanPrivateKeys: Scan = (text, start, end, found) => {
  for (let from = text.indexOf(PEM_BEGIN, start); from >= 0; ) {
    if (from >= end) return from;
    PEM_REST.lastIndex = from + PEM_BEGIN.length;
    if (!PEM_REST.test(text)) {
      from = text.indexOf(PEM_BEGIN, from + 1);
      continue;
    }
    const last = text.indexOf(PEM_END, from);
    const close = last < 0 ? -1 : text.indexOf(PEM_DASHES, last + PEM_END.length);
    const to = close < 0 || close > last + PEM_LAST_LINE ? text.length : close + PEM_DASHES.length;
    found.push(from, to);
    from = text.indexOf(PEM_BEGIN, to);
  }
  return text.length;
};

const URL_BEGIN = '://';
const MAX_USER = 256;
/** Tokens that are used as passwords are long. */
const MAX_PASSWORD = 4096;
const PORT_DIGITS = 5;
/** These characters and white space end a user or a password. */
const PASSWORD_STOPS = '"\'<>';
const USER_STOPS = `:@/${PASSWORD_STOPS}`;

/** Only the password is replaced. */
export const scanUrlPasswords: Scan = (text, start, end, found) => {
  const passwords = new UrlPasswords(text);
  for (let at = text.indexOf(URL_BEGIN, start); at >= 0; ) {
    if (at >= end) return at;
    const from = at + URL_BEGIN.length;
    const user = endOfUrlPart(text, from, from + MAX_USER, USER_STOPS);
    const to = text.charAt(user) === ':' ? passwords.endOf(user + 1) : user;
    const isPassword = to > user + 1;
    if (isPassword) found.push(user + 1, to);
    at = text.indexOf(URL_BEGIN, isPassword ? to + 1 : at + 1);
  }
  return text.length;
};

const WHITE_SPACE = /\s/;
/** What may follow a host and a colon before a slash. Nothing follows the letter of a drive. */
const PORT = /^\d{0,5}$/;

/** The passwords of one text. What was read for one URL is not read again for the next one. */
class UrlPasswords {
  readonly #text: string;
  /** Up to here nothing ends a password. */
  #read = 0;
  /** The first `@` after the last slash. */
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The last `@` before the host; `from` when there is none. A password may have `@` and `/`, as people write it. */
  endOf(from: number): number {
    const text = this.#text;
    const end = endOfUrlPart(text, Math.max(from, this.#read), from + MAX_PASSWORD, PASSWORD_STOPS);
    this.#read = end;
    const slash = firstIn(text, '/', from, end);
    const last = text.slice(from, slash).lastIndexOf('@');
    if (last >= 0) return from + last;
    if (slash === end || PORT.test(text.slice(from, Math.min(slash, from + PORT_DIGITS + 1)))) return from;
    if (this.#at < slash) this.#at = firstIn(text, '@', slash, text.length);
    if (this.#at >= end) return from;
    return this.#at + text.slice(this.#at, firstIn(text, '/', this.#at, end)).lastIndexOf('@');
  }
}

/** `end` when the character is not in this part of the text. */
function firstIn(text: string, character: string, from: number, end: number): number {
  const at = text.indexOf(character, from);
  return at < 0 || at > end ? end : at;
}

function endOfUrlPart(text: string, from: number, limit: number, stops: string): number {
  const end = Math.min(text.length, limit);
  for (let at = from; at < end; at++) {
    if ((classOf(text.charCodeAt(at)) & (ALPHANUMERIC | DASH)) !== 0) continue;
    const character = text.charAt(at);
    if (stops.includes(character) || WHITE_SPACE.test(character)) return at;
  }
  return end;
}

/** Slashes after the colon, in JSON perhaps with backslashes. */
const MAX_SLASHES = 6;
/** Bytes after which anything may be a password. */
const LONG_PASSWORD = 256;
/** A byte beyond ASCII may be part of any character, so it ends nothing. */
const endsAt = (characters: string): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) => (characters.includes(String.fromCharCode(byte)) ? 1 : 0));
const USER_ENDS = endsAt(':@/ \t\n\v\f\r');
const PASSWORD_ENDS = endsAt('@" \t\n\v\f\r');

/** Whether a user and a password may follow the colon of a URL, over bytes, before anything is decoded. */
export function mayBeginLogin(bytes: Uint8Array, from: number, end: number): boolean {
  let at = from + 1;
  while (at < end && at <= from + MAX_SLASHES && (bytes[at] === 0x2f || bytes[at] === 0x5c)) at++;
  const user = endOfBytes(bytes, at, Math.min(end, at + MAX_USER), USER_ENDS);
  if (user >= end || bytes[user] !== 0x3a || isPort(bytes, user + 1, end)) return false;
  const to = endOfBytes(bytes, user + 1, Math.min(end, user + 1 + LONG_PASSWORD), PASSWORD_ENDS);
  return to === user + 1 + LONG_PASSWORD || (to > user + 1 && to < end && bytes[to] === 0x40);
}

/** Whether digits and a slash follow the colon, as in nearly all URLs that have one after the host. */
function isPort(bytes: Uint8Array, from: number, end: number): boolean {
  let at = from;
  while (at < end && at < from + PORT_DIGITS && isDigit(bytes[at] as number)) at++;
  return at + 1 < end && bytes[bytes[at] === 0x5c ? at + 1 : at] === 0x2f;
}

function endOfBytes(bytes: Uint8Array, from: number, end: number, ends: Uint8Array): number {
  let at = from;
  while (at < end && ends[bytes[at] as number] === 0) at++;
  return at;
}
