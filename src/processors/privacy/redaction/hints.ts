/** The hints of all rules, compiled once for every body that is searched. */
import { RESPELLINGS } from './canonical.ts';
import { LiteralPrefixes } from './literal-prefixes.ts';
import { EVERY_RULE, type Redactor } from './redactor.ts';
import type { Hint } from './rule.ts';

/** The rules that a literal prefix is a hint for. */
export interface Sign {
  /** Bits of its rules. */
  readonly rules: number;
  readonly rest: Hint['rest'];
}

export class Hints {
  readonly redactor: Redactor;
  readonly prefixes: LiteralPrefixes;
  /** By prefix. */
  readonly signs: readonly Sign[];
  /** Bits of the rules without a hint: they run on every text. */
  readonly always: number;

  constructor(redactor: Redactor) {
    this.redactor = redactor;
    const hints: [rules: number, hint: Hint][] = [[EVERY_RULE, RESPELLINGS]];
    let always = 0;
    redactor.rules.forEach(({ hint }, index) => {
      if (hint === null) always |= redactor.bitOf(index);
      else hints.push([redactor.bitOf(index), hint]);
    });
    this.prefixes = new LiteralPrefixes(hints.flatMap(([, { prefixes }]) => prefixes));
    this.signs = hints.flatMap(([rules, { prefixes, rest }]) => {
      const sign: Sign = { rules, rest };
      return prefixes.map(() => sign);
    });
    this.always = always;
  }
}
