/**
 * How hints begin, as tables over pairs of bytes: a text is passed by two bytes at a time, and nearly all of an ordinary one
 * is never looked at closer, instead of running every rule's expression over it.
 */

/** A byte as it is written in an opening: `\xe2`, `\d`, `[a-f]`, `-`. */
const ATOM = /\\x[0-9a-fA-F]{2}|\\.|\[(?:\\.|[^\]])*\]|./gs;
const BYTES = 256;
const PAIRS = BYTES * BYTES;

// Where to look closer when a pair lies at an even place: at the byte before it, at it, at its second byte.
export const LOOK_BEFORE = 1;
export const LOOK_HERE = 2;
export const LOOK_BEHIND = 4;

/** What prose and JSON are full of, the commonest first: openings are looked for by those of their bytes that are rare. */
const COMMON = ' etaoin"srhldcumf0123456789pg:,wybvkxjqz';

/** A set of bytes, as one entry a byte. */
type ByteSet = Uint8Array;

export interface Opening {
  /** Counted over all hints. */
  readonly number: number;
  readonly sets: readonly ByteSet[];
  /** The place of the three bytes by which it is found. */
  readonly anchor: number;
  /** Every byte of it may be any byte behind it too, so none that begins before a byte that does not fit can go past it. */
  readonly isUniform: boolean;
}

/** The openings of up to 32 hints. */
export class Openings {
  /** By a pair as it is read from an even place: bits of where three bytes by which an opening is found may be. */
  readonly candidates = new Uint8Array(PAIRS);
  /** By the first two of those bytes, and by the last two: the hints that have an opening with them. */
  readonly #first = new Int32Array(PAIRS);
  readonly #last = new Int32Array(PAIRS);
  readonly #byHint: Opening[][] = [];
  #count = 0;

  /** `hint` is the number of the hint; `text` as `Hint.openings` has them. */
  add(hint: number, text: string): void {
    const sets = (text.match(ATOM) ?? []).map(bytesOf);
    const anchor = rarestPlace(sets);
    const [one, two, three] = threeAt(sets, anchor);
    eachPair(one, two, (pair) => {
      this.#first[pair] = (this.#first[pair] as number) | (1 << hint);
      this.#addCandidate(pair, LOOK_HERE);
    });
    eachPair(two, three, (pair) => {
      this.#last[pair] = (this.#last[pair] as number) | (1 << hint);
    });
    // At an odd place they are seen by the pair before or by the one behind, whichever is the rarer.
    if (weightOf(ANYTHING) * weightOf(one) < weightOf(two) * weightOf(three))
      eachPair(ANYTHING, one, (pair) => this.#addCandidate(pair, LOOK_BEHIND));
    else eachPair(two, three, (pair) => this.#addCandidate(pair, LOOK_BEFORE));
    (this.#byHint[hint] ??= []).push({ number: this.#count++, sets, anchor, isUniform: isUniform(sets) });
  }

  /** The hints of which an opening may be found by the three bytes at `at`. */
  hintsAt(bytes: Uint8Array, at: number): number {
    const middle = bytes[at + 1] as number;
    const hints = this.#first[((bytes[at] as number) << 8) | middle] as number;
    return hints === 0 ? 0 : hints & (this.#last[(middle << 8) | (bytes[at + 2] as number)] as number);
  }

  /** How many there are. */
  get count(): number {
    return this.#count;
  }

  of(hint: number): readonly Opening[] {
    return this.#byHint[hint] ?? [];
  }

  /** A pair as it is read from memory has its first byte below the second. */
  #addCandidate(pair: number, place: number): void {
    const read = ((pair & 0xff) << 8) | (pair >>> 8);
    this.candidates[read] = (this.candidates[read] as number) | place;
  }
}

/** How many bytes from `at` on are as the opening has them; all of them: it stands there. */
export function fitting({ sets }: Opening, bytes: Uint8Array, at: number): number {
  for (let place = 0; place < sets.length; place++)
    if ((sets[place] as ByteSet)[bytes[at + place] as number] === 0) return place;
  return sets.length;
}

function bytesOf(atom: string): ByteSet {
  const expression = new RegExp(`^(?:${atom})$`, 's');
  return Uint8Array.from({ length: BYTES }, (_, byte) => (expression.test(String.fromCharCode(byte)) ? 1 : 0));
}
const ANYTHING = new Uint8Array(BYTES).fill(1);

const threeAt = (sets: readonly ByteSet[], place: number): readonly [ByteSet, ByteSet, ByteSet] => [
  sets[place] ?? ANYTHING,
  sets[place + 1] ?? ANYTHING,
  sets[place + 2] ?? ANYTHING,
];

function isUniform([first, second, ...rest]: readonly ByteSet[]): boolean {
  if (first === undefined || second === undefined) return false;
  return first.every((isIn, byte) => isIn <= (second[byte] as number)) && rest.every((set) => isSame(set, second));
}
const isSame = (one: ByteSet, other: ByteSet): boolean => one.every((isIn, byte) => isIn === other[byte]);

/** Where the pairs that have to be looked for are rarest. */
function rarestPlace(sets: readonly ByteSet[]): number {
  let rarest = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let place = 0; place < sets.length; place++) {
    const [one, two, three] = threeAt(sets, place).map(weightOf) as [number, number, number];
    const weight = one * two + Math.min(weightOf(ANYTHING) * one, two * three);
    if (weight < least) [rarest, least] = [place, weight];
  }
  return rarest;
}

/** How often a byte of the set is to be expected. */
function weightOf(set: ByteSet): number {
  return set.reduce((sum, isIn, byte) => {
    const rank = COMMON.indexOf(String.fromCharCode(byte));
    return isIn === 0 ? sum : sum + (rank < 0 ? 1 : 2 * (COMMON.length - rank));
  }, 0);
}

function eachPair(left: ByteSet, right: ByteSet, visit: (pair: number) => void): void {
  for (let high = 0; high < BYTES; high++) {
    if (left[high] === 0) continue;
    for (let low = 0; low < BYTES; low++) if (right[low] !== 0) visit((high << 8) | low);
  }
}
