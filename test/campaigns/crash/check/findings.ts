/** What a checker found wrong, counted by kind; the first few of each kind are kept in words. */

export type Kind =
  /** Answered 200, and a record of it is missing. */
  | 'lost'
  /** A record is there more than once. */
  | 'duplicate'
  /** Some of a request is there, and some is not. */
  | 'partial'
  /** 200 was answered before the commit. */
  | 'false_200'
  /** Something of a refused request was kept: a row, a marker, a claim, or quota. */
  | 'residue'
  /** A record, marker or claim that belongs to somebody else, or to nobody. */
  | 'foreign'
  /** A refusal without its reason, or an answer that this request may not get. */
  | 'wrong_answer'
  /** A counter or bound that does not follow from what is stored, or a cap that was passed. */
  | 'wrong_quota'
  | 'deadlock'
  /** The service did not come back in time. */
  | 'stuck'
  /** The campaign could not do what it is for: its verdict is worth nothing. */
  | 'unproven';

const KEPT_PER_KIND = 5;

export class Findings {
  readonly #counts = new Map<Kind, number>();
  readonly #kept: string[] = [];

  add(kind: Kind, message: string): void {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (count <= KEPT_PER_KIND) this.#kept.push(`${kind}: ${message}`);
  }

  merge(other: Findings): void {
    for (const [kind, count] of other.#counts) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + count);
    this.#kept.push(...other.#kept);
  }

  count(kind: Kind): number {
    return this.#counts.get(kind) ?? 0;
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  get kinds(): readonly Kind[] {
    return [...this.#counts.keys()];
  }

  get messages(): readonly string[] {
    return this.#kept;
  }
}
