/**
 * A bounded map from keys of four 32-bit words to numbers; the oldest entries are removed first. It uses typed arrays:
 * strings in a Map take three times the memory, and the garbage collector marks all of them at each collection.
 */
import { getRandomValues } from 'node:crypto';
import { arrayMemory, releaseArray } from './page-memory.ts';

export const KEY_WORDS = 4;

/** The first capacity in entries; it doubles. */
const FIRST_ROOM = 64;
const LEAST_ROOM = 4;
/** A map with a limit up to this has room for all its entries from the start. */
const SMALL_LIMIT = 1024;
/**
 * From this capacity it grows to that of the limit at once: entering half a million keys into a new index takes longer
 * than a step may. Pages without entries take no memory.
 */
const LARGE_ROOM = 8192;
/** Slots of the index for each entry of the capacity, so that at most half of them are used. */
const PLACES_AN_ENTRY = 2;
const HALVES = KEY_WORDS * 2;

export class RecentKeys {
  /**
   * Random odd factors, one for each 16 bits of a key, so that a sender cannot choose keys that collide. All maps of a
   * process have the same: a draw takes longer than all searches in a small map.
   */
  static readonly #factors = getRandomValues(new Uint32Array(HALVES)).map((factor) => factor | 1);
  readonly #limit: number;
  readonly #forgotten: (value: number) => void;
  /** The capacity, a power of two. Entry `n` is at `n` modulo the capacity. */
  #room: number;
  #words: Uint32Array<ArrayBuffer>;
  #values: Float64Array<ArrayBuffer>;
  /** Open addressing with linear probing: the position of an entry plus one; 0 is a free slot. */
  #index: Int32Array<ArrayBuffer>;
  /** The numbers of the oldest entry and of the next one. */
  #oldest = 0;
  #next = 0;

  /**
   * `limit`: the highest number of entries, at most 2 to the power of 24. `forgotten` is called with the value of each
   * removed entry.
   */
  constructor(limit: number, forgotten: (value: number) => void = () => undefined) {
    this.#limit = limit;
    this.#forgotten = forgotten;
    this.#room = limit > SMALL_LIMIT ? FIRST_ROOM : powerOfTwoFrom(Math.max(limit, LEAST_ROOM));
    this.#words = new Uint32Array(this.#room * KEY_WORDS);
    this.#values = new Float64Array(this.#room);
    this.#index = new Int32Array(this.#room * PLACES_AN_ENTRY);
  }

  get size(): number {
    return this.#next - this.#oldest;
  }

  /** The value of the key at a place of `words`; undefined when the key is unknown or was removed. */
  find(words: Uint32Array, at: number): number | undefined {
    const entry = this.#index[this.#placeOf(words, at)] as number;
    return entry === 0 ? undefined : this.#values[entry - 1];
  }

  /** Adds a key; at the limit the oldest entry is removed. The last value of a key counts. */
  add(words: Uint32Array, at: number, value: number): void {
    if (this.size === this.#limit) this.#forgetOldest();
    else if (this.size === this.#room) this.#grow();
    const entry = this.#next++ & (this.#room - 1);
    for (let word = 0; word < KEY_WORDS; word++) this.#words[entry * KEY_WORDS + word] = words[at + word] as number;
    this.#values[entry] = value;
    this.#index[this.#placeOf(words, at)] = entry + 1;
  }

  /** Removes the oldest entries while `isOver` is true for their values. */
  forgetWhile(isOver: (value: number) => boolean): void {
    while (this.size > 0 && isOver(this.#values[this.#oldest & (this.#room - 1)] as number)) this.#forgetOldest();
  }

  /** Ends the use of the map and returns its memory. */
  release(): void {
    for (const array of [this.#words, this.#values, this.#index]) releaseArray(array);
  }

  /** The slot of a key, or the free slot for it. `words` holds the key at `offset`. */
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

  /** Multiply-shift hashing: the upper bits of a sum of products. */
  #homeOf(words: Uint32Array, offset: number): number {
    let sum = 0;
    for (let word = 0; word < KEY_WORDS; word++) {
      const bits = words[offset + word] as number;
      sum += Math.imul(bits & 0xffff, RecentKeys.#factors[word * 2] as number);
      sum += Math.imul(bits >>> 16, RecentKeys.#factors[word * 2 + 1] as number);
    }
    return (sum >>> 0) >>> (Math.clz32(this.#index.length) + 1);
  }

  #forgetOldest(): void {
    const at = this.#oldest++ & (this.#room - 1);
    const place = this.#placeOf(this.#words, at * KEY_WORDS);
    // Otherwise a newer entry has the same key.
    if (this.#index[place] === at + 1) this.#free(place);
    this.#forgotten(this.#values[at] as number);
  }

  /** Backward-shift deletion: entries after the freed slot move up, so that a search does not stop before them. */
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
    const [words, values, index, room] = [this.#words, this.#values, this.#index, this.#room];
    this.#room = room < LARGE_ROOM ? room * 2 : powerOfTwoFrom(this.#limit);
    this.#words = new Uint32Array(arrayMemory(this.#room * KEY_WORDS * Uint32Array.BYTES_PER_ELEMENT));
    this.#values = new Float64Array(arrayMemory(this.#room * Float64Array.BYTES_PER_ELEMENT));
    this.#index = new Int32Array(arrayMemory(this.#room * PLACES_AN_ENTRY * Int32Array.BYTES_PER_ELEMENT));
    for (let number = this.#oldest; number < this.#next; number++) {
      const [from, to] = [number & (room - 1), number & (this.#room - 1)];
      for (let word = 0; word < KEY_WORDS; word++)
        this.#words[to * KEY_WORDS + word] = words[from * KEY_WORDS + word] as number;
      this.#values[to] = values[from] as number;
      this.#index[this.#placeOf(this.#words, to * KEY_WORDS)] = to + 1;
    }
    for (const array of [words, values, index]) releaseArray(array);
  }
}

/** The least power of two that is not below a number. */
function powerOfTwoFrom(number: number): number {
  return 1 << (32 - Math.clz32(number - 1));
}
