/**
 * Parses YAML text into a tree with places. Stricter than YAML: duplicate keys, unknown tags and several documents are
 * errors. Size, depth, aliases and the number of values are bounded, so that no file can hang the start or exhaust
 * memory.
 */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type Node as YamlNode,
  type Pair,
  visit,
  type YAMLParseError,
  type YAMLWarning,
} from 'yaml';
import type { Entry, Node, ScalarNode } from './node.ts';
import { type Diagnostics, quote } from './diagnostics.ts';
import type { Origin, Source } from './source.ts';

const MAX_DEPTH = 64;
const MAX_VALUES = 10_000;
const MAX_ALIASES = 100;
/**
 * Open brackets in the raw text, also quoted ones. Text beyond this limit is not parsed, because the parser recurses.
 */
const MAX_BRACKETS = 1_000;
/** Separators of values in the raw text. The parser takes about 20 µs for each. */
const MAX_SEPARATORS = 30_000;
/** Later syntax errors are usually consequences of the first ones. */
const MAX_SYNTAX_ERRORS = 5;

/** Thrown inside this file when a limit is exceeded; reported once. */
class LimitExceeded extends Error {
  readonly origin: Origin;
  constructor(origin: Origin, message: string) {
    super(message);
    this.origin = origin;
  }
}

/** Null after reported errors. An empty text is a null scalar. */
export function parseYaml(source: Source, diagnostics: Diagnostics): Node | null {
  const deep = tooDeep(source);
  const many = tooMany(source);
  if (deep !== null) diagnostics.error(deep, `nested more than ${MAX_DEPTH} levels deep`);
  else if (many !== null) diagnostics.error(many, `more than ${MAX_VALUES} values`);
  if (deep !== null || many !== null) return null;
  const document = parseOne(source, diagnostics);
  if (document === null) return null;
  if (document.contents === null) return nullAt(source);
  const reader = new Reader(source, document, diagnostics);
  try {
    const node = reader.read(document.contents, 0);
    return reader.failed ? null : node;
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    diagnostics.error(error.origin, error.message);
    return null;
  }
}

/** Checks the limits on the raw text before parsing, because the parser itself recurses. */
function tooDeep(source: Source): Origin | null {
  let depth = 0;
  for (const match of source.text.matchAll(/[[{\]}]|(?:[-?] ){65}/gu)) {
    depth += match[0].length > 1 ? MAX_BRACKETS + 1 : match[0] === '[' || match[0] === '{' ? 1 : -1;
    if (depth < 0) depth = 0;
    if (depth > MAX_BRACKETS) return { source, offset: match.index, length: 1 };
  }
  return null;
}

function tooMany(source: Source): Origin | null {
  let count = 0;
  for (let offset = 0; offset < source.text.length; offset += 1) {
    if (!SEPARATORS.has(source.text.charCodeAt(offset))) continue;
    count += 1;
    if (count > MAX_SEPARATORS) return { source, offset, length: 1 };
  }
  return null;
}

/** Characters that YAML reads as structure, and line ends. */
const SEPARATORS = new Set([...',:[]{}&*!?"\'|>%@\n\r\t'].map((character) => character.charCodeAt(0)));

function parseOne(source: Source, diagnostics: Diagnostics): Document | null {
  const documents = parseAllDocuments(source.text, {
    lineCounter: new LineCounter(),
    prettyErrors: false,
    uniqueKeys: true,
    merge: true,
    logLevel: 'silent',
    version: '1.2',
  });
  const list = Array.isArray(documents) ? documents : [];
  const [first, second] = list;
  if (first === undefined) return parseAllDocuments('null')[0] ?? null;
  const faults = list
    .flatMap((document) => [...document.errors, ...document.warnings])
    .filter(({ code }, index, all) => !(CONSEQUENCES[code]?.includes(all[index - 1]?.code ?? '') ?? false))
    .slice(0, MAX_SYNTAX_ERRORS);
  if (faults.length > 0) {
    if (!reportedCause(source, diagnostics)) for (const fault of faults) report(fault, first, source, diagnostics);
    return null;
  }
  if (second !== undefined && second.contents !== null) {
    const offset = second.range[0];
    diagnostics.error(
      { source, offset, length: 3 },
      'a second YAML document begins here',
      'put it into a file of its own',
    );
    return null;
  }
  return first;
}

