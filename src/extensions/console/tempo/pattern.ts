/**
 * Checks a regular expression of TraceQL. Only what RE2 and Postgres read alike is accepted: literal characters, `.`,
 * classes, groups, `|`, and the repetitions `*`, `+` and `?`.
 */
import { FilterError } from '../filter/filter.ts';
import type { Token } from './tokens.ts';

const MAX_PATTERN = 500;
const MAX_GROUPS = 20;
const PUNCTUATION = /^[!-/:-@[-`{-~]$/u;
const REPETITION = '*+?';
const WHAT = 'literal characters, . [a-z] ( ) | * + ?';

/** Throws a `FilterError` with the place of the fault. */
export function checkPattern({ text, places, at: start }: Token): void {
  const place = (index: number): number => places[index] ?? start;
  const refuse = (message: string, index: number): FilterError => new FilterError(message, place(index), WHAT);
  if (text.length > MAX_PATTERN) throw refuse(`a pattern has at most ${MAX_PATTERN} characters`, 0);
  const groups: number[] = [];
  let isRepeatable = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    const wasRepeatable = isRepeatable;
    isRepeatable = true;
    if (REPETITION.includes(character)) {
      if (!wasRepeatable) throw refuse(`${character} repeats nothing, or a repetition`, at);
      isRepeatable = false;
    } else if (character === '\\') {
      at += 1;
      if (!PUNCTUATION.test(text.charAt(at))) throw refuse('only punctuation can be escaped', at - 1);
    } else if (character === '[') {
      at = endOfClass(text, at, refuse);
    } else if (character === '(') {
      groups.push(at);
      if (groups.length > MAX_GROUPS) throw refuse(`groups can be nested ${MAX_GROUPS} times`, at);
      isRepeatable = false;
    } else if (character === ')') {
      if (groups.pop() === undefined) throw refuse('( is missing', at);
    } else if (character === '|') {
      isRepeatable = false;
    } else if ('{}^$]'.includes(character)) {
      throw refuse(`${character} cannot be used in a pattern here`, at);
    }
  }
  const [open] = groups;
  if (open !== undefined) throw refuse(') is missing', open);
}

/** A class has characters and ranges; the index of its end. */
function endOfClass(text: string, start: number, refuse: (message: string, index: number) => FilterError): number {
  const first = text.charAt(start + 1) === '^' ? start + 2 : start + 1;
  for (let at = first; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === ']') {
      if (at === first) throw refuse('an empty class matches nothing', start);
      return at;
    }
    if ('[\\^'.includes(character)) throw refuse(`${character} cannot be used in a class here`, at);
    if (character !== '-' || at === first || text.charAt(at + 1) === ']') continue;
    const isOrdered = text.charAt(at - 1) < text.charAt(at + 1);
    if (!isOrdered || !/^[A-Za-z0-9]$/u.test(text.charAt(at + 1))) throw refuse('this range cannot be used', at - 1);
    at += 1;
  }
  throw refuse('] is missing', start);
}
