/**
 * A bounded memory of keys of 16 bytes, given as 32 hex digits, each with a number; the oldest go first. In flat arrays: as texts in a
 * Map they would take three times the room, and the garbage collector would walk over all of them again and again.
 */
import { randomBytes } from 'node:crypto';

/** 32-bit words of a key. */
const KEY_WORDS = 4;

/** Entries there is room for at first; the room doubles. */
const FIRST_ROOM = 1024;
/** Places of the index for each entry there is room for: at most half of them are taken. */
const PLACES_AN_ENTRY = 2;
const HALVES = KEY_WORDS * 2;

export class RecentKeys {
  readonly #limit: number;
  readonly #forgotten: (value: number) => void;
  /** The key that was given last. */
  readonly #key = new Uint32Array(KEY_WORDS);
  readonly #keyBytes = Buffer.from(this.#key.buffer);
  /** Secret and odd, one for each 16 bits of a key: who chooses keys must not know which of them share a place. */
  readonly #factors = Uint32Array.from({ length: HALVES }, () => randomBytes(4).readUInt32LE() | 1);
  /** A power of two. Entries stand in the order they came, each at its number modulo the room. */
  #room = FIRST_ROOM;
  #words = new Uint32Array(FIRST_ROOM * KEY_WORDS);
  #values = new Float64Array(FIRST_ROOM);
  /** Where an entry stands, plus one; 0 is a free place. Found from the key's place on, one place after the other. */
  #index = new Int32Array(FIRST_ROOM * PLACES_AN_ENTRY);
  /** The numbers of the oldest entry and of the next to come. */
  #oldest = 0;
  #next = 0;

  /** `limit`: entries at most. `forgotten` is told the number of each that goes. */
  constructor(limit: number, forgotten: (value: number) => void = () => undefined) {
    this.#limit = limit;
    this.#forgotten = forgotten;
  }

  get size(): number {
    return this.#next - this.#oldest;
  }

  /** What was noted with a key; undefined when it is not known (any more). */
  find(key: string): number | undefined {
    this.#keyBytes.write(key, 'hex');
    const entry = this.#index[this.#placeOf(this.#key, 0)] as number;
    return entry === 0 ? undefined : this.#values[entry - 1];
  }

  /** Notes a key; the oldest goes where there is no room for another. Of a key that is known already, what is noted last counts. */
  add(key: string, value: number): void {
    if (this.size === this.#limit) this.#forgetOldest();
    else if (this.size === this.#room) this.#grow();
    const at = this.#next++ & (this.#room - 1);
    this.#keyBytes.write(key, 'hex');
    this.#words.set(this.#key, at * KEY_WORDS);
    this.#values[at] = value;
    this.#index[this.#placeOf(this.#key, 0)] = at + 1;
  }

  /** Forgets the oldest one after the other while what was noted with it asks for it. */
  forgetWhile(isOver: (value: number) => boolean): void {
    while (this.size > 0 && isOver(this.#values[this.#oldest & (this.#room - 1)] as number)) this.#forgetOldest();
  }

  /** The place where a key stands, or the free one where it would: `words` holds the key from `offset` on. */
  #placeOf(words: Uint32Array, offset: number): number {
    const last = this.#index.length - 1;
    let place = this.#homeOf(words, offset);
    for (;;) {
      const entry = this.#index[place] as number;
      if (entry === 0 || this.#isAt(entry - 1, words, offset)) return place;
      place = (place + 1) & last;
    }
  }

  #isAt(at: number, words: Uint32Array, offset: number): boolean {
    const first = at * KEY_WORDS;
    for (let word = 0; word < KEY_WORDS; word++) if (this.#words[first + word] !== words[offset + word]) return false;
    return true;
  }

  /** The upper bits of a sum of products: multiply-shift hashing, of which the lower bits are worth nothing. */
  #homeOf(words: Uint32Array, offset: number): number {
    let sum = 0;
    for (let word = 0; word < KEY_WORDS; word++) {
      const bits = words[offset + word] as number;
      sum += Math.imul(bits & 0xffff, this.#factors[word * 2] as number);
      sum += Math.imul(bits >>> 16, this.#factors[word * 2 + 1] as number);
    }
    return (sum >>> 0) >>> (Math.clz32(this.#index.length) + 1);
  }

  #forgetOldest(): void {
    const at = this.#oldest++ & (this.#room - 1);
    const place = this.#placeOf(this.#words, at * KEY_WORDS);
    // Otherwise the key was noted again since.
    if (this.#index[place] === at + 1) this.#free(place);
    this.#forgotten(this.#values[at] as number);
  }

  /** Entries behind a freed place that were pushed past it move up, so that a search never ends before them. */
  #free(freed: number): void {
    const last = this.#index.length - 1;
    for (let place = (freed + 1) & last; ; place = (place + 1) & last) {
      const entry = this.#index[place] as number;
      if (entry === 0) break;
      const home = this.#homeOf(this.#words, (entry - 1) * KEY_WORDS);
      if (((place - home) & last) < ((place - freed) & last)) continue;
      this.#index[freed] = entry;
      freed = place;
    }
    this.#index[freed] = 0;
  }

  #grow(): void {
    const [words, values, room] = [this.#words, this.#values, this.#room];
    this.#room = room * 2;
    this.#words = new Uint32Array(this.#room * KEY_WORDS);
    this.#values = new Float64Array(this.#room);
    this.#index = new Int32Array(this.#room * PLACES_AN_ENTRY);
    for (let number = this.#oldest; number < this.#next; number++) {
      const [from, to] = [number & (room - 1), number & (this.#room - 1)];
      this.#words.set(words.subarray(from * KEY_WORDS, (from + 1) * KEY_WORDS), to * KEY_WORDS);
      this.#values[to] = values[from] as number;
      this.#index[this.#placeOf(this.#words, to * KEY_WORDS)] = to + 1;
    }
  }
}
