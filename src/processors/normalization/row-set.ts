/** A set of attribute rows that is emptied for each record. Most records have few. */

/** So few rows are searched one after the other: to clear a `Set` allocates a new table. */
const FEW = 8;

export class RowSet {
  readonly #few = new Int32Array(FEW);
  #count = 0;
  readonly #others = new Set<number>();

  clear(): void {
    this.#count = 0;
    if (this.#others.size > 0) this.#others.clear();
  }

  add(row: number): void {
    if (this.#count < FEW) this.#few[this.#count++] = row;
    else this.#others.add(row);
  }

  has(row: number): boolean {
    for (let index = 0; index < this.#count; index++) if (this.#few[index] === row) return true;
    return this.#others.size > 0 && this.#others.has(row);
  }
}
