/**
 * Where in a request's body anything might be found. One look over the whole body finds the few places where a hint may begin,
 * and only there is the hint's expression asked; texts that lie where no hint was found are not looked at.
 */
import type { Tables } from '../../../pdata/batch.ts';
import { BODY_START, KIND_WORDS, MAX_BODY, OpeningSearch } from '../../../pdata/openings.ts';
import type { Memory } from '../../../pdata/memory.ts';
import type { Steps } from '../../../pdata/steps.ts';
import { DISGUISES } from './canonical.ts';
import { fitting, type Opening, Openings } from './openings.ts';
import { EVERY_RULE, type Redactor } from './redactor.ts';
import type { Hint } from './rule.ts';

/** Bytes that share one entry. */
const BLOCK_BITS = 5;
const WORD_BITS = 32;

/** One of the texts by which a hint is noticed. */
interface Sign {
  /** The rules it speaks for, as bits. */
  readonly rules: number;
  readonly rest: Hint['rest'];
}

export class Suspects {
  readonly #openings: Openings;
  /** By opening. */
  readonly #signs: readonly Sign[];
  /** By opening: before this place it can not begin. */
  readonly #passed: Float64Array;
  /** Rules without a hint look at everything. */
  readonly #always: number;
  #blocks = new Uint32Array(0);
  #end = BODY_START;
  #any = 0;

  constructor(redactor: Redactor) {
    const hints: [rules: number, hint: Hint][] = [[EVERY_RULE, DISGUISES]];
    let always = 0;
    redactor.rules.forEach(({ hint }, index) => {
      if (hint === null) always |= redactor.bitOf(index);
      else hints.push([redactor.bitOf(index), hint]);
    });
    this.#openings = new Openings(hints.flatMap(([, { openings }]) => openings));
    this.#signs = hints.flatMap(([rules, { openings, rest }]) => {
      const sign: Sign = { rules, rest };
      return openings.map(() => sign);
    });
    this.#passed = new Float64Array(this.#signs.length);
    this.#always = always;
  }

  /** Looks over the body of a request. */
  *scan({ memory, kernels }: Pick<Tables, 'memory' | 'kernels'>, length: number): Steps {
    const size = (length >>> BLOCK_BITS) + 1;
    if (this.#blocks.length < size) this.#blocks = new Uint32Array(Math.min(size * 2, (MAX_BODY >>> BLOCK_BITS) + 1));
    else this.#blocks.fill(0, 0, size);
    this.#end = BODY_START + length;
    this.#any = this.#always;
    this.#passed.fill(0);
    const search = new OpeningSearch(memory, kernels);
    search.load(this.#openings.groups, this.#openings.bytes);
    for (let at = BODY_START; at < this.#end; ) {
      at = search.run(at, this.#end);
      for (let place = 0; place < search.count; place++) this.#look(search, place, memory);
      yield;
    }
  }

  /** Looks for the openings that may be found at a place of the list. */
  #look(search: OpeningSearch, place: number, memory: Memory): void {
    const at = search.addressOf(place);
    for (let word = 0; word < KIND_WORDS; word++) {
      let kinds = search.kindsOf(place, word);
      while (kinds !== 0) {
        const highest = WORD_BITS - 1 - Math.clz32(kinds);
        kinds &= ~(1 << highest);
        for (const opening of this.#openings.of(word * WORD_BITS + highest))
          this.#try(opening, at - opening.anchor, memory);
      }
    }
  }

  #try(opening: Opening, from: number, memory: Memory): void {
    if (from < (this.#passed[opening.number] as number)) return;
    const fit = fitting(opening, memory.u8, from);
    if (fit === opening.sets.length) this.#mark(opening, from, memory);
    else if (opening.isUniform) this.#passed[opening.number] = from + fit;
  }

  /** Marks the block in which an opening begins, if what else must be there is there. */
  #mark({ number, sets }: Opening, from: number, memory: Memory): void {
    if (from < BODY_START || from + sets.length > this.#end) return;
    const block = (from - BODY_START) >>> BLOCK_BITS;
    const known = this.#blocks[block] as number;
    const { rules, rest } = this.#signs[number] as Sign;
    // Once more in this block would say nothing new.
    if ((known & rules) === rules) return;
    if (rest?.(memory.bytes, from, this.#end) === false) return;
    this.#blocks[block] = known | rules;
    this.#any |= rules;
  }

  /** Whether there is anything to look for in this request at all. */
  get any(): boolean {
    return this.#any !== 0;
  }

  /** The rules that may find something in a text; all of them for texts that are not part of the body. */
  at(offset: number, length: number): number {
    if (length === 0) return 0;
    if (offset < BODY_START || offset >= this.#end) return EVERY_RULE;
    let bits = this.#always;
    const last = (offset + length - 1 - BODY_START) >>> BLOCK_BITS;
    for (let block = (offset - BODY_START) >>> BLOCK_BITS; block <= last; block++)
      bits |= this.#blocks[block] as number;
    return bits;
  }
}
