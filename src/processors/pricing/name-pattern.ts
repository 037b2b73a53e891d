/**
 * Patterns of model names, and the guard that stops a prefix or substring from matching another model:
 * `claude-opus-4-1` is a prefix of `claude-opus-4-10`, yet a different model. All names and patterns are lower case
 * here.
 */
import { RE2JS, RE2Set } from 're2js';

/**
 * A pattern tests a name. Expressions run in linear time on any name, because names come from senders.
 */
export type NamePattern = (name: string) => boolean;

/** Longest expression a config file may use. */
export const PATTERN_LENGTH = 200;

/** What may follow a matched beginning: nothing, a date or build, a release word, a Bedrock version. */
const RESIDUE = new RegExp(
  `^${[
    '(?:-v\\d+)?(?::\\d+)?', // -v1:0
    '(?:[-@](?:latest|preview|exp|default))?',
    // date, build, MMDD, MM-YYYY, YYMM
    '(?:[-@](?:\\d{8}|\\d{4}-\\d{2}-\\d{2}|\\d{3}|(?:0[1-9]|1[0-2])-?(?:[0-3]\\d|20\\d{2})|2[3-9](?:0[1-9]|1[0-2])))?',
    '(?:-v\\d+)?(?::\\d+)?(?::\\d+k)?', // after a date
  ].join('')}$`,
);
/** A literal may end inside a number (`claude-sonnet-4-2025`): the residue then starts where that number does. */
const TRAILING_NUMBER = /[-@]?\d*$/;
/** A literal may begin only at the start of a name or after one of these. */
const BOUNDARY = new Set(['/', '.', ':']);
/** Fine-tuned names end in an organisation and an id of any form. */
export const FINE_TUNED = /^ft:|\.ft-/;

export function equalTo(literal: string): NamePattern {
  return (name) => name === literal;
}

export function startingWith(literal: string): NamePattern {
  return (name) => name.startsWith(literal) && residueAllowed(name, literal.length);
}

export function endingWith(literal: string): NamePattern {
  return (name) => name.endsWith(literal) && beginsAtBoundary(name, name.length - literal.length);
}

export function containing(literal: string): NamePattern {
  return (name) => {
    for (let at = name.indexOf(literal); at >= 0; at = name.indexOf(literal, at + 1)) {
      if (beginsAtBoundary(name, at) && residueAllowed(name, at + literal.length)) return true;
    }
    return false;
  };
}

/** An expression that begins with a look-ahead for what must not follow. */
const NEGATIVE = /^\^\(\?!((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)(.*)$/;

/** Whether any of a catalogue's expressions may match a name: one pass instead of one per expression. */
export function mayMatchAny(expressions: readonly string[]): NamePattern {
  if (expressions.length === 0) return () => false;
  const set = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE);
  for (const expression of expressions) {
    const rest = NEGATIVE.exec(expression)?.[2];
    set.add(rest === undefined ? expression : `^${rest}`);
  }
  set.compile();
  return (name) => set.match(name).length > 0;
}

/**
 * A catalogue's expression, found anywhere unless it anchors itself; `guarded` also checks what follows. Throws on what
 * RE2 does not support.
 */
export function matching(expression: string, guarded: boolean): NamePattern {
  const negative = NEGATIVE.exec(expression);
  if (negative !== null) {
    // RE2 has no look-ahead; the one at the start of an expression is the same as "and not".
    const excluded = compile(`^(?:${negative[1]})`);
    const rest = negative[2] === '' ? null : matching(`^${negative[2]}`, guarded);
    return (name) => (rest === null || rest(name)) && !excluded.test(name);
  }
  const compiled = compile(expression);
  return (name) => {
    // Testing for a match is several times cheaper than finding its end.
    if (!compiled.test(name)) return false;
    if (!guarded) return true;
    const matcher = compiled.matcher(name);
    return matcher.find() && residueAllowed(name, matcher.end());
  };
}

/** The fault of an expression in a configuration file; null: RE2 accepts it. */
export function expressionFault(expression: string): string | null {
  try {
    compile(expression);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Which of some expressions match the whole of a name, ascending. All run in one pass over the name. */
export type PatternSet = (name: string) => readonly number[];

/**
 * The most expressions of one automaton: a larger one exceeds its memory limit and is rebuilt again and again.
 */
const SET_SIZE = 256;

export function matchingWhole(expressions: readonly string[]): PatternSet {
  const sets: { readonly first: number; readonly set: RE2Set }[] = [];
  for (let first = 0; first < expressions.length; first += SET_SIZE) {
    const set = new RE2Set(RE2Set.ANCHOR_BOTH, RE2JS.CASE_INSENSITIVE);
    for (const expression of expressions.slice(first, first + SET_SIZE)) set.add(expression);
    set.compile();
    sets.push({ first, set });
  }
  return (name) =>
    sets.flatMap(({ first, set }) => set.match(name).map((index) => first + index)).sort((one, other) => one - other);
}

function compile(expression: string): RE2JS {
  return RE2JS.compile(expression, RE2JS.CASE_INSENSITIVE);
}

function beginsAtBoundary(name: string, at: number): boolean {
  return at === 0 || BOUNDARY.has(name[at - 1] ?? '');
}

function residueAllowed(name: string, end: number): boolean {
  if (end === name.length || FINE_TUNED.test(name)) return true;
  const residue = name.slice(end);
  if (RESIDUE.test(residue)) return true;
  const number = TRAILING_NUMBER.exec(name.slice(0, end))?.[0] ?? '';
  return RESIDUE.test(number + residue);
}
