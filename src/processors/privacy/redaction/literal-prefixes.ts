/**
 * The literal prefixes of all hints, compiled to the tables of a Teddy prefilter (`findPrefixes` of the WASM module):
 * it searches a body 16 bytes at a time for three bytes of each prefix, its fingerprint.
 */
import { PREFIX_BYTES, PREFIX_BYTES_SIZE, PREFIX_MASK_BITS } from '../../../pdata/layout.ts';
import { type ByteSet, frequencyOf, bucketTables, type Three } from './prefix-buckets.ts';

/** A byte in the notation of a prefix: `\xe2`, `\d`, `[a-f]`, `-`. */
const ATOM = /\\x[0-9a-fA-F]{2}|\\.|\[(?:\\.|[^\]])*\]|./gs;
const BYTES = 256;
/** Bytes of a bucket mask. */
const MASK_BYTES = PREFIX_MASK_BITS / 8;

export interface LiteralPrefix {
  /** Its number among the prefixes of all hints. */
  readonly number: number;
  readonly sets: readonly ByteSet[];
  /** The position of the three bytes by which it is found. */
  readonly fingerprint: number;
  /**
   * Each byte set contains the one before it: after a byte that does not match, the prefix cannot begin before that
   * byte.
   */
  readonly isUniform: boolean;
}

export class LiteralPrefixes {
  /** The tables of the eight buckets, which reject nearly every position. */
  readonly buckets: Uint8Array;
  /** For each byte from the fingerprint on and each value: the mask of the prefixes that may have it there. */
  readonly bytes = new Uint8Array(PREFIX_BYTES_SIZE);
  /** By bit of the mask. Several prefixes share a bit when there are more of them than bits. */
  readonly #byBit: LiteralPrefix[][] = Array.from({ length: PREFIX_MASK_BITS }, () => []);

  readonly #atoms = new Map<string, ByteSet>();

  /** Texts as `Hint.prefixes` has them. */
  constructor(texts: readonly string[]) {
    this.buckets = bucketTables(texts.map((text, number) => this.#add(text, number)));
  }

  #add(text: string, number: number): Three {
    const sets = (text.match(ATOM) ?? []).map((atom) => this.#bytesOf(atom));
    const fingerprint = rarestPlace(sets);
    const bit = number % PREFIX_MASK_BITS;
    for (let place = 0; place < PREFIX_BYTES; place++) this.#addBit(bit, place, sets[fingerprint + place] ?? ANYTHING);
    this.#byBit[bit]?.push({ number, sets, fingerprint, isUniform: isUniform(sets) });
    return threeAt(sets, fingerprint);
  }

  #bytesOf(atom: string): ByteSet {
    const known = this.#atoms.get(atom);
    if (known !== undefined) return known;
    const bytes = bytesOf(atom);
    this.#atoms.set(atom, bytes);
    return bytes;
  }

  #addBit(bit: number, place: number, set: ByteSet): void {
    for (let byte = 0; byte < BYTES; byte++) {
      if (set[byte] === 0) continue;
      const at = (place * BYTES + byte) * MASK_BYTES + (bit >>> 3);
      this.bytes[at] = (this.bytes[at] as number) | (1 << (bit & 7));
    }
  }

  of(bit: number): readonly LiteralPrefix[] {
    return this.#byBit[bit] as LiteralPrefix[];
  }
}

/** How many bytes from `at` on match the prefix. */
export function fitting({ sets }: LiteralPrefix, bytes: Uint8Array, at: number): number {
  for (let place = 0; place < sets.length; place++)
    if ((sets[place] as ByteSet)[bytes[at + place] as number] === 0) return place;
  return sets.length;
}

function bytesOf(atom: string): ByteSet {
  const expression = new RegExp(`^(?:${atom})$`, 's');
  return Uint8Array.from({ length: BYTES }, (_, byte) => (expression.test(String.fromCharCode(byte)) ? 1 : 0));
}
const ANYTHING = new Uint8Array(BYTES).fill(1);

const threeAt = (sets: readonly ByteSet[], place: number): Three => [
  sets[place] ?? ANYTHING,
  sets[place + 1] ?? ANYTHING,
  sets[place + 2] ?? ANYTHING,
];

function isUniform([first, second, ...rest]: readonly ByteSet[]): boolean {
  if (first === undefined || second === undefined) return false;
  return first.every((isIn, byte) => isIn <= (second[byte] as number)) && rest.every((set) => isSame(set, second));
}
const isSame = (one: ByteSet, other: ByteSet): boolean => one.every((isIn, byte) => isIn === other[byte]);

/** The position whose three bytes are the rarest in prose and JSON. */
function rarestPlace(sets: readonly ByteSet[]): number {
  const frequencies = sets.map((_, place) => frequencyOf(threeAt(sets, place)));
  return Math.max(frequencies.indexOf(Math.min(...frequencies)), 0);
}
