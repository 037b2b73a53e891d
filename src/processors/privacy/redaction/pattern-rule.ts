/**
 * A configured pattern, run by RE2 in time linear in the text. Finding *all* matches can still be slow for a pattern
 * that reads far beyond the end of its match, so each search has a time limit. A long text is searched window by
 * window: testing a window for a match is ten times faster than locating the match.
 */
import { RE2JS } from 're2js';
import type { Hint, Rule, Ranges } from './rule.ts';

/**
 * The time a search may take; after it the rest of the text counts as found. Ordinary patterns stay far below. It must
 * be exceeded twice, on the clock and then in processor time: a process that was suspended has not searched.
 */
const SLACK_MS = 125;
const MS_PER_CHARACTER = 0.00025;
const MS_PER_MATCH = 0.005;

/** Characters in which the matches of one window begin. */
const WINDOW = 16_384;
/** The longest match that is found in a long text, for a pattern without a longest match. */
const LONGEST_MATCH = 16_384;
/** A step ends after so much time. */
const STEP_MS = 4;

const clockMs = (): number => performance.now();

/** `processorMs`: reads the processor time of the process. */
export function patternRule(name: string, pattern: string, replacement: string, processorMs = clockMs): Rule {
  const compiled = RE2JS.compile(pattern);
  const longest = Math.min(longestMatch(compiled), LONGEST_MATCH);
  return {
    name,
    replacement,
    hint: hintOf(compiled),
    numbers: null,
    signs: 0,
    shortest: 0,
    find: (text) => findAll(compiled, text, new Effort(processorMs)),
    search: (text, found) => searchLong(compiled, text, { longest, effort: new Effort(processorMs) }, found),
  };
}

/** The prefilter of RE2: texts that every match contains. `EXACT`, `AND`, `OR` as the library numbers them. */
interface Prefilter {
  readonly type: number;
  readonly str: string;
  readonly subs: readonly Prefilter[];
}
const EXACT = 1;
const AND = 2;
const OR = 3;
/** Characters with one spelling in every encoding: see `Rule.hint`. */
const PLAIN = /^[A-Za-z0-9 _.@:=+#,;~!-]+$/;

/** Reads an internal structure of the library; anything unexpected means no hint. */
function hintOf(pattern: RE2JS): Hint | null {
  const inner = pattern.re2() as unknown as { readonly prefilter?: Prefilter | null };
  const texts = typeof inner.prefilter === 'object' && inner.prefilter !== null ? textsOf(inner.prefilter) : null;
  return texts === null ? null : { prefixes: texts.split('|') };
}

function textsOf({ type, str, subs }: Prefilter): string | null {
  if (type === EXACT) return PLAIN.test(str) ? str.replace(/[.+]/g, '\\$&') : null;
  if (type !== AND && type !== OR) return null;
  const inner = subs.map(textsOf);
  const known = inner.filter((hint) => hint !== null);
  if (type === OR) return known.length === inner.length && known.length > 0 ? known.join('|') : null;
  return known.reduce<string | null>((longest, hint) => (hint.length > (longest?.length ?? 0) ? hint : longest), null);
}

/** An instruction of a compiled pattern, as the library numbers them. */
interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
}
const ALTERNATIVES: readonly number[] = [1, 2];
const ENDS: readonly number[] = [5, 6];
const RUNES: readonly number[] = [8, 9, 10, 11];
const LAST_KNOWN = 11;
/** UTF-16 writes a character with one or two units. */
const UNITS = 2;
const MAX_INSTRUCTIONS = 4096;

/**
 * UTF-16 units of the longest match; infinite when matches are unbounded or the compiled pattern is not as expected.
 */
