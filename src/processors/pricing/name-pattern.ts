/**
 * Patterns over model names, and the guard that keeps a prefix or substring from claiming a name it does not mean:
 * `claude-opus-4-1` is a prefix of `claude-opus-4-10`, yet a different model. All names and patterns are lower case here.
 */
import { RE2JS } from 're2js';

/** A pattern says whether it knows a name. Expressions run in linear time whatever the name, because names come from outside. */
export type NamePattern = (name: string) => boolean;

/** Longest expression a config file may use. */
export const PATTERN_LENGTH = 200;

/** What may follow a matched beginning: nothing, a date or build, a release word, a Bedrock version. */
const RESIDUE = new RegExp(
  `^${[
    '(?:-v\\d+)?(?::\\d+)?', // -v1:0
    '(?:[-@](?:latest|preview|exp|default))?',
    '(?:[-@](?:\\d{8}|\\d{4}-\\d{2}-\\d{2}|\\d{3}|(?:0[1-9]|1[0-2])-?(?:[0-3]\\d|20\\d{2})|2[3-9](?:0[1-9]|1[0-2])))?', // date, build, MMDD, MM-YYYY, YYMM
    '(?:-v\\d+)?(?::\\d+)?(?::\\d+k)?', // after a date
  ].join('')}$`,
);
/** A literal may end inside a number (`claude-sonnet-4-2025`): the residue then starts where that number does. */
const TRAILING_NUMBER = /[-@]?\d*$/;
/** A literal may begin only at the start of a name or after one of these. */
const BOUNDARY = new Set(['/', '.', ':']);
/** Fine-tuned names end in an organisation and an id of any form. */
const FINE_TUNED = /^ft:|\.ft-/;

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

/** A catalogue's expression, found anywhere unless it anchors itself; `guarded` also checks what follows. Throws on what RE2 does not support. */
export function matching(expression: string, guarded: boolean): NamePattern {
  const negative = /^\^\(\?!((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)(.*)$/.exec(expression);
  if (negative !== null) {
    // RE2 has no look-ahead; the one at the start of an expression is the same as "and not".
    const excluded = compile(`^(?:${negative[1]})`);
    const rest = negative[2] === '' ? null : matching(`^${negative[2]}`, guarded);
    return (name) => !excluded.matcher(name).find() && (rest === null || rest(name));
  }
  const compiled = compile(expression);
  return (name) => {
    const matcher = compiled.matcher(name);
    return matcher.find() && (!guarded || residueAllowed(name, matcher.end()));
  };
}

/** A config file's expression: must match the whole name. Throws on what RE2 does not support. */
export function matchingWhole(expression: string): NamePattern {
  const compiled = compile(expression);
  return (name) => compiled.matches(name);
}

/** A config file's prefix: means what it says, so no guard. */
export function prefixedBy(literal: string): NamePattern {
  return (name) => name.startsWith(literal);
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
