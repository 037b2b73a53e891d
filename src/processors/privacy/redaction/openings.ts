/**
 * How hints begin, as tables over bytes: a text is passed by many bytes at a time, and nearly all of an ordinary one is never
 * looked at closer, instead of running every rule's expression over it.
 */
import { OPENING_BYTES, OPENING_BYTES_SIZE, OPENING_KINDS } from '../../../pdata/layout.ts';
import { type ByteSet, frequencyOf, groupTables, type Three } from './opening-groups.ts';

/** A byte as it is written in an opening: `\xe2`, `\d`, `[a-f]`, `-`. */
const ATOM = /\\x[0-9a-fA-F]{2}|\\.|\[(?:\\.|[^\]])*\]|./gs;
const BYTES = 256;
/** A set of kinds. */
const KIND_BYTES = OPENING_KINDS / 8;

export interface Opening {
  /** Counted over all hints. */
  readonly number: number;
  readonly sets: readonly ByteSet[];
  /** The place of the three bytes by which it is found. */
  readonly anchor: number;
  /** Every byte of it may be any byte behind it too, so none that begins before a byte that does not fit can go past it. */
  readonly isUniform: boolean;
}

/** Many openings, and the tables by which `findOpenings` of the wire module finds where one may be. */
export class Openings {
  /** By which it passes over nearly everything. */
  readonly groups: Uint8Array;
  /** By which it looks closer: for each byte of an opening from its anchor on, and each value, the kinds that may have it there. */
  readonly bytes = new Uint8Array(OPENING_BYTES_SIZE);
  /** By kind. With more openings than kinds, several share one. */
  readonly #byKind: Opening[][] = Array.from({ length: OPENING_KINDS }, () => []);

  /** Texts as `Hint.openings` has them. */
  constructor(texts: readonly string[]) {
    this.groups = groupTables(texts.map((text, number) => this.#add(text, number)));
  }

  #add(text: string, number: number): Three {
    const sets = (text.match(ATOM) ?? []).map(bytesOf);
    const anchor = rarestPlace(sets);
    const kind = number % OPENING_KINDS;
    for (let place = 0; place < OPENING_BYTES; place++) this.#addKind(kind, place, sets[anchor + place] ?? ANYTHING);
    this.#byKind[kind]?.push({ number, sets, anchor, isUniform: isUniform(sets) });
    return threeAt(sets, anchor);
  }

  #addKind(kind: number, place: number, set: ByteSet): void {
    for (let byte = 0; byte < BYTES; byte++) {
      if (set[byte] === 0) continue;
      const at = (place * BYTES + byte) * KIND_BYTES + (kind >>> 3);
      this.bytes[at] = (this.bytes[at] as number) | (1 << (kind & 7));
    }
  }

  of(kind: number): readonly Opening[] {
    return this.#byKind[kind] as Opening[];
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

/** Where the three bytes that have to be looked for are rarest. */
function rarestPlace(sets: readonly ByteSet[]): number {
  const frequencies = sets.map((_, place) => frequencyOf(threeAt(sets, place)));
  return Math.max(frequencies.indexOf(Math.min(...frequencies)), 0);
}
