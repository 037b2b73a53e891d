/** All rules over one text: what any of them finds, in any spelling, is replaced. */
import { finish } from '../../../pdata/steps.ts';
import { type Canonical, decodeOnce, MAX_LEVELS, mayBeRespelled, mayBeRespelledInSteps } from './canonical.ts';
import type { Rule } from './rule.ts';
import { signsInSteps, signsOf } from './signs.ts';
import { Found, merged } from './ranges.ts';

/**
 * A replacement may create a new match with its neighbours. A text that still matches after this many rounds cannot be
 * redacted.
 */
const MAX_ROUNDS = 4;

/** The bits of all rules, for a text that is not part of the body. */
export const EVERY_RULE = 0x7fffffff;
const LAST_BIT = 30;

/** Longer texts are redacted in steps. */
export const LONG_TEXT = 65_536;
/**
 * Replacements between two steps; their pieces are joined, because an array of millions of pieces needs much memory.
 */
const REPLACED_STEP = 4096;

const NOTHING = new Found();
/** Numbers that a rule adds to its array before they are moved to a list. */
const COLLECTED = 65_536;

export class Redactor {
  readonly rules: readonly Rule[];
  readonly #counts: number[];
  readonly #numbers: number;
  readonly #numberTests: readonly ((value: number) => boolean)[];

  constructor(rules: readonly Rule[]) {
    this.rules = rules;
    this.#counts = rules.map(() => 0);
    this.#numberTests = rules.flatMap(({ numbers }) => numbers ?? []);
    this.#numbers = rules.reduce((mask, rule, index) => (rule.numbers === null ? mask : mask | this.bitOf(index)), 0);
  }

  /** Many rules share the last bit. */
  bitOf(rule: number): number {
    return 1 << Math.min(rule, LAST_BIT);
  }

  /** The bits of the rules that apply to numbers. */
  get numberRules(): number {
    return this.#numbers;
  }

  /** Whether any rule may find the decimal form of this number. */
  mayFind(value: number): boolean {
    for (const mayFind of this.#numberTests) if (mayFind(value)) return true;
    return false;
  }

  /**
   * The text without the matches of the rules of `bits`: the same string when there are none, null when it cannot be
   * redacted.
   */
  redact(text: string, bits = EVERY_RULE): string | null {
    // Most texts have no find, and this check needs no steps.
    if (text.length <= LONG_TEXT && !mayBeRespelled(text) && this.#findNow(text, null, bits, NOTHING).count === 0)
      return text;
    return finish(this.clean(text, bits));
  }

  /** `redact` in steps, for texts longer than `LONG_TEXT`. */
  *clean(text: string, bits = EVERY_RULE): Generator<void, string | null> {
    let current = text;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const found = yield* this.#findAll(current, round === 0 ? bits : EVERY_RULE);
      if (found.count === 0) return current;
      const next = yield* this.#replace(current, found, round === 0);
      // Joining and comparing a long text is one step.
      yield;
      if (next === current) return current;
      current = next;
      yield;
    }
    const found = yield* this.#findAll(current, EVERY_RULE);
    return found.count === 0 ? current : null;
  }

  /** Reports the replacements of each rule since the last call. */
  takeCounts(report: (rule: Rule, count: number) => void): void {
    this.rules.forEach((rule, index) => {
      const count = this.#counts[index] as number;
      if (count > 0) report(rule, count);
      this.#counts[index] = 0;
    });
  }

  *#findAll(text: string, bits: number): Generator<void, Found> {
    let found = yield* this.#find(text, null, bits, NOTHING);
    let decoded = text;
    let starts: Uint32Array | null = null;
    for (let level = 0; level < MAX_LEVELS; level++) {
      const isLong = decoded.length > LONG_TEXT;
      if (isLong) yield;
      if (!(yield* mayBeRespelledInSteps(decoded))) break;
      if (isLong) yield;
      const form: Canonical | null = yield* decodeOnce(decoded, starts);
      if (form === null) break;
      found = yield* this.#find(form.text, form, bits, found);
      ({ text: decoded, starts } = form);
    }
    return found;
  }

  /** The ranges of `before` and those found in one form of a short text. */
  #findNow(text: string, form: Canonical | null, bits: number, before: Found): Found {
    let found = before;
    const signs = signsOf(text);
    for (let index = 0; index < this.rules.length; index++) {
      const rule = this.rules[index] as Rule;
      if ((bits & this.bitOf(index)) === 0 || !mayFindIn(rule, text, signs)) continue;
      const ranges = rule.find(text);
      if (ranges.length === 0) continue;
      const list = new Found();
      list.add(index, ranges, ranges.length, form);
      found = finish(merged(found, list));
    }
    return found;
  }

  /** As `#findNow`, for a text of any length. */
  *#find(text: string, form: Canonical | null, bits: number, before: Found): Generator<void, Found> {
    if (text.length <= LONG_TEXT) return this.#findNow(text, form, bits, before);
    let found = before;
    const signs = yield* signsInSteps(text);
    for (let index = 0; index < this.rules.length; index++) {
      const rule = this.rules[index] as Rule;
      if ((bits & this.bitOf(index)) === 0 || !mayFindIn(rule, text, signs)) continue;
      found = yield* merged(found, yield* this.#search(text, index, form));
      yield;
    }
    return found;
  }

  /** What one rule finds. */
  *#search(text: string, index: number, form: Canonical | null): Generator<void, Found> {
    const list = new Found();
    const ranges: number[] = [];
    const search = (this.rules[index] as Rule).search(text, ranges);
    while (search.next().done !== true) {
      if (ranges.length > COLLECTED) {
        // The rule may still extend its last range.
        const count = ranges.length - 2;
        list.add(index, ranges, count, form);
        ranges.splice(0, count);
      }
      yield;
    }
    list.add(index, ranges, ranges.length, form);
    return list;
  }

  *#replace(text: string, found: Found, counting: boolean): Generator<void, string> {
    const whole: string[] = [];
    let parts: string[] = [];
    let done = 0;
    for (let range = 0; range < found.count; range++) {
      const rule = found.ruleOf(range);
      parts.push(text.slice(done, found.startOf(range)), (this.rules[rule] as Rule).replacement);
      done = found.endOf(range);
      if (counting) this.#counts[rule] = (this.#counts[rule] as number) + 1;
      if (parts.length < REPLACED_STEP) continue;
      whole.push(parts.join(''));
      parts = [];
      yield;
    }
    parts.push(text.slice(done));
    whole.push(parts.join(''));
    return whole.join('');
  }
}

function mayFindIn({ shortest, signs }: Rule, text: string, has: number): boolean {
  return text.length >= shortest && (has & signs) === signs;
}
