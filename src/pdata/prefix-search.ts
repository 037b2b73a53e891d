/**
 * The search for literal prefixes in the body of a request: the tables that `findOpenings` reads, and the places that
 * it found.
 */
import type { Kernels } from './batch.ts';
import {
  HEADER_BASE,
  HEADER_OPENING_PLACES,
  INPUT_BASE,
  INPUT_CAPACITY,
  OPENING_BYTES_BASE,
  OPENING_GROUPS_BASE,
  OPENING_KINDS,
  OPENING_PLACE,
  OPENING_PLACE_KINDS,
  OPENING_PLACE_STRIDE,
  OPENING_PLACES_BASE,
} from './layout.ts';
import type { Memory } from './memory.ts';

/** The address of the first byte of a body, and the length of the longest body. */
export const BODY_START = INPUT_BASE;
export const MAX_BODY = INPUT_CAPACITY;
/** Words of a mask of OPENING_KINDS bits. */
export const MASK_WORDS = OPENING_KINDS / 32;

const COUNT = (HEADER_BASE + HEADER_OPENING_PLACES) >>> 2;
const PLACES = (OPENING_PLACES_BASE + OPENING_PLACE) >>> 2;
const KINDS = (OPENING_PLACES_BASE + OPENING_PLACE_KINDS) >>> 2;
const PLACE_WORDS = OPENING_PLACE_STRIDE >>> 2;

export class PrefixSearch {
  readonly #memory: Memory;
  readonly #kernels: Pick<Kernels, 'findOpenings'>;

  constructor(memory: Memory, kernels: Pick<Kernels, 'findOpenings'>) {
    this.#memory = memory;
    this.#kernels = kernels;
  }

  /** Once per body: the tables are in the region where rows are encoded later. */
  load(buckets: Uint8Array, bytes: Uint8Array): void {
    this.#memory.u8.set(buckets, OPENING_GROUPS_BASE);
    this.#memory.u8.set(bytes, OPENING_BYTES_BASE);
  }

  /** Searches from an address on, up to `end`. Returns the address at which to continue. */
  run(from: number, end: number): number {
    return this.#kernels.findOpenings(from, end);
  }

  /** The places that the last run found. */
  get count(): number {
    return this.#memory.u32[COUNT] as number;
  }
  /** The address of a place. */
  addressOf(place: number): number {
    return this.#memory.u32[PLACES + place * PLACE_WORDS] as number;
  }
  /** One word of the mask of prefixes that may begin near a place. */
  maskOf(place: number, word: number): number {
    return this.#memory.u32[KINDS + place * PLACE_WORDS + word] as number;
  }
}
