/**
 * The attributes of a record sorted by field, best first: for each field a run of rules with the positions they read.
 */
import { FIELD_COUNT, type Rule } from './rules.ts';

/** Further candidates of a field are ignored. */
const MAX_CANDIDATES = 24;

const NOT_PLAIN = -1;

export class CandidateOrder {
  /** By field: the first index and the length of its run. */
  readonly firsts: Uint16Array;
  readonly counts: Uint8Array;
  readonly rules: (Rule | null)[];
  /** By the index of a rule: the position of the attribute in its record. */
  readonly positions: Int32Array;
  /** By field: the position of the best candidate if its whole value always fills the field; else NOT_PLAIN. */
  readonly plain = new Int32Array(FIELD_COUNT).fill(NOT_PLAIN);
  readonly #precedences: Int32Array;

  private constructor(firsts: Uint16Array, counts: Uint8Array, size: number) {
    this.firsts = firsts;
    this.counts = counts;
    this.rules = new Array<Rule | null>(size).fill(null);
    this.positions = new Int32Array(size);
    this.#precedences = new Int32Array(size);
  }

  /** An order with room for any record, reused for each. */
  static scratch(): CandidateOrder {
    const firsts = Uint16Array.from({ length: FIELD_COUNT }, (_, field) => field * MAX_CANDIDATES);
    return new CandidateOrder(firsts, new Uint8Array(FIELD_COUNT), FIELD_COUNT * MAX_CANDIDATES);
  }

  clear(): void {
    this.counts.fill(0);
  }

  /** Puts a candidate into the run of its field; the lowest precedence comes first. */
  insert(rule: Rule, position: number, precedence: number): void {
    const { rules, positions } = this;
    const precedences = this.#precedences;
    const first = this.firsts[rule.field] as number;
    let at = first + (this.counts[rule.field] as number);
    if (rule.flattened) {
      for (let known = first; known < at; known++) if (rules[known] === rule) return;
    }
    if (at === first + MAX_CANDIDATES) {
      if ((precedences[--at] as number) <= precedence) return;
    } else {
      this.counts[rule.field] = (this.counts[rule.field] as number) + 1;
    }
    while (at > first && (precedences[at - 1] as number) > precedence) {
      rules[at] = rules[at - 1] as Rule;
      positions[at] = positions[at - 1] as number;
      precedences[at] = precedences[at - 1] as number;
      at--;
    }
    rules[at] = rule;
    positions[at] = position;
    precedences[at] = precedence;
  }

  /** A compact copy for the cache. */
  compacted(): CandidateOrder {
    const firsts = new Uint16Array(FIELD_COUNT);
    let size = 0;
    for (let field = 0; field < FIELD_COUNT; field++) {
      firsts[field] = size;
      size += this.counts[field] as number;
    }
    const copy = new CandidateOrder(firsts, Uint8Array.from(this.counts), size);
    for (let field = 0; field < FIELD_COUNT; field++) {
      for (let index = 0; index < (this.counts[field] as number); index++) {
        const from = (this.firsts[field] as number) + index;
        const to = (firsts[field] as number) + index;
        copy.rules[to] = this.rules[from] as Rule;
        copy.positions[to] = this.positions[from] as number;
      }
      const first = copy.rules[firsts[field] as number] ?? null;
      if ((this.counts[field] as number) > 0 && first !== null && isPlain(first)) {
        copy.plain[field] = copy.positions[firsts[field] as number] as number;
      }
    }
    return copy;
  }
}

function isPlain({ whole, when, either }: Rule): boolean {
  return whole && when === 0 && !either;
}