function longestMatch(pattern: RE2JS): number {
  const { prog } = pattern.re2() as unknown as { readonly prog?: { inst?: readonly Instruction[]; start?: number } };
  if (prog?.inst === undefined || prog.start === undefined || prog.inst.length > MAX_INSTRUCTIONS)
    return Number.POSITIVE_INFINITY;
  const { inst } = prog;
  const known = new Map<number, number>();
  const open = new Set<number>();
  const longestFrom = (at: number): number => {
    const before = known.get(at);
    if (before !== undefined) return before;
    if (open.has(at)) return Number.POSITIVE_INFINITY;
    open.add(at);
    const { op, out, arg } = inst[at] as Instruction;
    if (op > LAST_KNOWN) return Number.POSITIVE_INFINITY;
    const after = ENDS.includes(op) ? 0 : longestFrom(out);
    const other = ALTERNATIVES.includes(op) ? longestFrom(arg) : 0;
    const length = Math.max(after, other) + (RUNES.includes(op) ? UNITS : 0);
    open.delete(at);
    known.set(at, length);
    return length;
  };
  return longestFrom(prog.start);
}

/** Measures the time of a search without the waits between its steps. */
class Effort {
  readonly #processorMs: () => number;
  /** Reading the processor time takes ten times as long as reading the clock. */
  #now = clockMs;
  #spent = 0;
  #isProcessorTime = false;
  /** The time spent before processor time was measured. */
  #spentBefore = 0;
  #matches = 0;

  constructor(processorMs: () => number) {
    this.#processorMs = processorMs;
  }

  /** Moves the matcher to the next match; false: there is none. */
  next(matcher: ReturnType<RE2JS['matcher']>, from?: number): boolean {
    const begin = this.#now();
    const isFound = from === undefined ? matcher.find() : matcher.find(from);
    this.#spent += this.#now() - begin;
    if (isFound) this.#matches++;
    return isFound;
  }

  get spent(): number {
    return this.#spent;
  }

  isTooMuch(characters: number): boolean {
    const limitMs = SLACK_MS + characters * MS_PER_CHARACTER + this.#matches * MS_PER_MATCH;
    if (this.#spent - this.#spentBefore <= limitMs) return false;
    if (this.#isProcessorTime) return true;
    this.#isProcessorTime = true;
    this.#now = this.#processorMs;
    this.#spentBefore = this.#spent;
    return false;
  }
}

function findAll(pattern: RE2JS, text: string, effort: Effort): Ranges {
  // Testing for a match is several times cheaper than locating one.
  if (!pattern.test(text)) return [];
  const found: number[] = [];
  const matcher = pattern.matcher(text);
  while (effort.next(matcher)) {
    const from = matcher.start();
    const to = matcher.end();
    if (to > from) found.push(from, to);
    if (!effort.isTooMuch(to)) continue;
    found.push(to, text.length);
    break;
  }
  return found;
}

function* searchLong(
  pattern: RE2JS,
  text: string,
  { longest, effort }: { readonly longest: number; readonly effort: Effort },
  found: number[],
): Generator<void> {
  for (let at = 0; at < text.length; ) {
    // Anchors of a match may read one character before it and one after it.
    const begin = Math.max(at - 1, 0);
    const last = Math.min(at + WINDOW, text.length);
    const window = text.slice(begin, Math.min(last + longest + 1, text.length));
    const next = pattern.test(window) ? findIn(pattern, window, { begin, at, last }, effort, found) : last;
    if (effort.isTooMuch(next)) {
      found.push(next, text.length);
      return;
    }
    at = next;
    yield;
  }
}

interface Window {
  /**
   * Positions in the text: the begin of the window, of the search in it, and the end of the range in which matches
   * begin.
   */
  readonly begin: number;
  readonly at: number;
  readonly last: number;
}

/** Finds the matches that begin in a window, until a step is over; the position at which to continue. */
function findIn(pattern: RE2JS, window: string, { begin, at, last }: Window, effort: Effort, found: number[]): number {
  const matcher = pattern.matcher(window);
  const before = effort.spent;
  let next = at;
  for (let isFound = effort.next(matcher, at - begin); isFound; isFound = effort.next(matcher)) {
    const from = begin + matcher.start();
    const to = begin + matcher.end();
    if (from >= last) break;
    if (to > from) found.push(from, to);
    next = Math.max(to, next);
    if (effort.isTooMuch(next)) return next;
    if (effort.spent - before > STEP_MS && next > at) return next;
  }
  return Math.max(next, last);
}