/**
 * Faults that are a consequence of the one before: after a line with another indentation, the parser refuses each line
 * that follows, and after the end of the outermost map each word.
 */
const CONSEQUENCES: Readonly<Record<string, readonly string[]>> = {
  BAD_INDENT: ['BAD_INDENT', 'TAB_AS_INDENT', 'MISSING_CHAR'],
  MISSING_CHAR: ['UNEXPECTED_TOKEN'],
  MULTILINE_IMPLICIT_KEY: ['BLOCK_AS_IMPLICIT_KEY'],
  UNEXPECTED_TOKEN: ['UNEXPECTED_TOKEN', 'MISSING_CHAR'],
};

/** Text that is not meant as YAML. The parser reports its consequences, at other places. */
const CAUSES: readonly (readonly [text: RegExp, what: string, hint: string])[] = [
  [
    /^ *[\u00a0\u2000-\u200a\u202f\u3000]/mu,
    'the line begins with a space that YAML does not know',
    'indent with plain spaces',
  ],
  [/^(?:<{7} |={7}\r?$|>{7} )/mu, 'a mark of a merge conflict', 'resolve the conflict'],
  [/^ *\{\{/mu, 'a template', 'render it first'],
];

function reportedCause(source: Source, diagnostics: Diagnostics): boolean {
  for (const [text, what, hint] of CAUSES) {
    const found = text.exec(source.text);
    if (found === null) continue;
    diagnostics.error({ source, offset: found.index, length: found[0].length }, `not valid YAML: ${what}`, hint);
    return true;
  }
  return false;
}

function report(fault: YAMLParseError | YAMLWarning, document: Document, source: Source, diagnostics: Diagnostics) {
  const [from, end] = fault.pos;
  const offset = fault.message.startsWith(OPEN_QUOTE) ? openingQuote(document, from) : from;
  const origin = { source, offset: Math.min(offset, source.text.length), length: Math.max(1, end - from) };
  const beforeBrace = source.text.slice(offset - 1, offset + 1) === '${';
  const hint = beforeBrace ? 'put the value in quotes' : syntaxHint(fault);
  diagnostics.error(origin, `not valid YAML: ${syntaxMessage(fault.code, fault.message)}`, hint);
}

/** How the parser's message about a quote that is not closed begins. */
const OPEN_QUOTE = 'Missing closing ';

/** The parser reports the end of the quoted text, which is often the end of the file. */
function openingQuote(document: Document, end: number): number {
  let opening = end;
  visit(document, {
    Scalar: (_key, { type, range }) => {
      if (type?.startsWith('QUOTE') === true && range && range[1] === end) opening = range[0];
    },
  });
  return opening;
}

function syntaxMessage(code: string, message: string): string {
  if (message.startsWith(OPEN_QUOTE)) return 'this quote is not closed';
  if (code === 'DUPLICATE_KEY') return 'this key is already given above';
  if (code === 'TAB_AS_INDENT') return 'a tab character';
  const sentence = message.split('\n')[0] ?? message;
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

function syntaxHint({ code, message }: YAMLParseError | YAMLWarning): string | null {
  if (code === 'DUPLICATE_KEY') return 'keep one of the two';
  if (code === 'TAB_AS_INDENT') return 'indent with spaces';
  if (code === 'BAD_INDENT')
    return message.startsWith('Flow') ? 'close the bracket above' : 'compare its indentation with the lines above';
  if (code === 'BLOCK_AS_IMPLICIT_KEY')
    return 'compare its indentation with the lines above, or put a value that holds ": " in quotes';
  if (code === 'MULTILINE_IMPLICIT_KEY') return 'write the line as key: value, with a space after the colon';
  if (code === 'BAD_DQ_ESCAPE') return 'between single quotes, a backslash is a plain character';
  if (message.startsWith('Missing ,')) return 'add the comma, or put the value in quotes';
  if (code === 'BAD_SCALAR_START') return 'put the value in quotes';
  return code === 'TAG_RESOLVE_FAILED' ? 'tags are not used in this configuration' : null;
}

class Reader {
  readonly #source: Source;
  readonly #document: Document;
  readonly #diagnostics: Diagnostics;
  #values = 0;
  #aliases = 0;
  failed = false;

  constructor(source: Source, document: Document, diagnostics: Diagnostics) {
    this.#source = source;
    this.#document = document;
    this.#diagnostics = diagnostics;
  }

  read(node: unknown, depth: number): Node {
    const origin = this.#originOf(node);
    this.#values += 1;
    if (this.#values > MAX_VALUES) throw new LimitExceeded(origin, `more than ${MAX_VALUES} values`);
    if (depth > MAX_DEPTH) throw new LimitExceeded(origin, `nested more than ${MAX_DEPTH} levels deep`);
    if (isAlias(node)) return this.#alias(node.source, node, origin, depth);
    if (isMap(node)) return { kind: 'map', entries: this.#entries(node.items, depth), origin };
    if (isSeq(node)) return { kind: 'list', items: node.items.map((item) => this.read(item, depth + 1)), origin };
    return { kind: 'scalar', value: this.#scalar(node), origin };
  }

  #alias(name: string, node: { resolve(document: Document): unknown }, origin: Origin, depth: number): Node {
    this.#aliases += 1;
    if (this.#aliases > MAX_ALIASES) throw new LimitExceeded(origin, `more than ${MAX_ALIASES} aliases`);
    const target = node.resolve(this.#document);
    if (target !== undefined) return this.read(target, depth + 1);
    this.#fail(origin, `the anchor ${quote(name)} is not defined`, 'put a value that begins with * in quotes');
    return { kind: 'scalar', value: null, origin };
  }

  /** `<<` adds the entries of another map; the map's own entries win. */
  #entries(pairs: readonly Pair<unknown, unknown>[], depth: number): Map<string, Entry> {
    const own = new Map<string, Entry>();
    const merged = new Map<string, Entry>();
    for (const pair of pairs) {
      const origin = this.#originOf(pair.key);
      const key = this.#keyOf(pair.key, origin);
      if (key === null) continue;
      if (pair.value === null && this.#lacksSpace(pair.key, origin)) continue;
      const value = pair.value === null ? nullFrom(origin) : this.read(pair.value, depth + 1);
      if (key === '<<') this.#mergeInto(merged, value);
      else own.set(key, { key: origin, value });
    }
    for (const [key, entry] of merged) if (!own.has(key)) own.set(key, entry);
    return own;
  }

  #mergeInto(merged: Map<string, Entry>, value: Node): void {
    const maps = value.kind === 'list' ? value.items : [value];
    for (const map of maps) {
      if (map.kind !== 'map') this.#fail(map.origin, '"<<" merges maps only');
      else for (const [key, entry] of map.entries) if (!merged.has(key)) merged.set(key, entry);
    }
  }

  #keyOf(key: unknown, origin: Origin): string | null {
    const plain = isScalar(key) ? key.value : key;
    if (typeof plain === 'symbol') return '<<';
    if (typeof plain === 'string') return plain;
    if (isScalar(key) && typeof key.source === 'string' && key.source !== '') return key.source;
    this.#fail(
      origin,
      'a key must be plain text',
      isMap(key) ? 'put a value that begins with {{ in quotes' : undefined,
    );
    return null;
  }

  /** In brackets, YAML reads `key:value` as one key. The value may be secret, so the message does not have it. */
  #lacksSpace(key: unknown, origin: Origin): boolean {
    const colon = isScalar(key) && key.type === 'PLAIN' ? (key.source ?? '').indexOf(':') : -1;
    if (colon <= 0) return false;
    const name = this.#source.text.slice(origin.offset, origin.offset + colon);
    this.#fail(origin, `no space after the colon of ${quote(name)}`, `write ${name}: and a space before the value`);
    return true;
  }

  #scalar(node: unknown): ScalarNode['value'] {
    const value: unknown = isScalar(node) ? node.value : null;
    if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return value;
    if (typeof value === 'bigint') return Number(value);
    // `!!binary` produces bytes, which no option accepts.
    if (value !== null && value !== undefined)
      this.#fail(this.#originOf(node), 'a value must be text, a number, true or false');
    return null;
  }

  #originOf(node: unknown): Origin {
    const range = (node as YamlNode | null)?.range;
    if (range === undefined || range === null) return { source: this.#source, offset: 0, length: 0 };
    return { source: this.#source, offset: range[0], length: range[1] - range[0] };
  }

  #fail(origin: Origin, message: string, hint?: string): void {
    this.failed = true;
    this.#diagnostics.error(origin, message, hint);
  }
}

const nullFrom = (origin: Origin): ScalarNode => ({ kind: 'scalar', value: null, origin });
const nullAt = (source: Source): ScalarNode => nullFrom({ source, offset: 0, length: 0 });
