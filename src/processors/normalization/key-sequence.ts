/**
 * A key sequence: what the keys of a record say without their values, that is which of them are recognised and how each
 * dialect orders them. Senders repeat a few sequences, so most records find theirs in the cache.
 */
import type { CandidateOrder } from './candidate-order.ts';
import { type KeyClass, NO_RANK } from './key-classes.ts';

/** The position of a log record's body, which is not among its attributes. */
export const BODY_POSITION = -1;
/** A sequence that occurs in more dialects than this is cached for the first ones only. */
const MAX_ORDERS = 8;

export class KeySequence {
  /** The keys in order, and the place of their record: rules differ for spans and log records. */
  readonly symbols: Uint32Array;
  readonly place: number;
  /** The recognised keys: their positions from the first attribute on, and their classes. */
  readonly positions: Int32Array;
  readonly classes: readonly KeyClass[];
  /** The best rank of a dialect that a key alone gives. */
  readonly rank: number;
  readonly telling: boolean;
  readonly personal: boolean;
  /** Dialects that use a name of the record which is too general for others. */
  readonly specific: ReadonlySet<number>;
  /** Indexes in `classes` whose values help to detect the dialect. */
  readonly signed: readonly number[];
  /** By dialect, from -1 on. */
  readonly #orders: (CandidateOrder | undefined)[] = [];
  #kept = 0;

  constructor(symbols: Uint32Array, place: number, positions: Int32Array, classes: readonly KeyClass[]) {
    this.symbols = symbols;
    this.place = place;
    this.positions = positions;
    this.classes = classes;
    // A body has no key.
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
