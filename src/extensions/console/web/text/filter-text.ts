/** Changes of the filter's text: the server parses it, the page only adds and removes whole terms. */

/** The terms as written. Quotes hold a term together. */
export function termsOf(text: string): readonly string[] {
  return text.match(/(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/gu) ?? [];
}

/** Characters of a value. Answers cut those of facets there, and a filter has no room for the longest names. */
const LONGEST = 256;

/** `model:gpt-5-mini`, with quotes where the value needs them. A long value is named by its beginning. */
export function termOf(field: string, value: string): string {
  const start = Array.from(value).slice(0, LONGEST);
  const text = start.join('');
  const plain = /^[^\s",:*~<>=\\][^\s",*\\]*$/u.test(text);
  const written = plain ? text : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  // Any part of an error finds it.
  return `${field}:${written}${start.length < LONGEST || field === 'error' ? '' : '*'}`;
}

export function withTerm(text: string, term: string): string {
  const terms = termsOf(text).filter((each) => each !== term && each !== opposite(term));
  return [...terms, term].join(' ');
}

export const withoutTerm = (text: string, term: string): string =>
  termsOf(text)
    .filter((each) => each !== term)
    .join(' ');

export const opposite = (term: string): string => (term.startsWith('-') ? term.slice(1) : `-${term}`);

export const hasTerm = (text: string, term: string): boolean => termsOf(text).includes(term);
