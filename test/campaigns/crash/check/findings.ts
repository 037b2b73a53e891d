/** Findings of a scenario, counted by kind, with the messages of the first few of each kind. */

export const KINDS = [
  /** Answered 200, and a record of the request is missing. */
  'lost',
  /** A record is stored more than once. */
  'duplicate',
  /** Part of a request is stored. */
  'partial',
  /** 200 was answered before the commit. */
  'false_200',
  /** A refused request left a row, a marker, a claim or used quota. */
  'residue',
  /** A record, marker or claim of another project, or of no request. */
  'foreign',
  /** An answer that this request may not get, or a refusal without a reason. */
  'wrong_answer',
  /** A counter or bound that differs from the stored rows, or a cap that was exceeded. */
  'wrong_quota',
  'wrong_time',
  'deadlock',
  /** The service did not recover in time. */
  'stuck',
  /** The scenario did not inject its faults, so its result proves nothing. */
  'unproven',
] as const;

export type Kind = (typeof KINDS)[number];

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
