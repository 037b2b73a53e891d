/** All rules over one text: what any of them finds, however it is spelled, is replaced. */
import { type Canonical, canonicalForms } from './canonical.ts';
import type { Rule } from './rule.ts';

/** What is left may match again where a replacement brought its neighbours together. Beyond this many times a text is given up. */
const MAX_ROUNDS = 4;

interface Found {
  readonly from: number;
  readonly to: number;
  readonly rule: number;
}

/** All rules: the bits of a text whose hints are not known. */
export const EVERY_RULE = 0x7fffffff;
const LAST_BIT = 30;

export class Redactor {
  readonly rules: readonly Rule[];
  readonly #counts: number[];
  readonly #numbers: number;

  constructor(rules: readonly Rule[]) {
    this.rules = rules;
    this.#counts = rules.map(() => 0);
    this.#numbers = rules.reduce((mask, rule, index) => (rule.numbers === null ? mask : mask | this.bitOf(index)), 0);
  }

  /** Many rules share the last bit. */
  bitOf(rule: number): number {
    return 1 << Math.min(rule, LAST_BIT);
  }

  /** The bits of the rules that look at numbers. */
  get numberRules(): number {
    return this.#numbers;
  }

  /** Whether any rule may find this number when it is written in decimal. */
  mayFind(value: number): boolean {
    return this.rules.some((rule) => rule.numbers?.(value) === true);
  }

  /** The text without what the rules of `bits` find: the same string when there is nothing, null when it can not be cleaned. */
  redact(text: string, bits = EVERY_RULE): string | null {
    let current = text;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const found = this.#findAll(current, round === 0 ? bits : EVERY_RULE);
      if (found.length === 0) return current;
      const next = this.#replace(current, found, round === 0);
      if (next === current) return current;
      current = next;
    }
    return this.#findAll(current, EVERY_RULE).length === 0 ? current : null;
  }

  /** How often each rule replaced something since the last call; calls `report` for those that did. */
  takeCounts(report: (rule: Rule, count: number) => void): void {
    this.rules.forEach((rule, index) => {
      const count = this.#counts[index] as number;
      if (count > 0) report(rule, count);
      this.#counts[index] = 0;
    });
  }

  /** In order of place, overlaps joined; the rule that stands first in the configuration names a joined stretch. */
  #findAll(text: string, bits: number): readonly Found[] {
    const found: Found[] = [];
    this.#find(text, null, bits, found);
    for (const form of canonicalForms(text)) this.#find(form.text, form, bits, found);
    return found.length < 2 ? found : join(found);
  }

  #find(text: string, form: Canonical | null, bits: number, found: Found[]): void {
    this.rules.forEach((rule, index) => {
      if ((bits & this.bitOf(index)) === 0) return;
      const stretches = rule.find(text);
      for (let at = 0; at < stretches.length; at += 2) {
        const from = stretches[at] as number;
        const to = stretches[at + 1] as number;
        if (form === null) found.push({ from, to, rule: index });
        else found.push({ from: form.starts[from] as number, to: form.starts[to] as number, rule: index });
      }
    });
  }

  #replace(text: string, found: readonly Found[], counting: boolean): string {
    const parts: string[] = [];
    let done = 0;
    for (const { from, to, rule } of found) {
      parts.push(text.slice(done, from), (this.rules[rule] as Rule).replacement);
      done = to;
      if (counting) this.#counts[rule] = (this.#counts[rule] as number) + 1;
    }
    parts.push(text.slice(done));
    return parts.join('');
  }
}

function join(found: readonly Found[]): readonly Found[] {
  const sorted = [...found].sort((a, b) => a.from - b.from || a.rule - b.rule);
  const joined: Found[] = [];
  for (const next of sorted) {
    const last = joined.at(-1);
    if (last === undefined || next.from >= last.to) joined.push(next);
    else
      joined[joined.length - 1] = {
        from: last.from,
        to: Math.max(last.to, next.to),
        rule: Math.min(last.rule, next.rule),
      };
  }
  return joined;
}
