/** Pseudo-random choices of the demonstration: the same text gives the same choices, on every machine. */
import { createHash } from 'node:crypto';

export class Dice {
  readonly #text: string;
  #state: number;
  #ids = 0;

  constructor(text: string) {
    this.#text = text;
    this.#state = createHash('sha256').update(text).digest().readUInt32LE();
  }

  /** From 0 to below 1, by mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.between(0, items.length - 1)] ?? items[0];
  }

  /** A new id of as many bytes, as hex. */
  id(bytes: number): string {
    this.#ids += 1;
    return createHash('sha256')
      .update(`${this.#text} ${this.#ids}`)
      .digest('hex')
      .slice(0, bytes * 2);
  }
}
