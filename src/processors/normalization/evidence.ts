/**
 * What one record says, sorted by field: for each field the attributes that may fill it, best first. One object serves all
 * records; nothing of a record is kept after the next one begins.
 */
import type { KeyClass } from './key-classes.ts';
import { FIELD_COUNT, type Rule } from './rules.ts';

/** More recognised attributes than this on one record are not looked at. */
const MAX_ROWS = 4096;
/** Weaker candidates of a field beyond this number are not looked at. */
const MAX_CANDIDATES = 24;
/** Rules of other dialects come after the record's own, the last resorts after both. */
const FOREIGN = 100_000;
const LAST = 200_000;

export class Evidence {
  readonly #rows = new Int32Array(MAX_ROWS);
  readonly #classes: KeyClass[] = [];
  readonly #counts = new Uint8Array(FIELD_COUNT);
  readonly #candidateRows = new Int32Array(FIELD_COUNT * MAX_CANDIDATES);
  readonly #precedences = new Int32Array(FIELD_COUNT * MAX_CANDIDATES);
  readonly #rules: (Rule | null)[] = new Array<Rule | null>(FIELD_COUNT * MAX_CANDIDATES).fill(null);
  #count = 0;

  begin(): void {
    this.#count = 0;
    this.#counts.fill(0);
  }

  add(row: number, keyClass: KeyClass): void {
    if (this.#count >= MAX_ROWS) return;
    this.#rows[this.#count] = row;
    this.#classes[this.#count] = keyClass;
    this.#count++;
  }

  get count(): number {
    return this.#count;
  }

  /** Sorts what was added into fields, as `dialect` reads it. */
  sort(dialect: number, place: number): void {
    for (let index = 0; index < this.#count; index++) {
      const { rules } = this.#classes[index] as KeyClass;
      for (let each = 0; each < rules.length; each++) {
        const rule = rules[each] as Rule;
        if ((rule.places & place) !== 0 && (rule.only === null || rule.only.has(dialect))) {
          this.#insert(rule, this.#rows[index] as number, dialect);
        }
      }
    }
  }

  #insert(rule: Rule, row: number, dialect: number): void {
    const own = rule.dialect === dialect || rule.only !== null;
    const precedence = rule.last ? LAST + rule.order : own ? rule.order : FOREIGN + rule.order;
    const first = rule.field * MAX_CANDIDATES;
    let at = first + (this.#counts[rule.field] as number);
    if (rule.flattened) {
      for (let known = first; known < at; known++) if (this.#rules[known] === rule) return;
    }
    if (at === first + MAX_CANDIDATES) {
      if ((this.#precedences[--at] as number) <= precedence) return;
    } else {
      this.#counts[rule.field] = (this.#counts[rule.field] as number) + 1;
    }
    while (at > first && (this.#precedences[at - 1] as number) > precedence) {
      this.#rules[at] = this.#rules[at - 1] as Rule;
      this.#candidateRows[at] = this.#candidateRows[at - 1] as number;
      this.#precedences[at] = this.#precedences[at - 1] as number;
      at--;
    }
    this.#rules[at] = rule;
    this.#candidateRows[at] = row;
    this.#precedences[at] = precedence;
  }

  /** How many attributes may fill a field. */
  candidates(field: number): number {
    return this.#counts[field] as number;
  }
  ruleAt(field: number, index: number): Rule {
    return this.#rules[field * MAX_CANDIDATES + index] as Rule;
  }
  rowAt(field: number, index: number): number {
    return this.#candidateRows[field * MAX_CANDIDATES + index] as number;
  }

  /** The rows of a flattened family, in the order of their indexes. */
  family(rule: Rule): number[] {
    const members: { readonly row: number; readonly order: number }[] = [];
    for (let index = 0; index < this.#count; index++) {
      const { rules, orders } = this.#classes[index] as KeyClass;
      const at = rules.indexOf(rule);
      if (at >= 0) members.push({ row: this.#rows[index] as number, order: orders[at] as number });
    }
    return members.sort((one, other) => one.order - other.order || one.row - other.row).map(({ row }) => row);
  }
}
