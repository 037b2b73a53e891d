/**
 * What the keys of a record say, whatever their values: which of them mean something, and how each dialect reads them. Senders
 * repeat a few sequences of keys without end, so most records find all of this ready.
 */
import type { CandidateOrder } from './candidate-order.ts';
import { type KeyClass, NO_RANK } from './key-classes.ts';

/** The position of a log record's body, which stands outside its attributes. */
export const BODY_POSITION = -1;
/** A record has one dialect; a sequence of keys that is read as more of them than this is not worth remembering further. */
const MAX_ORDERS = 8;

export class KeySequence {
  /** The keys as they stand, and where they stand: spans and log records read them differently. */
  readonly symbols: Uint32Array;
  readonly place: number;
  /** The recognised ones: positions counted from the first attribute, and their classes. */
  readonly positions: Int32Array;
  readonly classes: readonly KeyClass[];
  /** What the keys say of the dialect: the best rank that one alone gives. */
  readonly rank: number;
  readonly telling: boolean;
  readonly personal: boolean;
  /** Dialects in which a name that is too general for others means something. */
  readonly specific: ReadonlySet<number>;
  /** Places in `classes` whose values have to be looked at to know the dialect. */
  readonly signed: readonly number[];
  /** By dialect, from -1 on. */
  readonly #orders: (CandidateOrder | undefined)[] = [];
  #kept = 0;

  constructor(symbols: Uint32Array, place: number, positions: Int32Array, classes: readonly KeyClass[]) {
    this.symbols = symbols;
    this.place = place;
    this.positions = positions;
    this.classes = classes;
    // A body has no key that could tell of a dialect.
    const keys = classes.filter((_, index) => positions[index] !== BODY_POSITION);
    this.rank = keys.reduce((best, { rank }) => Math.min(best, rank), NO_RANK);
    this.telling = keys.some(({ telling }) => telling);
    this.personal = keys.some(({ personal }) => personal);
    this.specific = new Set(keys.flatMap(({ only }) => only));
    this.signed = [...keys.keys()].filter((index) => (keys[index] as KeyClass).signs.length > 0);
  }

  orderOf(dialect: number): CandidateOrder | undefined {
    return this.#orders[dialect + 1];
  }

  keep(dialect: number, order: CandidateOrder): void {
    if (this.#kept >= MAX_ORDERS) return;
    this.#kept++;
    while (this.#orders.length <= dialect + 1) this.#orders.push(undefined);
    this.#orders[dialect + 1] = order;
  }
}
