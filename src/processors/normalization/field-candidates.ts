/**
 * The field candidates of one record: for each field the attributes that can fill it, best first. One object serves all
 * records and keeps nothing between them. What depends on the keys alone is kept in the `KeySequenceCache`.
 */
import { CandidateOrder } from './candidate-order.ts';
import type { KeyClass } from './key-classes.ts';
import type { Rule } from './rules.ts';
import { BODY_POSITION, type KeySequence } from './key-sequence.ts';

/** Further recognised attributes of a record are ignored. */
const MAX_ROWS = 4096;
/** Rules of other dialects come after those of the record's dialect; rules marked `last` come after both. */
const FOREIGN = 100_000;
const LAST = 200_000;

export class FieldCandidates {
  readonly #ownPositions = new Int32Array(MAX_ROWS);
  readonly #ownClasses: KeyClass[] = [];
  readonly #ownOrder = CandidateOrder.scratch();
  #firstRow = 0;
  #bodyRow = 0;
  #count = 0;
  #sequence: KeySequence | null = null;
  #positions: Int32Array = this.#ownPositions;
  #classes: readonly KeyClass[] = this.#ownClasses;
  #order: CandidateOrder = this.#ownOrder;

  /** Begins a record with its first attribute row and the row of its body; `add` its keys next. */
  begin(firstRow: number, bodyRow: number): void {
    this.#firstRow = firstRow;
    this.#bodyRow = bodyRow;
    this.#count = 0;
    this.#sequence = null;
    this.#positions = this.#ownPositions;
    this.#classes = this.#ownClasses;
  }

  /** Begins a record with a cached key sequence. */
  beginWith(sequence: KeySequence, firstRow: number, bodyRow: number): void {
    this.#firstRow = firstRow;
    this.#bodyRow = bodyRow;
    this.#count = sequence.classes.length;
    this.#sequence = sequence;
    this.#positions = sequence.positions;
    this.#classes = sequence.classes;
  }

  /** `position` counts from the first attribute of the record; BODY_POSITION is its body. */
  add(position: number, keyClass: KeyClass): void {
    if (this.#count >= MAX_ROWS) return;
    this.#ownPositions[this.#count] = position;
    this.#ownClasses[this.#count] = keyClass;
    this.#count++;
  }

  /** The recognised attributes: their number, positions and classes. */
  get count(): number {
    return this.#count;
  }
  get positions(): Int32Array {
    return this.#positions;
  }
  get classes(): readonly KeyClass[] {
    return this.#classes;
  }

  /** The operation that the keys suggest, if nothing else states it; 0: none. */
  get suggested(): number {
    for (let index = 0; index < this.#count; index++) {
      const { suggests } = this.#classes[index] as KeyClass;
      if (suggests !== 0) return suggests;
    }
    return 0;
  }

  /** Sorts the attributes into fields, for a record of `dialect`. */
  sort(dialect: number, place: number): void {
    const known = this.#sequence?.orderOf(dialect);
    if (known !== undefined) {
      this.#order = known;
      return;
    }
    this.#order = this.#ownOrder;
    this.#ownOrder.clear();
    for (let index = 0; index < this.#count; index++) {
      const { rules } = this.#classes[index] as KeyClass;
      for (let each = 0; each < rules.length; each++) {
        const rule = rules[each] as Rule;
        if ((rule.places & place) !== 0 && (rule.only === null || rule.only.has(dialect))) {
          const own = rule.dialect === dialect || rule.only !== null;
          const precedence = rule.last ? LAST + rule.order : own ? rule.order : FOREIGN + rule.order;
          this.#ownOrder.insert(rule, this.#positions[index] as number, precedence);
        }
      }
    }
    this.#sequence?.keep(dialect, this.#ownOrder.compacted());
  }

  /** The number of candidates of a field. */
  countOf(field: number): number {
    return this.#order.counts[field] as number;
  }
  ruleAt(field: number, index: number): Rule {
    const { rules, firsts } = this.#order;
    return rules[(firsts[field] as number) + index] as Rule;
  }
  rowAt(field: number, index: number): number {
    const { positions, firsts } = this.#order;
    return this.#rowOf(positions[(firsts[field] as number) + index] as number);
  }

  /** The row whose whole value fills the field if it is usable; -1: the candidates have to be tried one by one. */
  plainRow(field: number): number {
    const position = this.#order.plain[field] as number;
    return position < 0 ? -1 : this.#firstRow + position;
  }

  /** The rows of a flattened list, in the order of their indexes. */
  family(rule: Rule): number[] {
    const members: { readonly row: number; readonly order: number }[] = [];
    for (let index = 0; index < this.#count; index++) {
      const { rules, orders } = this.#classes[index] as KeyClass;
      const at = rules.indexOf(rule);
      if (at >= 0) {
        members.push({ row: this.#rowOf(this.#positions[index] as number), order: orders[at] as number });
      }
    }
    return members.sort((one, other) => one.order - other.order || one.row - other.row).map(({ row }) => row);
  }

  #rowOf(position: number): number {
    return position === BODY_POSITION ? this.#bodyRow : this.#firstRow + position;
  }
}
