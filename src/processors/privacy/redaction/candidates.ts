/**
 * The blocks of a request's body in which a rule may find anything. One pass over the body (a Teddy prefilter in WASM)
 * finds the places where a literal prefix may begin; the rules of a prefix then run only on texts that overlap a block
 * with that prefix.
 */
import type { Tables } from '../../../pdata/tables.ts';
import { BODY_START, MASK_WORDS, MAX_BODY, PrefixSearch } from '../../../pdata/prefix-search.ts';
import type { Memory } from '../../../pdata/memory.ts';
import type { Steps } from '../../../pdata/steps.ts';
import type { Hints, Sign } from './hints.ts';
import { fitting, type LiteralPrefix } from './literal-prefixes.ts';
import { EVERY_RULE } from './redactor.ts';

/** A block of 32 bytes has one entry. */
const BLOCK_BITS = 5;
const WORD_BITS = 32;

/** Bytes between two steps: a multiple of the 16 that the search takes at once, so that no place is left out. */
const SEARCHED_BYTES = 1_048_576;

export class Candidates {
  readonly #hints: Hints;
  /** By prefix: it cannot begin before this address. */
  readonly #passed: Float64Array;
  #blocks = new Uint32Array(0);
  #end = BODY_START;
  #any = 0;

  constructor(hints: Hints) {
    this.#hints = hints;
    this.#passed = new Float64Array(hints.signs.length);
  }

  /** Searches the body of a request. */
  *scan({ memory, kernels }: Pick<Tables, 'memory' | 'kernels'>, length: number): Steps {
    const size = (length >>> BLOCK_BITS) + 1;
    if (this.#blocks.length < size) this.#blocks = new Uint32Array(Math.min(size * 2, (MAX_BODY >>> BLOCK_BITS) + 1));
    else this.#blocks.fill(0, 0, size);
    this.#end = BODY_START + length;
    this.#any = this.#hints.always;
    this.#passed.fill(0);
    const search = new PrefixSearch(memory, kernels);
    search.load(this.#hints.prefixes.buckets, this.#hints.prefixes.bytes);
    for (let at = BODY_START; at < this.#end; ) {
      at = search.run(at, Math.min(at + SEARCHED_BYTES, this.#end));
      for (let place = 0; place < search.count; place++) this.#tryPlace(search, place, memory);
      yield;
    }
  }

  /** Tries the prefixes of a place that the search found. */
  #tryPlace(search: PrefixSearch, place: number, memory: Memory): void {
    const at = search.addressOf(place);
    for (let word = 0; word < MASK_WORDS; word++) {
      let mask = search.maskOf(place, word);
      while (mask !== 0) {
        const highest = WORD_BITS - 1 - Math.clz32(mask);
        mask &= ~(1 << highest);
        for (const prefix of this.#hints.prefixes.of(word * WORD_BITS + highest))
          this.#try(prefix, at - prefix.fingerprint, memory);
      }
    }
  }

  #try(prefix: LiteralPrefix, from: number, memory: Memory): void {
    if (from < (this.#passed[prefix.number] as number)) return;
    const fit = fitting(prefix, memory.u8, from);
    if (fit === prefix.sets.length) this.#mark(prefix, from, memory);
    else if (prefix.isUniform) this.#passed[prefix.number] = from + fit;
  }

  /** Marks the block in which a prefix begins, if the rest of its hint holds. */
  #mark({ number, sets }: LiteralPrefix, from: number, memory: Memory): void {
    if (from < BODY_START || from + sets.length > this.#end) return;
    const block = (from - BODY_START) >>> BLOCK_BITS;
    const known = this.#blocks[block] as number;
    const { rules, rest } = this.#hints.signs[number] as Sign;
    if ((known & rules) === rules) return;
    if (rest?.(memory.bytes, from, this.#end) === false) return;
    this.#blocks[block] = known | rules;
    this.#any |= rules;
  }

  /** Whether any rule may find anything in this request. */
  get any(): boolean {
    return this.#any !== 0;
  }

  /** Bits of the rules that may find anything in a text; all bits for a text that is not part of the body. */
  at(offset: number, length: number): number {
    if (length === 0) return 0;
    if (offset < BODY_START || offset >= this.#end) return EVERY_RULE;
    let bits = this.#hints.always;
    const last = (offset + length - 1 - BODY_START) >>> BLOCK_BITS;
    for (let block = (offset - BODY_START) >>> BLOCK_BITS; block <= last; block++)
      bits |= this.#blocks[block] as number;
    return bits;
  }
}
