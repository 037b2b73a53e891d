/** The tokens of TraceQL, with their places. */
import { FilterError, MAX_FILTER_BYTES } from '../filter/filter.ts';

export type TokenKind = 'name' | 'string' | 'number' | 'duration' | 'operator' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** The text of a string is without quotes and escapes. */
  readonly text: string;
  /** The offset in the query, in UTF-16 units. */
  readonly at: number;
  /** The offsets of the characters of a string. */
  readonly places: readonly number[];
}

const SPACE = /\s*/uy;
const DURATION = /-?\d{1,15}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h)(?:\d{1,9}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h))*/uy;
const NUMBER = /-?\d{1,15}(?:\.\d{1,9})?/uy;
const OPERATOR = /&&|\|\||!=|!~|=~|>=|<=|[=<>!(){}|,]/uy;
/** Letters, digits and the other characters of attribute names. A name begins with a letter, `_` or `.`. */
const NAME = /[.\p{L}_][\p{L}\p{N}_.:/@$-]*/uy;
const QUOTES = ['"', '`'];
const ESCAPED: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', n: '\n', r: '\r', t: '\t' };

/** The last token is `end`. Throws a `FilterError`. */
export function tokensOf(text: string): readonly Token[] {
  if (Buffer.byteLength(text) > MAX_FILTER_BYTES)
    throw new FilterError(`a query has at most ${MAX_FILTER_BYTES} bytes`, 0);
  const zero = text.indexOf('\0');
  if (zero >= 0) throw new FilterError('a query cannot contain U+0000', zero);
  const tokens: Token[] = [];
  for (let at = skip(text, 0); at < text.length; ) {
    const { token, end } = readToken(text, at);
    tokens.push(token);
    at = skip(text, end);
  }
  return [...tokens, { kind: 'end', text: '', at: text.length, places: [] }];
}

interface Read {
  readonly token: Token;
  readonly end: number;
}

const skip = (text: string, at: number): number => at + matched(SPACE, text, at).length;

function matched(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

function readToken(text: string, at: number): Read {
  const first = text.charAt(at);
  if (QUOTES.includes(first)) return readString(text, at, first);
  const kinds = [
    ['duration', DURATION],
    ['number', NUMBER],
    ['operator', OPERATOR],
    ['name', NAME],
  ] as const;
  for (const [kind, pattern] of kinds) {
    const found = matched(pattern, text, at);
    if (found === '') continue;
    if (kind === 'name') return readName(text, at);
    return { token: { kind, text: found, at, places: [] }, end: at + found.length };
  }
  throw new FilterError(`"${String.fromCodePoint(text.codePointAt(at) ?? 0)}" cannot be used here`, at);
}

/** Parts of a name may be quoted: `span."a key"`. */
function readName(text: string, start: number): Read {
  let name = '';
  let at = start;
  for (;;) {
    const plain = matched(NAME, text, at);
    name += plain;
    at += plain.length;
    if (text.charAt(at) !== '"' || !name.endsWith('.')) break;
    const { token, end } = readString(text, at, '"');
    name += token.text;
    at = end;
  }
  return { token: { kind: 'name', text: name, at: start, places: [] }, end: at };
}

/** Backticks hold a text without escapes. */
function readString(text: string, start: number, quote: string): Read {
  const places: number[] = [];
  let value = '';
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === quote) return { token: { kind: 'string', text: value, at: start, places }, end: at + 1 };
    places.push(at);
    if (character !== '\\' || quote === '`') {
      value += character;
      continue;
    }
    const escaped = ESCAPED[text.charAt(at + 1)];
    if (escaped === undefined) throw new FilterError('this escape is not known', at, '\\" \\\\ \\n \\r \\t');
    value += escaped;
    at += 1;
  }
  throw new FilterError('the quote is not closed', start, quote);
}
