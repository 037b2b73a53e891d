/**
 * Where in a request's body anything might be found. One look over the whole body finds the few places where a hint may begin,
 * and only there is the hint's expression asked; texts that lie where no hint was found are not looked at.
 */
import { INPUT_BASE, INPUT_CAPACITY } from '../../../model/layout.ts';
import type { Memory } from '../../../model/memory.ts';
import { DISGUISES } from './canonical.ts';
import { fitting, LOOK_BEFORE, LOOK_BEHIND, LOOK_HERE, type Opening, Openings } from './openings.ts';
import { EVERY_RULE, type Redactor } from './redactor.ts';
import { type Hint, MAX_HINT } from './rule.ts';

/** Bytes that share one entry. */
const BLOCK_BITS = 5;
/** The number of the disguises among the hints; rules have the numbers below it. */
const DISGUISE = 31;

export class Suspects {
  readonly #openings = new Openings();
  /** By opening: what else must be there. */
  readonly #rests: (RegExp | null)[] = [];
  /** By opening: before this place it can not begin. */
  readonly #passed: Float64Array;
  /** Rules without a hint look at everything. */
  readonly #always: number;
  #blocks = new Uint32Array(0);
  #end = INPUT_BASE;
  #any = 0;

  constructor(redactor: Redactor) {
    let always = 0;
    redactor.rules.forEach(({ hint }, index) => {
      const bit = redactor.bitOf(index);
      if (hint === null) always |= bit;
      else this.#add(hint, DISGUISE - Math.clz32(bit));
    });
    this.#add(DISGUISES, DISGUISE);
    this.#passed = new Float64Array(this.#openings.count);
    this.#always = always;
  }

  #add({ openings, rest }: Hint, number: number): void {
    for (const opening of openings) {
      this.#openings.add(number, opening);
      this.#rests.push(rest === undefined ? null : new RegExp(`^(?:${rest})`));
    }
  }

  /** Looks over the body of a request. */
  scan(memory: Memory, length: number): void {
    const size = (length >>> BLOCK_BITS) + 1;
    if (this.#blocks.length < size)
      this.#blocks = new Uint32Array(Math.min(size * 2, (INPUT_CAPACITY >>> BLOCK_BITS) + 1));
    else this.#blocks.fill(0, 0, size);
    this.#end = INPUT_BASE + length;
    this.#any = this.#always;
    this.#passed.fill(0);
    const { candidates } = this.#openings;
    const { u16 } = memory;
    const end = (INPUT_BASE + length + 1) >>> 1;
    for (let pair = INPUT_BASE >>> 1; pair < end; pair++) {
      const places = candidates[u16[pair] as number] as number;
      if (places === 0) continue;
      if ((places & LOOK_BEFORE) !== 0) this.#look(memory, (pair << 1) - 1);
      if ((places & LOOK_HERE) !== 0) this.#look(memory, pair << 1);
      if ((places & LOOK_BEHIND) !== 0) this.#look(memory, (pair << 1) + 1);
    }
  }

  /** Looks for the openings that are found by the three bytes at `at`. */
  #look(memory: Memory, at: number): void {
    let hints = this.#openings.hintsAt(memory.u8, at);
    while (hints !== 0) {
      const number = DISGUISE - Math.clz32(hints);
      hints &= ~(1 << number);
      const bits = number === DISGUISE ? EVERY_RULE : 1 << number;
      for (const opening of this.#openings.of(number)) {
        const from = at - opening.anchor;
        if (from < (this.#passed[opening.number] as number)) continue;
        const fit = fitting(opening, memory.u8, from);
        if (fit === opening.sets.length) this.#mark(bits, opening, from, memory);
        else if (opening.isUniform) this.#passed[opening.number] = from + fit;
      }
    }
  }

  /** Marks the block in which an opening begins, if what else must be there is there. */
  #mark(bits: number, { number, sets }: Opening, from: number, memory: Memory): void {
    if (from < INPUT_BASE || from + sets.length > this.#end) return;
    const block = (from - INPUT_BASE) >>> BLOCK_BITS;
    const known = this.#blocks[block] as number;
    // Once more in this block would say nothing new.
    if ((known & bits) === bits) return;
    const rest = this.#rests[number] as RegExp | null;
    // One byte, one character: expressions over bytes.
    if (rest?.test(memory.bytes.toString('latin1', from, Math.min(from + MAX_HINT, this.#end))) === false) return;
    this.#blocks[block] = known | bits;
    this.#any |= bits;
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
