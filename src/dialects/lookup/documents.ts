/**
 * Documents in strings. Most are JSON; a few are printed Python dictionaries. A string that is neither gives undefined.
 */

import { isJson } from './json-check.ts';

/** Longer texts are not read as Python: only small documents with counts are known to arrive so. */
const MAX_PYTHON_LENGTH = 4096;
const PYTHON_BEGIN = /^\s*[{[(]\s*['}\])\d]/;
const PYTHON_WORDS: Readonly<Record<string, string>> = { None: 'null', True: 'true', False: 'false' };
/** Strings of either quote, words, brackets of tuples; everything else is the same in both notations. */
const PYTHON_TOKEN = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|\b(None|True|False)\b|[()]|,\s*(?=[)\]}])/g;

export function parseDocument(text: string): unknown {
  if (isJson(text)) return JSON.parse(text) as unknown;
  return text.length <= MAX_PYTHON_LENGTH && PYTHON_BEGIN.test(text) ? parsePython(text) : undefined;
}

function parsePython(text: string): unknown {
  const json = text.replace(
    PYTHON_TOKEN,
    (token: string, single: string | undefined, double: string | undefined, word: string | undefined) => {
      if (word !== undefined) return PYTHON_WORDS[word] ?? token;
      if (single !== undefined || double !== undefined) return JSON.stringify(withoutEscapes(single ?? double ?? ''));
      if (token === '(') return '[';
      return token === ')' ? ']' : '';
    },
  );
  return isJson(json) ? (JSON.parse(json) as unknown) : undefined;
}

function withoutEscapes(inside: string): string {
  return inside.replace(/\\(.)/gs, (_, letter: string) => (letter === 'n' ? '\n' : letter === 't' ? '\t' : letter));
}
