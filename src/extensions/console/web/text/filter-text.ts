/** Changes of the filter's text: the server parses it, the page only adds and removes whole terms. */

/** The terms as written. Quotes hold a term together. */
export function termsOf(text: string): readonly string[] {
  return text.match(/(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/gu) ?? [];
}

/** `model:gpt-5-mini`, with quotes where the value needs them. */
export function termOf(field: string, value: string): string {
  const plain = /^[^\s",:*~<>=\\][^\s",*\\]*$/u.test(value);
  return `${field}:${plain ? value : `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`}`;
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
