/**
 * The search for literal prefixes in the body of a request: the tables that `findPrefixes` reads, and the places that
 * it found.
 */
import type { Kernels } from './tables.ts';
import * as layout from './layout.ts';
import type { Memory } from './memory.ts';

/** The address of the first byte of a body, and the length of the longest body. */
export const BODY_START = layout.INPUT_BASE;
export const MAX_BODY = layout.INPUT_CAPACITY;
/** Words of a mask of PREFIX_MASK_BITS bits. */
export const MASK_WORDS = layout.PREFIX_MASK_BITS / 32;

const COUNT = (layout.HEADER_BASE + layout.HEADER_PREFIX_CANDIDATES) >>> 2;
const PLACES = (layout.PREFIX_CANDIDATES_BASE + layout.PREFIX_CANDIDATE_ADDRESS) >>> 2;
const KINDS = (layout.PREFIX_CANDIDATES_BASE + layout.PREFIX_CANDIDATE_MASK) >>> 2;
const PLACE_WORDS = layout.PREFIX_CANDIDATE_STRIDE >>> 2;

export class PrefixSearch {
  readonly #memory: Memory;
  readonly #kernels: Pick<Kernels, 'findPrefixes'>;

  constructor(memory: Memory, kernels: Pick<Kernels, 'findPrefixes'>) {
    this.#memory = memory;
    this.#kernels = kernels;
  }

  /** Once per body: the tables are in the region where rows are encoded later. */
  load(buckets: Uint8Array, bytes: Uint8Array): void {
    this.#memory.u8.set(buckets, layout.PREFIX_BUCKETS_BASE);
    this.#memory.u8.set(bytes, layout.PREFIX_BYTES_BASE);
  }

  /** Searches from an address on, up to `end`. Returns the address at which to continue. */
  run(from: number, end: number): number {
    return this.#kernels.findPrefixes(from, end);
  }

  /** The places that the last run found. */
  get count(): number {
    return this.#memory.u32[COUNT] as number;
  }
  addressOf(place: number): number {
    return this.#memory.u32[PLACES + place * PLACE_WORDS] as number;
  }
  /** One word of the mask of prefixes that may begin near a place. */
  maskOf(place: number, word: number): number {
    return this.#memory.u32[KINDS + place * PLACE_WORDS + word] as number;
  }
}
