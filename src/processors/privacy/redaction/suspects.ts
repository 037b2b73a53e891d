/**
 * Where in a request's body anything might be found. Each rule's hint runs once over the whole body, which costs far less than
 * decoding every text to look at it; texts that lie where no hint was found are not looked at.
 */
import { INPUT_BASE, INPUT_CAPACITY } from '../../../model/layout.ts';
import type { Memory } from '../../../model/memory.ts';
import { DISGUISE_BYTES } from './canonical.ts';
import { EVERY_RULE, type Redactor } from './redactor.ts';

/** Bytes that share one entry. */
const BLOCK_BITS = 5;

interface Hint {
  readonly expression: RegExp;
  readonly bits: number;
}

export class Suspects {
  readonly #hints: readonly Hint[];
  /** Rules without a hint look at everything. */
  readonly #always: number;
  #blocks = new Uint32Array(0);
  #end = INPUT_BASE;
  #any = 0;

  constructor(redactor: Redactor) {
    const hints: Hint[] = [{ expression: new RegExp(DISGUISE_BYTES, 'g'), bits: EVERY_RULE }];
    let always = 0;
    redactor.rules.forEach((rule, index) => {
      if (rule.hint === null) always |= redactor.bitOf(index);
      else hints.push({ expression: new RegExp(rule.hint, 'g'), bits: redactor.bitOf(index) });
    });
    this.#hints = hints;
    this.#always = always;
  }

  /** Looks over the body of a request. */
  scan(memory: Memory, length: number): void {
    const size = (length >>> BLOCK_BITS) + 1;
    if (this.#blocks.length < size)
      this.#blocks = new Uint32Array(Math.min(size * 2, (INPUT_CAPACITY >>> BLOCK_BITS) + 1));
    else this.#blocks.fill(0, 0, size);
    this.#end = INPUT_BASE + length;
    this.#any = this.#always;
    // One byte, one character: expressions over bytes.
    const body = memory.bytes.toString('latin1', INPUT_BASE, INPUT_BASE + length);
    for (const { expression, bits } of this.#hints) {
      expression.lastIndex = 0;
      for (let match = expression.exec(body); match !== null; match = expression.exec(body)) {
        const block = match.index >>> BLOCK_BITS;
        this.#blocks[block] = (this.#blocks[block] as number) | bits;
        this.#any |= bits;
        // Once more in this block would say nothing new; but what begins in the next must be seen, even inside this match.
        expression.lastIndex = (block + 1) << BLOCK_BITS;
      }
    }
  }

  /** Whether there is anything to look for in this request at all. */
  get any(): boolean {
    return this.#any !== 0;
  }

  /** The rules that may find something in a text; all of them for texts that are not part of the body. */
  at(offset: number, length: number): number {
    if (length === 0) return 0;
    if (offset < INPUT_BASE || offset >= this.#end) return EVERY_RULE;
    let bits = this.#always;
    const last = (offset + length - 1 - INPUT_BASE) >>> BLOCK_BITS;
    for (let block = (offset - INPUT_BASE) >>> BLOCK_BITS; block <= last; block++)
      bits |= this.#blocks[block] as number;
    return bits;
  }
}
